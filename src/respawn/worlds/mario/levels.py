"""The 32 levels by their names."""

from dataclasses import dataclass

from respawn.errors import ConfigError

WORLDS, STAGES = 8, 4

_LEVELS_WITH_AN_ENTRANCE = frozenset({1, 2, 4, 7})
"""Worlds whose second level begins with a walk into a pipe, which the game counts as an area of its own."""

MAZES = ("4-4", "7-4", "8-4")
"""Castles where a wrong turn leads back to an earlier place."""


@dataclass(frozen=True, slots=True, order=True)
class Level:
    """A world and a stage, both counted from 1."""

    world: int
    stage: int

    def __str__(self) -> str:
        return f"{self.world}-{self.stage}"

    @property
    def area(self) -> int:
        """What the game calls the level's first area."""
        after_entrance = self.stage > 2 and self.world in _LEVELS_WITH_AN_ENTRANCE
        return self.stage - 1 + after_entrance


ALL_LEVELS = tuple(Level(world, stage) for world in range(1, WORLDS + 1) for stage in range(1, STAGES + 1))


def find_level(name: str) -> Level:
    """The level called `name`, such as 1-1."""
    for level in ALL_LEVELS:
        if str(level) == name:
            return level
    raise ConfigError(f"a level is called 1-1 to 8-4, world and stage, and '{name}' is none")


def find_levels(names: tuple[str, ...] | list[str]) -> tuple[Level, ...]:
    """The levels of a list of names; 1-3..2-2 stands for all from 1-3 to 2-2, 'all' for every level."""
    if tuple(names) == ("all",):
        return ALL_LEVELS
    levels = tuple(level for name in names for level in _span(name))
    if not levels:
        raise ConfigError("at least one level must be named, such as 1-1; 'all' stands for every level")
    if len(set(levels)) < len(levels):
        raise ConfigError(f"levels must be named once each, and of {', '.join(names)} one is there twice")
    return levels


def _span(name: str) -> tuple[Level, ...]:
    """One level, or those from one to another."""
    first, dots, last = name.partition("..")
    if not dots:
        return (find_level(name),)
    ends = find_level(first), find_level(last)
    if ends[0] > ends[1]:
        raise ConfigError(
            f"a span of levels goes from the earlier one to the later one, and '{name}' does not; swap them"
        )
    return ALL_LEVELS[ALL_LEVELS.index(ends[0]) : ALL_LEVELS.index(ends[1]) + 1]
