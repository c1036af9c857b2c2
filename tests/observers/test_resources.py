import math
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from respawn.contracts.records import Event, ResourceReport, UpdateReport
from respawn.observers import resources as module
from respawn.observers.gpu import GpuSample
from respawn.observers.resources import Resources
from respawn.processes.limits import MemoryLimit

NO_PROCESS = 2**30


class ByHand:
    """Stands in for a ticker: ticks when told to."""

    def __init__(self, name: str, seconds: float, tick) -> None:
        self.seconds, self.tick, self.error, self.closed = seconds, tick, None, False

    def check(self) -> None:
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def close(self) -> None:
        self.closed = True


class Gpu:
    """Answers the samples that it was given."""

    def __init__(self, *samples: GpuSample) -> None:
        self.samples, self.closed = list(samples), 0

    def sample(self) -> GpuSample:
        return self.samples.pop(0)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def told():
    return []


@pytest.fixture
def made(tmp_path, told, monkeypatch):
    """Makes resources that are sampled by hand; answers them and their ticker."""
    monkeypatch.setattr(module, "Ticker", ByHand)

    def make(device="cpu", window_samples=3, gpu=None) -> tuple[Resources, ByHand]:
        monkeypatch.setattr(module, "find_gpu", lambda device: gpu)
        resources = Resources(tmp_path, device, told.append, every_seconds=10.0, window_samples=window_samples)
        return resources, resources._ticker

    return make


def report(update: int) -> UpdateReport:
    return UpdateReport(update, 10 * update, 0, 0, {})


def test_a_sample_says_what_process_and_machine_use(made, told, tmp_path):
    resources, ticker = made()
    assert ticker.seconds == 10.0 and told == []  # the first look only begins to measure
    resources.receive(report(3))
    threads, files = psutil.Process().num_threads(), psutil.Process().num_fds()
    ticker.tick()
    (row,) = told
    assert isinstance(row, ResourceReport) and (row.update, row.decisions) == (3, 30)
    seen = row.metrics
    assert seen["resource/process_rss_mib"] == pytest.approx(psutil.Process().memory_info().rss / 2**20, rel=0.2)
    assert seen["resource/threads"] == threads and seen["resource/open_files"] == files
    assert seen["resource/system_memory_available_gib"] <= psutil.virtual_memory().total / 2**30
    assert 0 < seen["resource/disk_free_share"] < 1 and seen["resource/disk_free_gib"] > 0
    assert 0 <= seen["resource/system_cpu_percent"] <= 100 and 0 < seen["resource/system_memory_percent"] < 100
    assert not any(name.startswith("resource/gpu") for name in seen)
    resources.close()


def test_where_the_run_is_taken_up_it_knows_where_it_is(made, told):
    resources, _ = made()
    resources.receive(report(7))
    again, ticker = made()
    again.restore(resources.state())
    ticker.tick()
    assert (told[0].update, told[0].decisions) == (7, 70)


def test_processes_that_it_started_count_too_and_may_end_at_any_time(made, told):
    resources, ticker = made()
    ticker.tick()
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    ticker.tick()
    size = psutil.Process(child.pid).memory_info().rss / 2**20
    child.communicate()
    ticker.tick()
    before, during, after = (row.metrics for row in told)  # others may be there, which other tests have started
    assert during["resource/children"] == before["resource/children"] + 1
    assert after["resource/children"] == before["resource/children"]
    grown = during["resource/children_rss_mib"] - before["resource/children_rss_mib"]
    assert grown == pytest.approx(size, rel=0.2)
    resources.close()


def test_one_that_ends_between_two_lines_is_passed_over(made, told, monkeypatch):
    resources, ticker = made()
    monkeypatch.setattr(module, "descendants", lambda pid: [NO_PROCESS, NO_PROCESS + 1])
    resources._processes[NO_PROCESS] = Ended()
    ticker.tick()
    assert told[0].metrics["resource/children"] == 0
    resources.close()


class Ended:
    def oneshot(self):
        raise psutil.NoSuchProcess(NO_PROCESS)


