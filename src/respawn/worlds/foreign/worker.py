"""What runs in a worker process. Imports neither torch nor the contracts, to be up quickly."""

import sys
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.processes.child import Family
from respawn.processes.lifeline import live_and_die_with
from respawn.processes.marks import Marks
from respawn.worlds.foreign.lanes import LaneGroup
from respawn.worlds.foreign.making import EnvPlan
from respawn.worlds.foreign.sharing import SharedArrays


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
    memory: int
    """descriptor of the shared arrays"""
    family: Family


def run(connection: "Connection[Any, Any]", plan: WorkerPlan) -> None:
    """Serve commands until told to close, or until the parent is gone."""
    live_and_die_with(plan.family.parent, plan.family.lifeline)
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
            connection.send(("done", group.step(argument)))
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
