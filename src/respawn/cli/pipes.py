"""When whoever read our output has gone, or was never there."""

import os
import sys


def open_closed_streams() -> None:
    """Let standard streams that were closed before we began (`>&-`) lead nowhere: Python has None for them.

    The lowest free number is taken, so no file that is opened later gets the number of a standard stream.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def forget_stdout() -> None:
    """Send what is still to be printed nowhere, so that Python does not fail on it when it leaves."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
