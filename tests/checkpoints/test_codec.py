import json
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from respawn.checkpoints.codec import decode, encode, tensors_sha256
from respawn.errors import CheckpointError
from respawn.testing.suites.saveable import freeze

TENSOR_KINDS = [
    torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool,
]  # fmt: skip
ARRAY_KINDS = ["float64", "float32", "float16", "int64", "int16", "int8", "uint8", "uint32", "uint64", "bool"]
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def tensors(draw):
    numbers = torch.tensor(draw(st.lists(st.floats(width=32), min_size=27, max_size=27)))
    shape = draw(SHAPES)
    tensor = numbers[: math.prod(shape)].reshape(shape)
    kind = draw(st.sampled_from(TENSOR_KINDS))
    tensor = tensor if kind.is_floating_point else tensor.nan_to_num().clamp(0, 200)
    return tensor.to(kind).transpose(0, -1) if shape else tensor.to(kind)


@st.composite
def arrays(draw):
    shape = draw(SHAPES)
    numbers = np.asarray(draw(st.lists(st.integers(0, 100), min_size=27, max_size=27)))
    array = numbers[: math.prod(shape)].reshape(shape).astype(draw(st.sampled_from(ARRAY_KINDS)))
    array.flags.writeable = draw(st.booleans())
    return array.T


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**200), 2**200),
    st.floats(),
    st.text(max_size=5),
    tensors(),
    arrays(),
)
KEYS = st.text("ab/.' $_#0", max_size=3).filter(lambda key: not key.startswith("$")) | st.just("__metadata__")
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)


def frozen(tree):
    """Comparable to the last bit, NaNs included."""
    if isinstance(tree, dict):
        return {key: frozen(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [frozen(value) for value in tree]
    if isinstance(tree, float):
        return "float", repr(tree)
    kind = "array" if isinstance(tree, np.ndarray) else "tensor" if isinstance(tree, torch.Tensor) else ""
    return kind, freeze(tree)


@settings(max_examples=150, deadline=None)
@given(TREES)
@example({"b": {"": torch.zeros(1)}, "": {"b/": torch.ones(1)}})  # two that are called alike
@example({"__metadata__": torch.zeros(1), "": {"__metadata__": torch.ones(1)}})
def test_what_is_encoded_is_decoded_to_the_last_bit(tree):
    files = encode(tree)
    assert set(files) <= {".json", ".safetensors"}
    assert frozen(decode(files)) == frozen(tree)
    assert encode(decode(files)) == files


def test_restored_tensors_are_aligned_and_belong_to_whoever_asked():
    tree = {str(size): torch.arange(size, dtype=torch.float32) for size in range(1, 20)}
    files = encode(tree)
    first, second = decode(files), decode(files)
    for name, tensor in first.items():
        assert tensor.data_ptr() % 64 == tree[name].data_ptr() % 64 == 0
        tensor.zero_()
    assert frozen(second) == frozen(tree)


def test_tensors_that_share_memory_are_kept_apart():
    whole = torch.arange(6.0).reshape(2, 3)
    tree = {
        "whole": whole,
        "row": whole[0],
        "column": whole[:, 1],
        "again": whole,
        "parameter": torch.nn.Parameter(whole),
    }
    decoded = decode(encode(tree))
    decoded["whole"].zero_()
    assert decoded["row"].tolist() == [0, 1, 2] and decoded["column"].tolist() == [1, 4]
    assert decoded["again"].tolist() == decoded["parameter"].tolist() == whole.tolist()


def test_numpy_scalars_and_tuples_become_plain():
    tree = {"a": (1, np.float32(0.5)), "b": np.int64(3), "c": np.bool_(True), "d": np.float64("inf")}
    assert decode(encode(tree)) == {"a": [1, 0.5], "b": 3, "c": True, "d": math.inf}


class Thing:
    pass


@pytest.mark.parametrize(
    ("leaf", "kind"),
    [
        (Thing(), "Thing"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (1j, "complex"),
        (print, "builtin"),
        (np.array([Thing()]), "object"),
        (np.array(["text"]), "<U4"),
        (np.array([1.0], dtype=">f8"), ">f8"),
    ],
)
def test_other_objects_are_refused_by_name_and_place(leaf, kind):
    with pytest.raises(TypeError, match=f"at 'here/1' there is .*{kind}"):
        encode({"here": [0, leaf]})


@pytest.mark.parametrize("key", [1, None, "$tensor", "$"])
def test_keys_are_plain_strings(key):
    with pytest.raises(TypeError, match="keys must be strings"):
        encode({"inner": {key: 1}})


@pytest.mark.parametrize(
    "files",
    [
        {".json": b"{"},
        {".json": b"\xff"},
        {".json": b"[]"},
        {".json": b"3"},
        {".json": b'{"a": {"$tensor": "a"}}'},
        {".json": b'{"a": {"$tensor": "b"}}', ".safetensors": encode({"a": torch.ones(3)})[".safetensors"]},
        {".json": b"{}", ".safetensors": b"nonsense"},
        {".json": b"{}", ".safetensors": encode({"a": torch.ones(3)})[".safetensors"][:-1]},
        {".safetensors": encode({"a": torch.ones(3)})[".safetensors"]},
    ],
)
def test_what_cannot_be_read_is_a_checkpoint_error(files):
    with pytest.raises(CheckpointError, match="a checkpoint part"):
        decode(files)


def test_the_structure_is_json_and_nothing_is_pickled():
    files = encode({"a": torch.ones(2), "b": [math.nan, 1], "c": np.zeros(1)})
    structure = json.loads(files[".json"])
    assert structure == {"a": {"$tensor": "a"}, "b": [{"$float": "nan"}, 1], "c": {"$array": "c"}}
    assert int.from_bytes(files[".safetensors"][:8], "little") < len(files[".safetensors"])  # safetensors' own header


def test_the_fingerprint_of_tensors_sees_names_kinds_shapes_and_bytes():
    ours = {"a": torch.tensor([0.0, 1.0]), "b": torch.zeros(0), "c": torch.ones((), dtype=torch.bfloat16)}
    assert tensors_sha256(ours) == tensors_sha256(dict(reversed(ours.items())))
    assert tensors_sha256(ours) == tensors_sha256(decode(encode(ours)))
    others = [
        {**ours, "a": torch.tensor([-0.0, 1.0])},
        {**ours, "a": torch.tensor([[0.0, 1.0]])},
        {**ours, "a": torch.tensor([0.0, 1.0]).view(torch.int32)},
        {**ours, "b": torch.zeros((0, 1))},
        {"z" if name == "b" else name: tensor for name, tensor in ours.items()},
    ]
    assert len({tensors_sha256(other) for other in [ours, *others]}) == 6
