import hashlib

import pytest
import torch
from three_checkpoints import ROWS, Part

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.store import Identity
from respawn.checkpoints.verification import Surroundings
from respawn.contracts.clock import Clock


@pytest.fixture
def folder(tmp_path):
    """Three checkpoints, and the rows that they know of."""
    (tmp_path / "updates.jsonl").write_bytes(ROWS)
    known = {"updates": {"bytes": len(ROWS), "sha256": hashlib.sha256(ROWS).hexdigest(), "archive": 0}, "console": {}}
    checkpointer = Checkpointer(tmp_path / "checkpoints", CheckpointsConfig(), Identity("settings", "a world"))
    for updates in (1, 2, 3):
        parts = {"weights": Part({"w": torch.ones(2)}), "observers": Part(known), "learner": Part({"a": torch.ones(3)})}
        checkpointer.save(parts, Clock(updates=updates), {})
    return tmp_path


@pytest.fixture
def around(folder):
    streams = {"updates": folder / "updates.jsonl", "rulings": folder / "rulings.jsonl"}
    return Surroundings(streams=streams, config_sha256="settings", world="a world")
