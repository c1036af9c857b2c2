"""What tests of worker processes share."""

import json
from pathlib import Path

import psutil
import pytest
import torch

from respawn.worlds.foreign.config import ForeignConfig


def bad(name: str, **settings: object) -> ForeignConfig:
    limits = {"construct_seconds": 20.0, "step_seconds": 1.0, "reset_seconds": 1.0, "max_replacements": 1}
    return ForeignConfig(env_id=f"bad/{name}-v0", imports=("bad_envs",), **{"workers": 2, **limits, **settings})


def marks(folder: Path, worker: int) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / f"worker-{worker}.jsonl").read_text().splitlines()]


def run_until(world, num_steps):
    actions = torch.ones(world.spec.num_lanes, dtype=torch.int64)
    return [world.step(actions) for _ in range(num_steps)][-1]


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE}


@pytest.fixture(autouse=True)
def no_process_is_left():
    before = children()
    yield
    assert children() <= before
