import subprocess
import sys
import time

import psutil
import pytest

from respawn.training import bench_watch
from respawn.training.bench_watch import Watch


def test_it_sees_what_this_process_spends():
    with Watch() as watch:
        spent = time.process_time()
        while time.process_time() - spent < 0.1:
            pass
    assert watch.taken["cpu_seconds"] >= 0.08 and watch.taken["seconds"] >= 0.08
    assert watch.taken["others_cores"] >= 0


def test_children_are_its_own_and_so_are_those_that_have_ended():
    work = "import time\nwhile time.process_time() < 0.2: pass"
    with Watch() as watch:
        subprocess.run([sys.executable, "-c", work], check=True)
    assert watch.taken["cpu_seconds"] >= 0.18


def test_others_are_whoever_else_is_on_the_cores(monkeypatch):
    Times = type(psutil.cpu_times(percpu=True)[0])
    busy = iter([10.0, 13.0])

    def cpu_times(percpu):
        seconds = next(busy)
        idle = Times(*[0.0] * len(Times._fields))
        return [idle._replace(user=seconds, idle=999.0), idle._replace(user=777.0 + seconds)]

    clock = iter([0.0, 2.0])
    own = iter([1.0, 2.0])
    monkeypatch.setattr(psutil, "cpu_times", cpu_times)
    monkeypatch.setattr(bench_watch, "_own_seconds", lambda: next(own))
    monkeypatch.setattr(bench_watch.time, "perf_counter", lambda: next(clock))
    # Of two cores it may use one; idling is nobody's work.
    monkeypatch.setattr(bench_watch.os, "sched_getaffinity", lambda pid: {0}, raising=False)
    with Watch() as watch:
        pass
    assert watch.taken == {"seconds": 2.0, "cpu_seconds": 1.0, "others_cores": pytest.approx(1.0)}
