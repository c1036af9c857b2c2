"""The processes that a process has started, and those that they have.

psutil finds them by looking at every process of the machine, which on a large one takes longer than all else that is
sampled. Linux says them directly, where it was built to.
"""

import os
from pathlib import Path

import psutil


def descendants(pid: int) -> list[int]:
    """Their numbers, in no order. One that is starting or ending just now may be missing."""
    found: list[int] = []
    parents = [pid]
    while parents:
        children = _children(parents.pop())
        if children is None:
            return _asked_of_all(pid)
        found += children
        parents += children
    return found


def _children(pid: int) -> list[int] | None:
    """Those of one process; None where the system does not say."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        threads = os.listdir(tasks)
    except OSError:  # it has ended, or this is not Linux
        return [] if Path("/proc/self/task").exists() else None
    children: list[int] = []
    for thread in threads:
        try:
            children += map(int, (tasks / thread / "children").read_bytes().split())
        except FileNotFoundError:
            if (tasks / thread).exists():
                return None  # this Linux was not built to say
        except ProcessLookupError:  # the thread ended between two lines
            continue
    return children


def _asked_of_all(pid: int) -> list[int]:
    """All at once: each question looks at every process of the machine."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
