import os
from pathlib import PurePosixPath

import numpy as np
import pytest
import torch

from reference_files import payload, write_payload
from respawn.checkpoints.reference_payload import read_payload
from respawn.errors import CheckpointError


class Trap:
    """Unpickling it runs code."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (str(self.file),)


def test_counters_and_settings_are_read(tmp_path):
    said = read_payload(write_payload(tmp_path / "a.pt", payload(3000, num_envs=6, rollout={"num_steps": 128})))
    assert (said.update, said.step, said.num_envs, said.rollout_steps) == (3000, 0, 6, 128)
    assert (said.num_tensors, said.numbers) == (2, 20)
    assert said.holds == ("model", "optimizer", "scheduler", "scaler", "global_step", "global_update", "config")


def test_files_of_the_older_format_are_read_too(tmp_path):
    torch.save(payload(7), tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    assert read_payload(tmp_path / "a.pt").update == 7


def test_no_code_in_it_is_ever_run(tmp_path):
    file = tmp_path / "proof"
    torch.save(payload(7) | {"config": Trap(file)}, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match=r"a\.pt holds a posix\.mkdir, which only its own code could read"):
        read_payload(tmp_path / "a.pt")
    assert not file.exists()


@pytest.mark.parametrize(
    ("config", "named"), [(PurePosixPath("x"), "pathlib.PurePosixPath"), (np.int64(3), r"numpy\._?core\.multiarray")]
)
def test_what_is_more_than_plain_data_is_named(tmp_path, config, named):
    write_payload(tmp_path / "a.pt", payload() | {"config": config})
    with pytest.raises(CheckpointError, match=f"a.pt holds a {named}"):
        read_payload(tmp_path / "a.pt")


def test_damage_of_any_kind_is_a_sentence(tmp_path):
    whole = write_payload(tmp_path / "a.pt", payload()).read_bytes()
    pickled = whole.find(b"global_update")
    for damaged in (b"", b"hello", whole[: len(whole) // 2], whole[:pickled] + b"\xff" * 40 + whole[pickled + 40 :]):
        (tmp_path / "a.pt").write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"a\.pt cannot be read \(\w+"):
            read_payload(tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match=r"b\.pt is missing"):
        read_payload(tmp_path / "b.pt")


@pytest.mark.parametrize(
    ("data", "match"), [([1], "should hold a dict, and holds a list"), ({"global_update": "x"}, "global_update")]
)
def test_what_is_no_such_checkpoint_is_refused(tmp_path, data, match):
    write_payload(tmp_path / "a.pt", data)
    with pytest.raises(CheckpointError, match=match):
        read_payload(tmp_path / "a.pt")
