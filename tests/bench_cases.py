"""Cases for benches that take no time, and benches that measure all their cases in this process."""

import csv
import os
import tempfile
import time
from pathlib import Path

from respawn.errors import RespawnError
from respawn.training import bench_matrix
from respawn.training.bench_process import CaseFailedError, CaseMissingError


class Steady:
    """A case that makes so many decisions in each turn, within a second."""

    def __init__(self, decisions=10, *, begins="", turns=""):
        """What it does when it begins and at its turns: raise, a sentence of ours, missing, die, interrupt, hang."""
        self._decisions = decisions
        self._turns = turns
        _do(begins)

    def turn(self):
        _do(self._turns)
        return {"seconds": 1.0, "decisions": self._decisions, "place": tempfile.gettempdir(), "pid": os.getpid()}

    def close(self):
        pass


class Rising(Steady):
    """Each turn makes as many decisions more; the second is the last that goes well where it is said so."""

    def __init__(self, decisions, then=""):
        super().__init__(decisions)
        self._then, self._count = then, 0

    def turn(self):
        self._count += 1
        if self._count > 1:
            _do(self._then)
        return {"seconds": 2.0, "decisions": self._count * self._decisions}


def _do(what):
    if what == "raise":
        raise ValueError("two\nlines")
    if what == "sentence":
        raise RespawnError("it cannot be, for a reason")
    if what == "missing":
        raise CaseMissingError("gold")
    if what == "die":
        print("last words", flush=True)
        os._exit(3)
    if what == "hang":
        time.sleep(3600)
    if what == "interrupt":
        raise KeyboardInterrupt


class InThisProcess:
    """Instead of a process of a case's own."""

    seconds = 1.5

    def __init__(self, make, *, threads=1, longest_turn=0.0):
        self._make, self._case = make, None

    def ready(self):
        self._case = self._told(self._make)

    def turn(self):
        return self._told(self._case.turn)

    def _told(self, work):
        try:
            return work()
        except (CaseMissingError, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001 - as a case's own process does
            raise CaseFailedError(str(error)) from None

    def __enter__(self):
        return self

    def __exit__(self, *about):
        if self._case is not None:
            self._case.close()


def measure_here(monkeypatch):
    """From now on all cases of benches are measured in this process."""
    monkeypatch.setattr(bench_matrix, "CaseProcess", InThisProcess)


def read_csv(path: Path):
    """Of a bench's file, a dictionary for each row."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
