"""One worker process as its parent sees it: started, spoken to, asked for its stack, ended."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from respawn.worlds.foreign.diagnostics import output_path, read_from
from respawn.worlds.foreign.worker import WorkerPlan

# A fresh interpreter, never a fork: a fork of a process in which torch's threads run can inherit a lock that nobody
# will release. It is started here rather than by `multiprocessing`, whose spawn imports the parent's main module, and
# with it torch, once again in every child; and so that thread limits are in place before NumPy is imported.
BOOTSTRAP = """
import faulthandler, signal, sys
faulthandler.enable()
faulthandler.register(signal.SIGUSR1, all_threads=True)
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
sys.path[:] = connection.recv()
from respawn.worlds.foreign.worker import run
run(connection, connection.recv())
"""
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
STACK_SECONDS = 1.0


class WorkerProcess:
    """A running worker. `began` is when it was last given something to do."""

    def __init__(self, plan: WorkerPlan, lifeline_end: int, folder: Path) -> None:
        self.plan = plan
        self._lifeline_end = lifeline_end
        self._output = output_path(folder, plan.worker)
        self.connection, theirs = multiprocessing.Pipe()
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(plan.threads))}
        with self._output.open("ab") as output:
            self._popen = subprocess.Popen(
                [sys.executable, "-c", BOOTSTRAP, str(theirs.fileno())],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(), plan.memory, plan.lifeline),
                # Its own group: an interrupt typed at the terminal is the parent's, and children of the environment's
                # own can be ended together with it.
                process_group=0,
            )
        theirs.close()
        os.close(plan.lifeline)
        self.began = time.monotonic()
        with contextlib.suppress(OSError):  # one that is gone already shows as such when its answer is awaited
            self.connection.send(sys.path)
            self.connection.send(plan)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    def send(self, command: str, argument: Any = None) -> None:
        """Give it something to do; that it is gone shows when its answer is awaited."""
        self.began = time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send((command, argument))

    def answers_within(self, limit_seconds: float) -> bool:
        """Whether it answers, or its end shows, before so much time has passed since it was given its task."""
        return self.connection.poll(max(self.began + limit_seconds - time.monotonic(), 0.0))

    def stack(self) -> str:
        """Where its threads are just now, as far as it can still be made to tell."""
        before = self._output.stat().st_size
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + STACK_SECONDS
        seen = before
        while time.monotonic() < deadline:
            time.sleep(0.02)
            size = self._output.stat().st_size
            if size > before and size == seen:  # it has begun, and grows no more
                break
            seen = size
        return read_from(self._output, before)

    def printed(self) -> str:
        """The end of what it printed, with the stack of a crash."""
        return read_from(self._output, 0, 4096)

    def end(self, grace_seconds: float = 0.0) -> str:
        """See to it that it is gone and say how it went: 'exit code 3', 'signal SIGSEGV'."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(grace_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)  # also what the environment itself has started
        self._popen.wait()
        self.connection.close()
        if self._lifeline_end >= 0:
            os.close(self._lifeline_end)
            self._lifeline_end = -1
        code = self._popen.returncode
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def start_worker(folder: Path, **facts: Any) -> WorkerProcess:
    """Start a worker from the facts of its plan, with a lifeline of its own."""
    lifeline, end = os.pipe()
    return WorkerProcess(WorkerPlan(parent=os.getpid(), lifeline=lifeline, **facts), end, folder)
