"""Errors after which a process can use its GPU no more. What a GPU really does is at the end."""

import subprocess
import sys

import pytest
import torch
from small_studies import tiny

from respawn.errors import ConfigError, MemoryLimitError, StudyError, WorldError
from respawn.sweeps import broken_cuda
from respawn.sweeps.broken_cuda import check_cuda, cuda_failure

ASSERTED = RuntimeError(
    "CUDA error: device-side assert triggered\n"
    "CUDA kernel errors might be asynchronously reported at some other API call"
)
FULL = RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported")


def after(first, then):
    """An error that was raised while another was handled."""
    then.__context__ = first
    return then


@pytest.mark.parametrize(
    "error",
    [
        ASSERTED,
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"),
    ],
)
def test_errors_of_cuda_are_known_by_what_they_say(error):
    assert cuda_failure(error) is error
    assert cuda_failure(after(error, WorldError("environment 'X-v0' failed"))) is error


def test_so_are_those_of_newer_versions_of_torch_by_their_kind(monkeypatch):
    class AcceleratorError(RuntimeError):
        pass

    monkeypatch.setattr(broken_cuda, "_OWN_KIND", (AcceleratorError,))
    error = AcceleratorError("the accelerator is gone")
    assert cuda_failure(error) is error
    monkeypatch.setattr(broken_cuda, "_OWN_KIND", ())  # as before torch 2.8
    assert cuda_failure(error) is None and cuda_failure(ASSERTED) is ASSERTED


@pytest.mark.parametrize(
    "error",
    [
        ValueError("the pole broke"),
        ValueError("CUDA error"),
        FULL,
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        after(FULL, MemoryLimitError("the GPU's memory did not suffice")),
        after(FULL, RuntimeError("CUDA error: operation failed due to a previous error during capture")),
    ],
)
def test_other_errors_and_a_full_memory_are_none(error):
    assert cuda_failure(error) is None


def let_the_gpu_fail(monkeypatch, error):
    def zeros(*sizes, device):
        raise error

    monkeypatch.setattr(broken_cuda, "resolve_device", lambda name, wants_gpu: torch.device("cuda"))
    monkeypatch.setattr(torch, "zeros", zeros)


@pytest.mark.parametrize("error", [FULL, torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB")])
def test_a_gpu_that_is_full_just_now_is_a_sound_one(monkeypatch, error):
    let_the_gpu_fail(monkeypatch, error)
    check_cuda(tiny())


def test_a_gpu_that_is_gone_is_no_setting_to_be_mended(monkeypatch):
    def resolve(name, wants_gpu):
        raise ConfigError("--device cuda: there is no such GPU here (0 found); use cpu")

    monkeypatch.setattr(broken_cuda, "resolve_device", resolve)
    with pytest.raises(StudyError, match="there is no such GPU here") as caught:
        check_cuda(tiny())
    assert caught.value.exit_code == 1


def test_a_gpu_that_fails_in_a_new_process_is_said_to(monkeypatch):
    check_cuda(tiny())  # there is nothing to fail on a CPU
    let_the_gpu_fail(monkeypatch, ASSERTED)
    with pytest.raises(StudyError) as caught:
        check_cuda(tiny())
    assert str(caught.value).startswith(
        "the GPU fails even in a process that has just begun (CUDA error: device-side assert triggered); see with "
    )


REALLY = """
import torch
from respawn.presets import find_preset
from respawn.errors import StudyError
from respawn.sweeps.broken_cuda import check_cuda, cuda_failure
from dataclasses import replace
config = replace(find_preset("cartpole-ppo"), device="cuda")
check_cuda(config)
try:
    torch.empty(10**15, device="cuda")
except RuntimeError as error:
    assert cuda_failure(error) is None
check_cuda(config)
try:
    torch.zeros(2, device="cuda")[torch.tensor([5], device="cuda")].item()
except RuntimeError as error:
    assert cuda_failure(error) is error, error
    try:
        check_cuda(config)
    except StudyError as told:
        print(told)
"""


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_a_real_one():
    done = subprocess.run([sys.executable, "-c", REALLY], capture_output=True, text=True)
    assert done.stdout.startswith("the GPU fails even in a process that has just begun (CUDA error: "), done.stderr
