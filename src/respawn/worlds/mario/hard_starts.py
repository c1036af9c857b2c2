"""Beginnings in the middle of a level, as the buttons that lead there.

A start is a few numbers and nothing of the game: which level, how long Mario stood still, and what was held in each
decision from there. The console is deterministic, so holding them again leads to the very same moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from respawn.errors import ConfigError
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.levels import Level

LONGEST = 20_000
"""Decisions that a start may hold."""
_NUMBERS = ("world", "stage", "wait", "frame_skip", "skip_cutscenes")


@dataclass(frozen=True)
class HardStart:
    """How to get there."""

    level: Level
    wait: int
    """frames that Mario stood still before the first decision"""
    held: tuple[int, ...]
    """what was held in each decision, a byte each: chance has already spoken"""

    def state(self, config: MarioConfig) -> dict[str, Any]:
        """As the plain numbers of a `Start`, with the settings that the buttons only make sense with."""
        return {
            "world": self.level.world,
            "stage": self.level.stage,
            "wait": self.wait,
            "frame_skip": config.frame_skip,
            "skip_cutscenes": int(config.skip_cutscenes),
            "held": list(self.held),
        }


def read_start(state: Mapping[str, Any], config: MarioConfig) -> HardStart:
    """The start that plain numbers stand for; raises ConfigError where this world cannot begin there."""
    if set(state) != {*_NUMBERS, "held"} or not isinstance(state["held"], Sequence):
        raise ConfigError(
            f"a hard start of Mario has {', '.join(_NUMBERS)} and a list of bytes called held, and this one has "
            f"{', '.join(sorted(state)) or 'nothing'}; use starts that Mario's evaluations found"
        )
    numbers = {name: int(state[name]) for name in _NUMBERS}
    start = HardStart(
        Level(numbers["world"], numbers["stage"]), numbers["wait"], tuple(int(byte) for byte in state["held"])
    )
    if start.level not in config.start_levels:
        raise ConfigError(f"a hard start is in {start.level}, which is none of world.levels; add it or drop the start")
    if not 0 <= start.wait <= config.most_waiting_frames:
        raise ConfigError(
            f"a hard start stood still for {start.wait} frames, and world.start-jitter and world.noop-starts allow 0 "
            f"to {config.most_waiting_frames}; raise them or drop the start"
        )
    made_with = (numbers["frame_skip"], bool(numbers["skip_cutscenes"]))
    if made_with != (config.frame_skip, config.skip_cutscenes):
        raise ConfigError(
            f"a hard start was made with world.frame-skip {made_with[0]} and world.skip-cutscenes {made_with[1]}, and "
            f"here they are {config.frame_skip} and {config.skip_cutscenes}; set them so or drop the start"
        )
    if len(start.held) > LONGEST or any(not 0 <= byte <= 255 for byte in start.held):
        raise ConfigError(f"a hard start holds at most {LONGEST} bytes from 0 to 255, and this one does not; drop it")
    return start
