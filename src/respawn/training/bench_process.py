"""Things to measure, each in a process of its own: one that fails, or that the system kills, takes no other along."""

import gc
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from respawn.errors import RespawnError
from respawn.processes.child import ChildProcess, Family
from respawn.processes.lifeline import live_and_die_with

MODULE = "respawn.training.bench_process"
READY_SECONDS = 1800.0
"""for a case to be made: games are compiled, lanes begun one after the other, actors started"""
SPARE_SECONDS = 600.0
"""for a turn, beyond the longest that it is meant to be"""
LEAVE_SECONDS = 10.0
ABANDON_SECONDS = 1.0
"""for one that is in the middle of something nobody waits for any more"""
_LONGEST_WORDS = 400

Measured: TypeAlias = Mapping[str, Any]


class Case(Protocol):
    """Something that is measured, a turn at a time, and stands still between its turns."""

    def turn(self) -> Measured:
        """Measure once, as plain data."""

    def close(self) -> None:
        """Leave it."""


class CaseFailedError(Exception):
    """A case came to nothing; the message is one sentence."""


class CaseMissingError(Exception):
    """What a case would measure is not installed here, which is no failure; the message is its name."""


@dataclass(frozen=True)
class _Plan:
    family: Family
    make: Callable[[], Case]
    place: str


class CaseProcess:
    """A case in a process of its own. Use it as a context, and it is gone afterwards, with all that it put aside.

    Args:
      make: makes the case over there; a function of a module, or a `functools.partial` of one.
      threads: what torch and BLAS may use there.
      longest_turn: seconds; a turn that takes much longer hangs, as somebody's game may.
    """

    def __init__(self, make: Callable[[], Case], *, threads: int = 1, longest_turn: float = 0.0) -> None:
        self._began = monotonic()
        self._turn_seconds = longest_turn + SPARE_SECONDS
        self._others_seconds = 0.0
        self._place = tempfile.TemporaryDirectory(prefix="respawn-bench-", ignore_cleanup_errors=True)
        self._child = ChildProcess(
            MODULE,
            lambda family: _Plan(family, make, self._place.name),
            output=Path(self._place.name) / "output.log",
            threads=threads,
            descriptors=(),
        )
        self._said_last = self._began

    def ready(self) -> None:
        """Wait until the case is made; raises CaseFailedError or CaseMissingError where it cannot be."""
        self._answer(READY_SECONDS, "to begin")

    def turn(self) -> Measured:
        """Measure once; raises CaseFailedError."""
        self._others_seconds += monotonic() - self._said_last
        self._child.send("turn")
        measured: Measured = self._answer(self._turn_seconds, "for a turn")
        return measured

    @property
    def seconds(self) -> float:
        """How long it has taken so far, from its start on, without the turns of others."""
        return self._said_last - self._began - self._others_seconds

    def __enter__(self) -> "CaseProcess":
        """As it is."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._child.send("close")
        self._child.end(LEAVE_SECONDS if kind is None else ABANDON_SECONDS)
        self._place.cleanup()

    def _answer(self, limit_seconds: float, purpose: str) -> Any:
        try:
            if not self._child.answers_within(limit_seconds):
                self._child.end()  # it would only hinder the others
                raise CaseFailedError(f"it took more than {limit_seconds:,.0f} s {purpose}, and was ended")
            outcome, said = self._child.connection.recv()
        except (EOFError, OSError):
            how = self._child.end(LEAVE_SECONDS)
            printed = self._child.printed().strip().splitlines()
            raise CaseFailedError(f"its process ended with {how}" + (f": {printed[-1]}" if printed else "")) from None
        finally:
            self._said_last = monotonic()
        if outcome == "failed":
            raise CaseFailedError(said)
        if outcome == "missing":
            raise CaseMissingError(said)
        return said


def run(connection: Connection, plan: _Plan) -> None:
    """Serve in the child until told to close."""
    live_and_die_with(plan.family.parent, plan.family.lifeline)
    # What is put aside here, and in children of ours, goes with the parent's folder, however this process ends.
    os.environ["TMPDIR"] = plan.place
    tempfile.tempdir = None
    case: Case | None = None
    try:
        case = plan.make()
        connection.send(("ready", None))
        while connection.recv()[0] == "turn":
            gc.collect()  # what others left behind is nobody's turn
            connection.send(("measured", case.turn()))
    except EOFError:
        return  # nobody is interested any more
    except CaseMissingError as missing:
        connection.send(("missing", str(missing)))
    except RespawnError as error:
        connection.send(("failed", _sentence(str(error))))
    except Exception as error:  # noqa: BLE001 - the edge of a process: what it was is the case's result
        connection.send(("failed", _sentence(f"{type(error).__name__}: {error}")))
    finally:
        if case is not None:
            case.close()


def _sentence(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST_WORDS else f"{line[: _LONGEST_WORDS - 1]}…"
