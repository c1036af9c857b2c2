"""No child outlives its parent: what a child does about it, first of all. Imports no torch, to be up quickly."""

import contextlib
import fcntl
import os
import select
import signal
import sys
import threading
import time

ORPHAN_GRACE_SECONDS = 1.0


def live_and_die_with(parent: int, lifeline: int) -> None:
    """Leave interrupts to the parent, and end when it is gone.

    Args:
      parent: its process id.
      lifeline: descriptor of a pipe that ends when the parent is gone.
    """
    # The parent decides what an interrupt means; a child that dies of one would look lost.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_lifeline(lifeline)
    threading.Thread(target=_end_with_parent, args=(lifeline, parent), daemon=True).start()


def _end_with_lifeline(lifeline: int) -> None:
    """Have the kernel kill this child's process group, with all that it started, when the pipe ends.

    That needs no thread of ours to run, so it also reaches a child whose native code holds the interpreter's lock.
    PR_SET_PDEATHSIG would not do: it fires when the thread ends that started the child, not the process.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a sandbox may not offer it; the thread is there all the same
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())  # we lead a group of our own
            fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _end_with_parent(lifeline: int, parent: int) -> None:
    """Make sure that no child outlives its parent, where the kernel does not see to it.

    The pipe ends with the parent, unless another child of the parent's inherited it; then the new parent shows it.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([lifeline], [], [], 1.0)
        if readable:
            break
    time.sleep(ORPHAN_GRACE_SECONDS)  # the main thread sees the end of its own pipe, and may close what it has open
    os.killpg(os.getpid(), signal.SIGKILL)
