"""Trains a run in processes that are killed again and again; started by test_many_kills.py, not by pytest itself.

Importing torch takes seconds, so it is imported once, here, and each process to be killed is forked from this one. That
is sound because nothing is computed here and NumPy is told to start no threads either: there is one thread to fork.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import psutil

from respawn.runs.layout import RunFolder
from respawn.training.launch import take_up

PATIENCE_SECONDS = 60.0


def main(path: str, num_kills: str, seed: str) -> None:
    """Kill so many times; prints what happened as JSON."""
    folder, dice = RunFolder(Path(path)), random.Random(int(seed))
    kills = [kill_once(folder, dice, aimed=number % 2 == 1) for number in range(int(num_kills))]
    print(json.dumps(kills))


def fork_training(folder: RunFolder) -> int:
    """A process that takes the run up."""
    assert psutil.Process().num_threads() == 1
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = take_up(folder).exit_code
        finally:
            os._exit(code)
    return child


def kill_once(folder: RunFolder, dice: random.Random, *, aimed: bool) -> dict[str, int | bool]:
    """Kill after none to three more updates and a random delay; if aimed, once a checkpoint is seen being written.

    However fast the machine is, it makes at most five updates before it is killed.
    """
    wanted = count_rows(folder) + dice.randint(0, 3)
    began = time.monotonic()
    child = fork_training(folder)
    wait_for(lambda: count_rows(folder) >= wanted)
    if aimed:
        wait_for(lambda: any(folder.checkpoints.glob(f".writing-*-{child}")))
    else:
        until = time.monotonic() + dice.uniform(0.0, 0.1)
        wait_for(lambda: time.monotonic() > until or count_rows(folder) > wanted)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return {
        "was_killed": os.waitstatus_to_exitcode(status) == -signal.SIGKILL,
        "while_writing": any(folder.checkpoints.glob(f".writing-*-{child}")),
        "while_deleting": any(folder.checkpoints.glob(".deleting-*")),
        "updates": count_rows(folder),
        "milliseconds": round(1000 * (time.monotonic() - began)),
    }


def count_rows(folder: RunFolder) -> int:
    return folder.updates.read_bytes().count(b"\n") if folder.updates.exists() else 0


def wait_for(condition) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > give_up:
            raise TimeoutError("the training process does not come on")
        time.sleep(0.0005)


if __name__ == "__main__":
    main(*sys.argv[1:])
