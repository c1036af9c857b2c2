"""Knobs: the numbers that schedules may turn while a run goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class KnobSpec:
    """A number that its consumer lets others decide."""

    name: str
    default: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Start:
    """A beginning that an episode is to be given. What its state means is known to the world it was made for alone."""

    number: int
    """its place in the queue of all that were ever offered: a world takes none twice"""
    kind: str
    """what sort of beginning it is, such as 'main'"""
    state: Mapping[str, Any]
    """numbers and nested lists of numbers"""


SCRIPT_REASONS = ("plateau", "bootstrap", "sequence", "forward")
"""Why actions are forced. Where two scripts want the same lane, the reason that comes first here has it."""


@dataclass(frozen=True, slots=True)
class Script:
    """Actions that every lane is to take instead of its policy's, for so many decisions."""

    number: int
    """its place among all that were ever offered: no lane begins one twice, unless it belongs to episodes"""
    reason: str
    """one of SCRIPT_REASONS; a later script of the same reason takes the place of an earlier one"""
    parts: tuple[tuple[int, int], ...]
    """an action and for how many decisions, one after the other, and from the beginning again if the budget is more"""
    decisions: int
    """the budget of each lane in all; only decisions that somebody is there for count"""
    each_episode: bool = False
    """begin anew with every episode that begins while the script is offered; else at once, and only then"""


@dataclass(frozen=True, slots=True)
class Knobs:
    """One value for every declared knob, decided anew before each update.

    They hold for one update and for the rollout that is gathered for it, or, with lag 1, beside it: there a rollout is
    learned from one update after the knobs that it was gathered with, and the learner goes by those of its own update.
    """

    version: int
    values: Mapping[str, float]
    starts: tuple[Start, ...] = ()
    """beginnings that wait for episodes to begin, the next one first; for worlds that take them"""
    scripts: tuple[Script, ...] = ()
    """what lanes are to be forced to do, at most one script a reason; for collectors"""

    def __getitem__(self, name: str) -> float:
        return self.values[name]
