"""Worker processes come up, and none outlives whoever started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from watching import bad, children, marks, no_process_is_left, run_until  # noqa: F401  the fixture works by being here

from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld

ORPHANS = """
import os, sys, time
import torch
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
kwargs = {"flag": sys.argv[1]}
config = ForeignConfig(env_id=f"bad/{sys.argv[2]}-v0", env_kwargs=kwargs, imports=("bad_envs",), workers=2)
world = ForeignWorld(config, 2)
world.reset([0, 1])
sibling = os.fork() if sys.argv[3] == "forked" else 0
if sibling == 0 and sys.argv[3] == "forked":
    time.sleep(30)  # holds all that the parent had open
    os._exit(0)
print(*world._lanes.pids, sibling, flush=True)
while True:
    world.step(torch.zeros(2, dtype=torch.int64))
"""


@pytest.mark.parametrize(
    ("name", "sibling"),
    [
        ("HangsInStep", "none"),
        ("HangsInStep", "forked"),
        pytest.param(
            *("HangsInNativeCode", "none"), marks=pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
        ),
    ],
)
def test_no_worker_outlives_its_parent(name, sibling, tmp_path):
    # One worker is stuck, the other one waits for its next command.
    here = str(Path(__file__).parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHANS, str(tmp_path / "flag"), name, sibling],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
    )
    *pids, forked = [int(pid) for pid in parent.stdout.readline().split()]
    workers = [psutil.Process(pid) for pid in pids]
    assert len(workers) == 2
    while not (tmp_path / ("flag.stuck" if name == "HangsInNativeCode" else "flag")).exists():
        time.sleep(0.02)
    if name == "HangsInNativeCode":
        workers.append(psutil.Process(int((tmp_path / "flag.child").read_text())))
        time.sleep(0.2)  # between the mark and the call that takes the lock
    assert all(worker.is_running() for worker in workers)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=8)
    if forked:
        os.kill(forked, signal.SIGKILL)
    assert alive == []


def test_an_interrupt_does_not_reach_the_workers():
    world = ForeignWorld(bad("Walker"), 2)
    world.reset([0, 1])
    for pid in world._lanes.pids:
        os.kill(pid, signal.SIGINT)
    assert run_until(world, 5).terminated.all()  # their own end, not that of a lost worker
    world.close()


def construct(times: int) -> int:
    """How many of `times` worlds with 8 workers came up and could be stepped, without any replacement."""
    succeeded = 0
    for attempt in range(times):
        world = ForeignWorld(ForeignConfig(workers=8, max_replacements=0), 8)
        world.reset(range(attempt, attempt + 8))
        run_until(world, 1)
        world.close()
        succeeded += 1
    return succeeded


def test_eight_workers_come_up():
    assert construct(3) == 3


def test_staggered_start():
    began = time.monotonic()
    world = ForeignWorld(bad("Walker", workers=3, stagger_seconds=0.4), 3)
    assert time.monotonic() - began > 0.8
    world.close()


@pytest.mark.slow
def test_eight_workers_come_up_forty_times_out_of_forty():
    assert construct(40) == 40
