"""What runs in a worker process. Imports neither torch nor the contracts, to be up quickly."""

import contextlib
import fcntl
import os
import select
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.worlds.foreign.diagnostics import Marks
from respawn.worlds.foreign.lanes import LaneGroup
from respawn.worlds.foreign.making import EnvPlan
from respawn.worlds.foreign.sharing import SharedArrays

ORPHAN_GRACE_SECONDS = 1.0


@dataclass(frozen=True)
class WorkerPlan:
    """All that a worker is told when it starts."""

    worker: int
    num_workers: int
    lanes: range
    num_lanes: int
    env: EnvPlan
    marks: Path
    threads: int
    parent: int
    memory: int
    """descriptor of the shared arrays"""
    lifeline: int
    """descriptor of a pipe that ends when the parent is gone"""


def run(connection: "Connection[Any, Any]", plan: WorkerPlan) -> None:
    """Serve commands until told to close, or until the parent is gone."""
    # The parent decides what an interrupt means; a worker that dies of one would look lost.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_lifeline(plan.lifeline)
    threading.Thread(target=_end_with_parent, args=(plan.lifeline, plan.parent), daemon=True).start()
    marks = Marks(plan.marks, plan.worker)
    marks.write("start")
    shared = SharedArrays(plan.num_workers, plan.memory)
    group = LaneGroup(plan.env, plan.lanes, shared.progress(plan.worker), marks.write)
    try:
        group.build()
        _limit_torch(plan.threads)
        connection.send(("ready", (group.layout, group.exact)))
        _serve(connection, group, shared, plan)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone or has given up on us
    except ConfigError as problem:
        marks.write("refused", message=str(problem))
        connection.send(("refused", str(problem)))
    except BaseException as problem:  # noqa: BLE001  # the edge of the process: recorded, and told to the parent
        marks.write("error", where=group.where(), error=repr(problem), traceback=traceback.format_exc())
        connection.send(("failed", f"raised {type(problem).__name__}: {problem}"))


def _serve(connection: "Connection[Any, Any]", group: LaneGroup, shared: SharedArrays, plan: WorkerPlan) -> None:
    while True:
        command, argument = connection.recv()
        if command == "step":  # by far the most frequent
            group.step(argument)
            connection.send(("done", None))
        elif command == "close":
            connection.send(("closed", group.close()))
            return
        elif command == "attach":
            group.attach(shared.buffers(argument, plan.num_lanes))
            connection.send(("done", None))
        else:
            connection.send(_carry_out(group, command, argument))


def _carry_out(group: LaneGroup, command: str, argument: Any) -> tuple[str, Any]:
    """Do what was asked for, and what to answer."""
    if command == "state":
        return "done", group.states()
    if command == "render":
        return _try_render(group, argument)
    if command == "restore":
        return _try_restore(group, argument)
    seeds, slot = argument
    group.reset(seeds, slot)
    return "done", None


def _try_restore(group: LaneGroup, states: Any) -> tuple[str, Any]:
    """Restore; a state made by something else is the caller's to mend, not a failure of this worker."""
    try:
        group.restore(states)
    except CheckpointError as problem:
        return "mismatch", str(problem)
    return "done", None


def _try_render(group: LaneGroup, lane: int) -> tuple[str, Any]:
    """Render; an environment that cannot draw can still step."""
    try:
        return "done", group.render(lane)
    except ConfigError as problem:
        return "refused", str(problem)
    except WorldError as problem:
        return "unable", str(problem)
    except Exception as problem:  # noqa: BLE001  # the edge of the process: told to the parent, which raises it
        return "unable", f"{group.where()} raised {type(problem).__name__}: {problem}"


def _limit_torch(threads: int) -> None:
    """Keep torch to its share of the processor, if the environment has brought it in."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _end_with_lifeline(lifeline: int) -> None:
    """Have the kernel kill this worker's process group, with all that its environments started, when the pipe ends.

    That needs no thread of ours to run, so it also reaches a worker whose native code holds the interpreter's lock.
    PR_SET_PDEATHSIG would not do: it fires when the thread ends that started the worker, not the process.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a sandbox may not offer it; the thread is there all the same
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())  # we lead a group of our own
            fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _end_with_parent(lifeline: int, parent: int) -> None:
    """Make sure that no worker outlives its parent, where the kernel does not see to it.

    The pipe ends with the parent, unless another child of the parent's inherited it; then the new parent shows it.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([lifeline], [], [], 1.0)
        if readable:
            break
    time.sleep(ORPHAN_GRACE_SECONDS)  # the main thread sees the end of its own pipe, and may close what it has open
    os.killpg(os.getpid(), signal.SIGKILL)
