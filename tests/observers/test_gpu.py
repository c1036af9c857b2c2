"""The driver's answers are played: what is asked of it, under which name, and what becomes of its refusals."""

from types import SimpleNamespace

import pytest
import torch

from respawn.observers import gpu
from respawn.observers.gpu import GpuSample, find_gpu

UUIDS = {0: "11111111-aaaa", 1: "22222222-bbbb"}


class NVMLError(Exception):
    pass


class Driver:
    """As much of pynvml as is used."""

    NVML_TEMPERATURE_GPU = 0

    def __init__(self, knows=("GPU-11111111-aaaa", "GPU-22222222-bbbb", "MIG-33"), refuses=(), is_there=True) -> None:
        self.NVMLError = NVMLError
        self.knows, self.refuses, self.is_there = knows, refuses, is_there
        self.open = 0

    def nvmlInit(self) -> None:
        if not self.is_there:
            raise NVMLError("Driver Not Loaded")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        if uuid not in self.knows:
            raise NVMLError("Not Found")
        return uuid

    def _answer(self, question: str, answer):
        if question in self.refuses:
            raise NVMLError("Not Supported")
        return answer

    def nvmlDeviceGetUtilizationRates(self, handle):
        return self._answer("utilisation", SimpleNamespace(gpu=97, memory=30))

    def nvmlDeviceGetMemoryInfo(self, handle):
        return self._answer("memory", SimpleNamespace(used=3 * 2**30, total=8 * 2**30))

    def nvmlDeviceGetTemperature(self, handle, sensor):
        assert sensor == self.NVML_TEMPERATURE_GPU
        return self._answer("temperature", 61)

    def nvmlDeviceGetPowerUsage(self, handle):
        return self._answer("power", 215_500)


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=UUIDS[index]))

    def installed(driver: Driver) -> Driver:
        monkeypatch.setattr(gpu, "pynvml", driver)
        return driver

    return installed


def test_a_look_is_in_plain_units(driver):
    driver(Driver())
    found = find_gpu("cuda")
    assert found is not None
    assert found.sample() == GpuSample(97.0, 3072.0, 8192.0, 61.0, 215.5)


def test_what_the_gpu_cannot_say_is_not_a_number_and_stops_nothing_else(driver):
    driver(Driver(refuses=("utilisation", "power")))
    seen = find_gpu("cuda").sample()
    assert seen.utilisation != seen.utilisation and seen.watts != seen.watts
    assert (seen.memory_used_mib, seen.temperature) == (3072.0, 61.0)


@pytest.mark.parametrize(
    ("device", "visible", "uuid"),
    [
        ("cuda", None, "GPU-11111111-aaaa"),
        ("cuda:1", None, "GPU-22222222-bbbb"),
        ("cuda:1", "3,2", "GPU-22222222-bbbb"),  # torch says which one its second is; the driver's count is another
        ("cuda", "MIG-33", "MIG-33"),
        ("cuda:1", "GPU-11111111-aaaa, MIG-33", "MIG-33"),
    ],
)
def test_it_is_the_one_that_torch_computes_on(driver, monkeypatch, device, visible, uuid):
    asked = []
    fake = driver(Driver())
    monkeypatch.setattr(fake, "nvmlDeviceGetHandleByUUID", asked.append)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert find_gpu(device) is not None
    assert asked == [uuid]


def test_no_gpu_is_looked_at_where_none_is_computed_on(driver):
    fake = driver(Driver())
    assert find_gpu("cpu") is None and find_gpu("mps") is None and fake.open == 0


@pytest.mark.parametrize("fake", [Driver(is_there=False), Driver(knows=())])
def test_a_driver_that_does_not_answer_is_no_error_and_is_let_go(driver, fake):
    driver(fake)
    assert find_gpu("cuda") is None and fake.open == 0


def test_the_driver_is_let_go_in_the_end(driver):
    fake = driver(Driver())
    find_gpu("cuda").close()
    assert fake.open == 0
