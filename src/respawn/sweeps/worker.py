"""A process of its own that runs trial after trial, and tells whoever started it how they go."""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from respawn.processes.child import Family
from respawn.processes.lifeline import live_and_die_with

READY, BEGUN, JUDGED, ENDED, DONE, REFUSED = "ready", "begun", "judged", "ended", "done", "refused"
"""What a worker's messages are about: itself, a trial that begins, an evaluation, a trial that ended, that nothing is
left to do, an error that ends the sweep."""
BROKEN = "broken"
"""And: that it cannot go on, and another process can."""


@dataclass(frozen=True)
class WorkerPlan:
    """All that a worker is told when it starts."""

    family: Family
    url: str
    """where the study is kept"""
    name: str
    folder: Path
    runs_dir: Path
    trials: int
    sampler: str
    pruner: str
    threads: int | None
    machine: Mapping[str, Any]
    """settings that this machine has of its own, by whole names"""
    command: tuple[str, ...]
    """what was typed, for the runs to tell"""


class _Told(KeyboardInterrupt):
    """SIGTERM came while no run was there to be saved."""


class _Asked:
    """Whether this process was told to leave, while no run heard it.

    What a signal's handler raises may be lost: Python drops what is raised while it collects garbage. Whoever started
    this tells it once, so it looks by itself whether it is still here though it was told.
    """

    def __init__(self) -> None:
        self._to_leave = False

    def leave(self, number: int, frame: FrameType | None) -> NoReturn:
        self._to_leave = True
        raise _Told

    def check(self) -> None:
        """Leave, if it was told to."""
        if self._to_leave:
            raise _Told

    def tell_run(self) -> None:
        """Let a run that is being trained hear it, which then saves and stops."""
        if self._to_leave:
            self._to_leave = False
            os.kill(os.getpid(), signal.SIGTERM)


def run(connection: Connection, plan: WorkerPlan) -> None:
    """Run trials until none is left, or whoever started this says stop."""
    live_and_die_with(plan.family.parent, plan.family.lifeline)
    asked = _Asked()
    signal.signal(signal.SIGTERM, asked.leave)
    sys.argv[:] = plan.command
    # Imported only now: the lines above are in force while torch loads.
    from respawn.errors import RespawnError
    from respawn.sweeps.broken_cuda import CudaFailedError
    from respawn.sweeps.storage import storage_failures_told

    try:
        with storage_failures_told():
            _work(connection, plan, asked)
    except KeyboardInterrupt:  # what there was to save is saved
        return
    except CudaFailedError as error:
        connection.send((BROKEN, {"cause": str(error)}))
    except RespawnError as error:
        connection.send((REFUSED, {"cause": str(error), "exit_code": error.exit_code}))


def _work(connection: Connection, plan: WorkerPlan, asked: _Asked) -> None:
    from dataclasses import asdict, replace

    from respawn.sweeps.broken_cuda import check_cuda
    from respawn.sweeps.claims import Order, claim_next
    from respawn.sweeps.definition import on_this_machine
    from respawn.sweeps.places import StudyFolder, run_name
    from respawn.sweeps.storage import load_study, pruner
    from respawn.sweeps.trial_run import Bench, Ended, run_trial

    def tell(kind: str, **facts: Any) -> None:
        connection.send((kind, facts))

    def gave_up(number: int, cause: str, is_alarming: bool) -> None:
        ended = Ended(number, run_name(plan.name, number), "failed", cause=cause, is_alarming=is_alarming)
        tell(ENDED, **asdict(ended))

    study, definition = load_study(plan.url, plan.name)
    definition = on_this_machine(definition, plan.machine)
    check_cuda(definition.base)  # a worker that takes another's place may find why that one failed
    study.pruner = pruner(plan.pruner, definition)  # type: ignore[arg-type]
    bench = Bench(study, definition, plan.name, plan.runs_dir, plan.threads)

    def heard(number: int, decisions: int, value: float) -> None:
        tell(JUDGED, number=number, decisions=decisions, value=value)
        asked.tell_run()

    bench = replace(bench, heard=heard)
    folder = StudyFolder(plan.folder)
    order = Order(plan.trials, plan.sampler, plan.name, gave_up)  # type: ignore[arg-type]
    tell(READY)
    while True:
        asked.check()
        claim = claim_next(study, definition, folder, order)
        if claim is None:
            tell(DONE)
            return
        tell(BEGUN, number=claim.number, is_taken_up=claim.is_taken_up, drawn=claim.drawn)
        ended = run_trial(claim, bench)
        tell(ENDED, **asdict(ended))
        if ended.state == "stopped":
            return
