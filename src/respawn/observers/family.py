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
        found += children
        parents += children
    return found


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    try:
        threads = os.listdir(tasks)
    except OSError:  # not Linux, or it has ended
        return _asked_of_all(pid)
    children: list[int] = []
    for thread in threads:
        try:
            children += map(int, (tasks / thread / "children").read_bytes().split())
        except FileNotFoundError:
            if (tasks / thread).exists():
                return _asked_of_all(pid)  # this Linux does not say
        except ProcessLookupError:  # the thread ended between two lines
            continue
    return children


def _asked_of_all(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.NoSuchProcess:
        return []
