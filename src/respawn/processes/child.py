"""One child process as its parent sees it: started, spoken to, asked for its stack, ended."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from respawn.processes.marks import read_from

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
from importlib import import_module
import_module(sys.argv[2]).run(connection, connection.recv())
"""
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
STACK_SECONDS = 1.0


@dataclass(frozen=True)
class Family:
    """What a child needs to know of its parent, to end with it."""

    parent: int
    """process id"""
    lifeline: int
    """descriptor of a pipe that ends when the parent is gone"""


class ChildProcess:
    """A running child. `began` is when it was last given something to do."""

    def __init__(
        self,
        module: str,
        plan: Callable[[Family], Any],
        *,
        output: Path,
        threads: int,
        descriptors: Sequence[int],
    ) -> None:
        """Start an interpreter that calls `module.run(connection, plan)`.

        Args:
          module: What to import; its `run` serves until told to close.
          plan: All that the child is told when it starts, given what it must know of its family.
          output: Where what it prints goes, appended.
          threads: What BLAS and torch may use in it.
          descriptors: Of the memory that it shares with us.
        """
        lifeline, self._lifeline_end = os.pipe()
        self._output = output
        self.connection, theirs = multiprocessing.Pipe()
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        with self._output.open("ab") as printed:
            self._popen = subprocess.Popen(
                [sys.executable, "-c", BOOTSTRAP, str(theirs.fileno()), module],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                pass_fds=(theirs.fileno(), lifeline, *descriptors),
                # Its own group: an interrupt typed at the terminal is the parent's, and children of the child's own
                # can be ended together with it.
                process_group=0,
            )
        theirs.close()
        os.close(lifeline)
        self.began = time.monotonic()
        with contextlib.suppress(OSError):  # one that is gone already shows as such when its answer is awaited
            self.connection.send(sys.path)
            self.connection.send(plan(Family(os.getpid(), lifeline)))

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
            os.killpg(self._popen.pid, signal.SIGKILL)  # also what the child itself has started
        self._popen.wait()
        self.connection.close()
        if self._lifeline_end >= 0:
            os.close(self._lifeline_end)
            self._lifeline_end = -1
        code = self._popen.returncode
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
