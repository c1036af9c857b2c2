"""A `python -m respawn` beside the tests: started, watched, signalled."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from respawn.training.config import RunConfig

PATIENCE_SECONDS = 90.0


def start(*words: str) -> "subprocess.Popen[str]":
    """Start respawn, from the tests' folder so that modules in it can be imported."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "respawn", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def words_for(config: RunConfig) -> list[str]:
    """The options that turn a CartPole preset into `tiny`."""
    collection, evaluation = config.collection, config.evaluation
    words = {
        "model.hidden-sizes": "16",
        "model.core": config.model.core,
        "model.core-size": config.model.core_size,
        "collection.num-lanes": collection.num_lanes,
        "collection.horizon-steps": collection.horizon_steps,
        "collection.lag": collection.lag,
        "evaluation.every-updates": evaluation.every_updates,
        "evaluation.episodes": evaluation.episodes,
        "evaluation.num-lanes": evaluation.num_lanes,
        "evaluation.limit-steps": evaluation.limit_steps,
        "checkpoints.every-updates": config.checkpoints.every_updates,
    }
    named = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    return [*named, "--model.no-separate-value", "--observers.no-tensorboard"]


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a process does; fails if it ends or takes too long."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if process.poll() is not None or time.monotonic() > give_up:
            process.kill()
            raise AssertionError(f"it never happened: {process.communicate()}")
        time.sleep(0.002)
