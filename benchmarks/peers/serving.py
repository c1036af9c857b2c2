"""What a peer's script says to whoever measures it.

A script is started with `--rom PATH` and prints `ready`, or `missing PACKAGE` if its peer is not installed. Then it
answers each line `measure SECONDS` of standard input with a line of JSON: decisions made, seconds they took, and
seconds of the processor among them. It ends when standard input does.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SKIP = 4
SIDE = 84
STACK = 4
LEVEL_STEPS = 400
"""Decisions made before the first measurement, so that episodes are met at every age and not only at their begin."""

A, B, START, LEFT, RIGHT = 0x01, 0x02, 0x08, 0x40, 0x80
SIMPLE_ACTIONS = np.array([0, RIGHT, RIGHT | A, RIGHT | B, RIGHT | A | B, A, LEFT], np.uint8)
"""What everyone plays, each as likely as the others; bit 0 A, 1 B, 2 Select, 3 Start, 4 Up, 5 Down, 6 Left, 7 Right."""


def serve(make: Callable[[Path], Callable[[], int]]) -> None:
    """Answer until nobody asks any more.

    Args:
      make: From a ROM to a function that steps the peer once and answers how many decisions that were.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--rom", type=Path, required=True)
    rom: Path = parser.parse_args().rom
    answer(lambda: make(rom), LEVEL_STEPS)


def answer(make: Callable[[], Callable[[], int]], warmup_steps: int) -> None:
    """The same for a peer that needs no ROM.

    Args:
      make: Makes a function that steps the peer once and answers how many decisions that were.
      warmup_steps: Steps before it is ready.
    """
    # Peers print what they like; only answers may come out where answers are read.
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        step = make()
    except ImportError as error:
        print(f"missing {error.name or error}", file=answers, flush=True)
        return
    for _ in range(warmup_steps):
        step()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        word, seconds = line.split()
        assert word == "measure", line
        print(json.dumps(measure(step, float(seconds))), file=answers, flush=True)


def measure(step: Callable[[], int], seconds: float) -> dict[str, float]:
    """Step for as long as asked, at least once."""
    decisions, cpu, begun = 0, time.process_time(), time.perf_counter()
    while (taken := time.perf_counter() - begun) < seconds or not decisions:
        decisions += step()
    return {"decisions": decisions, "seconds": taken, "cpu_seconds": time.process_time() - cpu}
