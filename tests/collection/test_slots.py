import os
import resource

import pytest
import torch
from crews import HORIZON_STEPS, fake_world, make_sync
from gathering import make_model, make_order

from respawn.collection.parcels import pack, unpack
from respawn.collection.slots import Mailbox, Slot, SlotFiles, lay_out
from respawn.errors import ConfigError
from respawn.testing.suites.collector import digest


def layout_here(horizon_steps=HORIZON_STEPS):
    model = make_model()
    return lay_out(fake_world(0).spec, horizon_steps, model.initial_memory(3), model.state_dict())


def test_a_rollout_is_the_same_on_the_other_side():
    files = SlotFiles(1, 0)
    layout = layout_here()
    (ours,) = files.open(layout)
    theirs = Slot(files.slots[0], layout)
    collector = make_sync(0)
    for version in range(4):  # some with cuts, some without
        collector.start(make_order(version))
        expected = collector.finish(theirs.buffer)
        found = ours.rollout(unpack(pack(theirs.put(expected))))
        assert digest(found) == digest(expected)
    files.close()


def test_weights_are_seen_on_the_other_side_and_aligned_as_torchs_own():
    files = SlotFiles(1, 0)
    layout = layout_here()
    (ours,) = files.open(layout)
    tensors = make_model(3).state_dict()
    ours.put_weights(tensors)
    for name, tensor in Slot(files.slots[0], layout).weights.items():
        assert torch.equal(tensor, tensors[name])
        assert tensor.data_ptr() % 64 == 0
    files.close()


def test_messages_of_any_size_lie_one_behind_the_other():
    files = SlotFiles(0, 1)
    mailbox = Mailbox(files.mailboxes[0], 5)
    small, large = b"knobs", os.urandom(300_000)
    mailbox.put(small)
    mailbox.put(large, b"", b"end", after=len(small))
    assert mailbox.get(5) == [small]
    assert mailbox.get(300_000, 0, 3, after=5) == [large, b"", b"end"]
    with pytest.raises(EOFError, match="of 9 bytes"):
        mailbox.get(9, after=300_008)
    files.close()
    assert files.slots == files.mailboxes == []


def test_more_memory_than_there_can_be_is_refused():
    files = SlotFiles(1, 0)
    with pytest.raises(ConfigError, match="use fewer lanes"):
        files.open(layout_here(2**58))
    files.close()


@pytest.mark.parametrize(
    "tensor",
    [torch.arange(6).reshape(2, 3).T, torch.zeros(0, 4), torch.tensor(True), torch.ones(3, dtype=torch.bfloat16)],
)
def test_parcels_hold_tensors_in_trees(tensor):
    found = unpack(pack({"a": [tensor, 1, None], "b": {"c": "d"}}))
    assert torch.equal(found["a"][0], tensor) and found["a"][0].dtype == tensor.dtype
    assert found["a"][1:] == [1, None] and found["b"] == {"c": "d"}


def test_too_many_open_files_are_refused_and_given_back():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 20, hard))
    try:
        with pytest.raises(ConfigError, match=r"more open files than can be had.*most-lag"):
            SlotFiles(300, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(os.listdir("/proc/self/fd")) == before
