import math
import time
from types import SimpleNamespace

import pytest

from respawn.training import gpu_share
from respawn.training.gpu_share import GpuShare


class Gpu:
    def __init__(self, says):
        self.says, self.closed = list(says), False

    def sample(self):
        return SimpleNamespace(utilisation=self.says.pop(0) if self.says else math.nan)

    def close(self):
        self.closed = True


def watched(monkeypatch, says):
    gpu = Gpu(says)
    monkeypatch.setattr(gpu_share, "find_gpu", lambda device: gpu)
    with GpuShare("cuda", interval_seconds=0.001) as share:
        while gpu.says:
            time.sleep(0.001)
    assert gpu.closed
    return share


def test_the_share_is_the_mean_of_all_looks(monkeypatch):
    assert watched(monkeypatch, [10.0, 20.0, 60.0]).mean == pytest.approx(30.0)


def test_what_the_driver_does_not_say_does_not_count(monkeypatch):
    assert watched(monkeypatch, [math.nan, 50.0, math.nan]).mean == 50.0
    assert watched(monkeypatch, [math.nan]).mean is None


def test_without_a_gpu_there_is_nothing_to_say():
    with GpuShare("cpu") as share:
        pass
    assert share.mean is None