def test_means_are_taken_over_a_sliding_window_of_what_could_be_said(made, told, monkeypatch):
    utilisations = [10.0, 20.0, math.nan, 60.0, 100.0]
    gpu = Gpu(*(GpuSample(each, 1024.0, 8192.0, 50.0, 200.0) for each in [0.0, *utilisations]))
    monkeypatch.setattr(module.psutil, "cpu_percent", iter([0.0, 5.0, 10.0, 15.0, 20.0, 25.0]).__next__)
    monkeypatch.setattr("torch.cuda.memory_allocated", lambda device: 3 * 2**20)
    monkeypatch.setattr("torch.cuda.memory_reserved", lambda device: 5 * 2**20)
    resources, ticker = made(device="cuda", window_samples=3, gpu=gpu)
    for _ in utilisations:
        ticker.tick()
    rows = [row.metrics for row in told]
    assert [row["resource/gpu_utilisation_mean"] for row in rows] == [10.0, 15.0, 15.0, 30.0, 60.0]
    assert [row["resource/system_cpu_percent_mean"] for row in rows] == [5.0, 7.5, 10.0, 15.0, 20.0]
    assert math.isnan(rows[2]["resource/gpu_utilisation"])
    last = rows[-1]
    assert (last["resource/gpu_memory_used_mib"], last["resource/gpu_memory_total_mib"]) == (1024.0, 8192.0)
    assert (last["resource/gpu_temperature"], last["resource/gpu_watts"]) == (50.0, 200.0)
    assert (last["resource/torch_allocated_mib"], last["resource/torch_reserved_mib"]) == (3.0, 5.0)
    resources.close()
    resources.close()
    assert gpu.closed == 1


def test_a_gpu_that_cannot_be_watched_is_said_so(made, told):
    made(device="cuda")
    (event,) = told
    assert isinstance(event, Event) and event.kind == "gpu_not_watched" and event.level == "warning"


def test_a_sample_that_cannot_be_taken_is_told_of_once_and_tried_again(made, told, monkeypatch):
    resources, ticker = made()
    with monkeypatch.context() as patched:

        def away(path: Path) -> None:
            raise OSError(116, "Stale file handle")

        patched.setattr(module, "room_on_disk", away)
        for _ in range(3):
            ticker.tick()
    (event,) = told
    assert isinstance(event, Event) and (event.kind, event.level) == ("not_sampled", "warning")
    assert "Stale file handle" in event.message
    ticker.tick()
    resources.receive(report(1))
    assert isinstance(told[-1], ResourceReport) and len(told) == 2


@pytest.mark.parametrize(
    ("allowed", "percent", "available_gib"),
    [(None, 40.0, 8.0), (MemoryLimit(4 * 2**30, 3 * 2**30), 75.0, 1.0), (MemoryLimit(64 * 2**30, 2**30), 40.0, 8.0)],
)
def test_in_a_container_memory_is_what_that_is_allowed(made, told, monkeypatch, allowed, percent, available_gib):
    machine = SimpleNamespace(percent=40.0, available=8 * 2**30)
    monkeypatch.setattr(module.psutil, "virtual_memory", lambda: machine)
    monkeypatch.setattr(module, "memory_limit", lambda: allowed)
    _, ticker = made()
    ticker.tick()
    metrics = told[0].metrics
    assert metrics["resource/system_memory_available_gib"] == available_gib
    assert metrics["resource/system_memory_percent"] == percent


def test_what_ended_the_sampling_is_raised_where_it_is_somebodys(made):
    resources, ticker = made()
    ticker.error = FileNotFoundError(2, "the folder is gone")
    with pytest.raises(FileNotFoundError):
        resources.receive(report(1))
    ticker.error = FileNotFoundError(2, "the folder is gone")
    with pytest.raises(FileNotFoundError):
        resources.close()


def test_sampled_by_a_thread_of_its_own_at_even_intervals(tmp_path):
    rows: list[tuple[str, ResourceReport]] = []
    enough = threading.Event()

    def note(record: ResourceReport) -> None:
        rows.append((threading.current_thread().name, record))
        if len(rows) == 3:
            enough.set()

    resources = Resources(Path(tmp_path), "cpu", note, every_seconds=0.01, window_samples=2)
    assert enough.wait(30)
    resources.close()
    count = len(rows)
    assert {thread for thread, _ in rows} == {"resources"}
    assert not [thread for thread in threading.enumerate() if thread.name == "resources"]
    time.sleep(0.1)
    assert len(rows) == count
