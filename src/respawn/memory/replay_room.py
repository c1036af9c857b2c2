"""How many segments there is room for: known before the first rollout comes."""

import math
from typing import NamedTuple

import psutil
import torch

from respawn.contracts.records import Memory
from respawn.contracts.world import WorldSpec
from respawn.errors import ConfigError
from respawn.memory.replay_config import ReplayConfig
from respawn.memory.rollout_buffer import row_shapes

HALVED = ("behaviour_log_probs", "rewards")
"""What may be kept in 16 bits."""


class Room(NamedTuple):
    """Numbers of segments."""

    wanted: int
    fitting: int
    """into the memory limit"""

    @property
    def capacity(self) -> int:
        """How many are kept."""
        return min(self)


def find_room(config: ReplayConfig, num_steps: int, num_lanes: int, segment_bytes: int) -> Room:
    """Room for segments of so many steps; raises ConfigError if it holds no rollout of so many lanes, or no replay."""
    room = Room(config.capacity_decisions // num_steps, int(config.memory_gb * 1e9 / segment_bytes))
    needed = max(num_lanes, config.segments)
    if room.capacity < needed:
        raise ConfigError(
            f"replay has room for {room.capacity} segments of {num_steps} steps ({segment_bytes:,} bytes each), and "
            f"needs at least {needed}, for one rollout and one replay; raise "
            f"learner.replay.{'memory-gb' if room.fitting < room.wanted else 'capacity-decisions'}"
        )
    return room


def segment_bytes(config: ReplayConfig, spec: WorldSpec, num_steps: int, memory: Memory) -> int:
    """What a lane of a rollout takes, with one cut observation; `memory` is a model's, of any number of lanes."""
    rows = row_shapes(spec, num_steps)
    sizes = [
        math.prod((shape[0], *shape[2:])) * (2 if config.half_scalars and name in HALVED else dtype.itemsize)
        for name, (shape, dtype) in rows.items()
    ]
    (_, _, *observation), dtype = rows["observations"]
    kept = sum(part[0].numel() * part.element_size() for part in memory.values())
    return sum(sizes) + math.prod(observation) * dtype.itemsize + kept


def check_room(config: ReplayConfig, spec: WorldSpec, num_steps: int, memory: Memory, device: torch.device) -> None:
    """Refuse what the first update would stumble over: too little room, or more than the computer has."""
    size = segment_bytes(config, spec, num_steps, memory)
    needed = find_room(config, num_steps, spec.num_lanes, size).capacity * size
    there = psutil.virtual_memory().total
    if (device.type == "cpu" or config.storage == "cpu") and needed > there:
        raise ConfigError(
            f"replay would take {needed / 1e9:,.1f} GB, and this computer has {there / 1e9:,.1f}; lower "
            "learner.replay.capacity-decisions or learner.replay.memory-gb"
        )
