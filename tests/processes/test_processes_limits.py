"""What a process may use of its machine, by what its control groups say."""

import os
from pathlib import Path

import pytest

from respawn.processes import limits
from respawn.processes.limits import MemoryLimit, memory_limit, usable_cores

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The innermost control group of a process in a container, in a file system of its own."""
    inner = tmp_path / "pods" / "mine"
    inner.mkdir(parents=True)
    (tmp_path / "membership").write_text("3:memory:/old\n0::/pods/mine\n")
    monkeypatch.setattr(limits, "_MOUNT", tmp_path)
    monkeypatch.setattr(limits, "_MEMBERSHIP", tmp_path / "membership")
    return inner


def allow(group: Path, **said: str) -> None:
    for name, text in said.items():
        (group / name.replace("_", ".", 1)).write_text(text + "\n")


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("100000 100000", 1), ("150000 100000", 1), ("50000 100000", 1), ("max 100000", CORES), ("6400000 1000", CORES)],
)
def test_cores_are_those_of_the_quota_and_at_least_one(group, quota, cores):
    assert usable_cores() == CORES
    allow(group, cpu_max=quota)
    assert usable_cores() == cores


def test_a_group_further_out_may_allow_less(group):
    allow(group, cpu_max="6400000 100000", memory_max="4000", memory_current="1000")
    allow(group.parent, cpu_max="100000 100000", memory_max="2000", memory_current="1800")
    assert usable_cores() == 1
    assert memory_limit() == MemoryLimit(2000, 1800)


def test_files_that_are_only_kept_for_later_do_not_count(group):
    allow(group, memory_max="1000", memory_current="950", memory_stat="anon 300\ninactive_file 600\nslab 50")
    limit = memory_limit()
    assert limit == MemoryLimit(1000, 350) and limit.percent == 35.0


def test_no_limit_is_none(group, monkeypatch):
    allow(group, memory_max="max", memory_current="950")
    assert memory_limit() is None
    monkeypatch.setattr(limits, "_MEMBERSHIP", group / "nowhere")
    allow(group, memory_max="1000")
    assert memory_limit() is None and usable_cores() == CORES
