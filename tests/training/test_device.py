import os

import pytest
import torch

from respawn.errors import ConfigError
from respawn.training.device import prepare_torch, resolve_device, resolve_threads


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)


@pytest.fixture
def one_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


def test_auto_takes_what_there_is(no_gpu):
    assert resolve_device("auto", wants_gpu=False) == torch.device("cpu")


def test_auto_takes_a_gpu_where_there_is_one(one_gpu):
    assert resolve_device("auto", wants_gpu=False).type == "cuda"
    assert resolve_device("cuda:0", wants_gpu=True) == torch.device("cuda:0")
    assert resolve_device("cpu", wants_gpu=True) == torch.device("cpu")
    with pytest.raises(ConfigError, match=r"cuda:1: there is no such GPU here \(1 found\)"):
        resolve_device("cuda:1", wants_gpu=False)


def test_a_run_meant_for_a_gpu_does_not_begin_on_a_cpu_unless_asked(no_gpu):
    with pytest.raises(ConfigError, match="add --device cpu to start it all the same"):
        resolve_device("auto", wants_gpu=True)
    assert resolve_device("cpu", wants_gpu=True) == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_a_gpu_that_is_not_there_is_refused(name, no_gpu):
    with pytest.raises(ConfigError, match="there is no such GPU here"):
        resolve_device(name, wants_gpu=False)


@pytest.mark.parametrize("name", ["gpu", "", "meta", "cpu:x"])
def test_what_is_no_device_is_refused(name):
    with pytest.raises(ConfigError, match=r"--device must be auto, cpu, cuda or cuda:N, not"):
        resolve_device(name, wants_gpu=False)


def test_threads(monkeypatch, tmp_path):
    monkeypatch.setattr("respawn.processes.limits._MEMBERSHIP", tmp_path / "no container")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert resolve_threads(3) == 3 and resolve_threads(0) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert resolve_threads(3) == 3 and resolve_threads(0) == 1
    with pytest.raises(ConfigError, match=r"--threads must be at most 4 here, four for each usable core, not 5"):
        resolve_threads(5)
    before = torch.get_num_threads()
    try:
        prepare_torch(torch.device("cpu"), 2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
