"""Starts workers, listens to them, replaces those that die, and stops them all when it is told to stop."""

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from types import FrameType
from typing import Any, TypeAlias

from respawn.errors import ConfigError, StudyError
from respawn.processes.child import ChildProcess, Family
from respawn.sweeps.claims import MOST_TIMES_TAKEN_UP
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.worker import BROKEN, DONE, ENDED, REFUSED, WorkerPlan

Tell: TypeAlias = Callable[[int, str, dict[str, Any]], None]
"""is told which worker said what about, and what"""
LOST = "lost"
"""What is told of a worker that died."""
STOPPING = "stopping"
"""What is told, of no worker, when a signal came."""
MOST_SIGNALS = 2
"""The first asks workers to save, the second to leave at once; what is still there at the third is killed."""
MOST_ALIKE = 3
"""Trials that may fail one after another in the same way, not by what they drew: the next ones would too."""
_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.5


@dataclass
class _Worker:
    number: int
    process: ChildProcess
    signals: int = 0
    """that it was sent"""
    is_done: bool = False
    """whether it said that nothing is left to do"""
    broken: str = ""
    """why it cannot go on, as it said itself"""


class Supervisor:
    """Workers, from the first trial to the last."""

    def __init__(self, plan: WorkerPlan, folder: StudyFolder, tell: Tell) -> None:
        self._plan = plan
        self._folder = folder
        self._tell = tell
        self._workers: list[_Worker] = []
        self._signal: signal.Signals | None = None
        self._signals = 0
        self._stop_is_told = False
        self._lost_in_a_row = 0
        self._most_lost = 0
        self._last_cause = ""
        self._failed_alike = 0

    def work(self, workers: int) -> int:
        """Run until every worker has nothing left to do; returns 0, or what a stopping signal makes it answer."""
        # As many as all of them can lose before the trials that they die of are given up.
        self._most_lost = workers * (MOST_TIMES_TAKEN_UP + 1)
        with self._signals_counted(), self._none_left_behind():
            for number in range(1, workers + 1):
                self._workers.append(self._started(number))
            while self._workers:
                self._listen()
                self._pass_signals_on()
        return 0 if self._signal is None else 128 + self._signal.value

    def _started(self, number: int) -> _Worker:
        threads = self._plan.threads or 1

        def plan(family: Family) -> WorkerPlan:
            return replace(self._plan, family=family)

        output = self._folder.worker_output(number)
        process = ChildProcess("respawn.sweeps.worker", plan, output=output, threads=threads, descriptors=())
        return _Worker(number, process)

    def _listen(self) -> None:
        ready = wait([worker.process.connection for worker in self._workers], timeout=_LOOK_SECONDS)
        for worker in [one for one in self._workers if one.process.connection in ready]:
            try:
                kind, facts = worker.process.connection.recv()
            except (EOFError, OSError):
                self._gone(worker)
                continue
            if kind == REFUSED:
                raise ConfigError(facts["cause"]) if facts["exit_code"] == 2 else StudyError(facts["cause"])
            worker.is_done |= kind == DONE
            if kind == BROKEN:
                worker.broken = facts["cause"]
                continue  # told when it is gone
            self._tell(worker.number, kind, facts)
            if kind == ENDED:
                self._lost_in_a_row = 0
                self._check_failures(facts)

    def _check_failures(self, ended: Mapping[str, Any]) -> None:
        """Stop where trials fail one after another for a reason that is none of theirs, as with a full disk."""
        if ended["state"] == "stopped":
            return
        is_alarming = ended["is_alarming"]
        # Alike but for their own numbers, and those of their runs.
        cause = re.sub(r"\d+", "", ended["cause"]) if is_alarming else ""
        self._failed_alike = self._failed_alike + 1 if cause and cause == self._last_cause else int(is_alarming)
        self._last_cause = cause
        if self._failed_alike >= MOST_ALIKE and ended["number"] + 1 < self._plan.trials:
            raise StudyError(
                f"{MOST_ALIKE} trials failed one after another in the same way ({ended['cause']}), and the next ones "
                "would hardly do better; mend that, and the same command goes on with the trials that are left"
            )

    @contextmanager
    def _none_left_behind(self) -> Iterator[None]:
        """Where something fails here, ask all workers to save and leave: none may go on alone."""
        try:
            yield
        finally:
            for worker in self._workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.pid, signal.SIGTERM)
            for worker in self._workers:
                worker.process.end(_GRACE_SECONDS)

    def _pass_signals_on(self) -> None:
        """Not from the signal's own handler, which may have come while a worker was being started, or in a line."""
        for worker in self._workers:
            if worker.signals < self._signals:
                worker.signals += 1
                kind = signal.SIGTERM if worker.signals <= MOST_SIGNALS else signal.SIGKILL
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.pid, kind)
        # Only now: whoever is told may hold us up, and workers are to save meanwhile.
        if self._signal is not None and not self._stop_is_told:
            self._stop_is_told = True
            self._tell(0, STOPPING, {"workers": len(self._workers)})

    def _gone(self, worker: _Worker) -> None:
        """A worker ended: because nothing is left to do, because it was told to, or because it died."""
        self._workers.remove(worker)
        how = worker.process.end(_GRACE_SECONDS)
        if self._signal is not None or worker.is_done:
            return
        self._lost_in_a_row += 1
        how = worker.broken or ("somebody told it to stop" if how == "exit code 0" else how)
        self._tell(worker.number, LOST, {"how": how})
        if self._lost_in_a_row > self._most_lost:
            output = self._folder.worker_output(worker.number)
            raise StudyError(f"{self._lost_in_a_row} workers died in a row, the last with {how}; see {output}")
        # Its trial is taken up again by the new one, or by another, from its newest checkpoint.
        self._workers.append(self._started(worker.number))

    @contextmanager
    def _signals_counted(self) -> Iterator[None]:
        """While inside, signals that ask us to stop are noted, for the workers."""

        def ask(number: int, frame: FrameType | None) -> None:
            self._signal = self._signal or signal.Signals(number)
            self._signals += 1

        asking = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            asking.append(signal.SIGHUP)
        before = {number: signal.signal(number, ask) for number in asking}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
