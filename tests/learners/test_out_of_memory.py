import numpy as np
import pytest
import torch
from practice import LEARNERS, practise, random_rollout

from respawn.learners.out_of_memory import gpu_is_full, host_is_full, in_short

OF_THE_ALLOCATOR = torch.OutOfMemoryError(
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 10.75 GiB of which 1.19 GiB is free."
)
OF_A_GPU = {
    "torch's allocator": OF_THE_ALLOCATOR,
    "an older torch": RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.75 GiB total capacity)"),
    "the driver": RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported asynchronously"),
    "cuBLAS": RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    "cuDNN": RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    "segments that grow": RuntimeError("CUDA driver error: out of memory"),
    "Triton": RuntimeError("Triton Error [CUDA]: out of memory"),
}


def after(first: BaseException, then: BaseException, *, on_purpose: bool) -> BaseException:
    """An error that was raised while another was handled."""
    try:
        try:
            raise first
        except BaseException as error:
            if on_purpose:
                raise then from error
            raise then  # noqa: B904 - as happens where handling fails
    except BaseException as error:  # noqa: BLE001 - it is what was asked for
        return error


@pytest.mark.parametrize("who", OF_A_GPU)
def test_a_gpu_is_full_whoever_says_so(who):
    assert gpu_is_full(OF_A_GPU[who]) and not host_is_full(OF_A_GPU[who])


@pytest.mark.parametrize("on_purpose", [True, False])
def test_a_recording_that_ended_because_of_it(on_purpose):
    invalid = RuntimeError("CUDA error: operation failed due to a previous error during capture")
    assert not gpu_is_full(invalid)
    assert gpu_is_full(after(OF_THE_ALLOCATOR, invalid, on_purpose=on_purpose))


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: device-side assert triggered"),
        ValueError("CUDA out of memory"),
        MemoryError(),
        after(OF_THE_ALLOCATOR, KeyboardInterrupt(), on_purpose=True),
        after(OF_THE_ALLOCATOR, OSError("no room either"), on_purpose=False),
    ],
)
def test_other_errors_are_not_a_full_gpu(error):
    assert not gpu_is_full(error)


@pytest.mark.parametrize("take", [lambda: torch.empty(10**16), lambda: np.empty(10**17)])
def test_a_real_shortage_on_the_host(take):
    with pytest.raises((RuntimeError, MemoryError)) as caught:
        take()
    assert host_is_full(caught.value) and not gpu_is_full(caught.value)
    assert "allocate" in in_short(caught.value) and "enforce fail" not in in_short(caught.value)


def test_in_short():
    assert in_short(OF_THE_ALLOCATOR) == "CUDA out of memory. Tried to allocate 2.00 GiB"
    assert in_short(OF_A_GPU["the driver"]) == "CUDA error: out of memory"
    assert in_short(MemoryError()) == "MemoryError"


@pytest.mark.parametrize("learner", ["ppo", "vtrace"])
def test_it_is_no_reason_to_give_up_compiling(learner, monkeypatch):
    practice = practise(LEARNERS[learner], compile=True)

    def compiled(*inputs):
        raise OF_A_GPU["cuBLAS"]

    monkeypatch.setattr(torch, "compile", lambda unroll: compiled)
    with pytest.raises(RuntimeError, match="CUBLAS"):
        practice.learn(random_rollout(practice.model))
    assert practice.events == []
