"""How the Mario world is set up."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, get_args

import tyro

from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError
from respawn.worlds.mario.buttons import action_names
from respawn.worlds.mario.levels import Level, find_levels
from respawn.worlds.mario.rom import Region

EPISODE_NUMBERS = (
    "cleared", "x", "end_x", "end_y", "raw_return", "score", "coins", "time_left", "seconds", "flags", "loops",
    "in_first_area", "hard_start",
)  # fmt: skip
"""What the world says of each episode beside its level, as numbers; see `progress.Progress.facts`."""
REWARD_LIMIT = 1_000_000.0
Observation: TypeAlias = Literal["tiles", "pixels"]
_PREFIX = "world.rewards."


@dataclass(frozen=True)
class RewardConfig:
    """What each thing that happens is worth. A knob each: schedules.reward-… bends it over the run."""

    distance: float = 0.1
    """for each pixel to the right, minus each to the left; ground covered before a maze threw Mario back pays once"""
    score: float = 0.0
    """for each point of the game's score"""
    time: float = -0.1
    """for each tick of the game's clock"""
    flag: float = 10.0
    """for reaching the flagpole or the axe; not scaled"""
    death: float = -1.0
    """for losing a life, however; not scaled"""
    falls_pay: bool = False
    """keep what was paid for the pixels of a fall to his death, which then can be worth more than staying alive"""
    milestone: float = 0.0
    """each time that milestone-pixels of new ground were covered; a fall does not take them back"""
    milestone_pixels: int = 256
    """how far milestones are apart"""
    scale: float = 0.2
    """times the sum of distance, score, time and milestones"""

    def __post_init__(self) -> None:
        """Refuse what cannot be added up."""
        names = ("distance", "score", "time", "flag", "death", "milestone", "scale")
        check_between(_PREFIX, self, dict.fromkeys(names, (-REWARD_LIMIT, REWARD_LIMIT)))
        check_at_least(_PREFIX, self, {"milestone_pixels": 1})


REWARDS = {
    "respawn": RewardConfig(),
    "seed": RewardConfig(distance=1 / 80, score=1.0, time=0.0, flag=5.0, death=-5.0, falls_pay=True, scale=0.2),
}
"""Ours, and the formula of the system that this one was asked to replace: score gained plus weighted distance, scaled,
then added to what ends are worth; there the scale falls to half over the run (preset mario-seed)."""


@dataclass(frozen=True)
class MarioConfig:
    """Super Mario Bros. on our own console."""

    kind: Annotated[Literal["mario"], tyro.conf.Suppress] = "mario"
    levels: tuple[str, ...] = ("1-1",)
    """where episodes begin: one level, several of which each episode draws one, a span such as 1-1..1-4, or 'all'"""
    observation: Observation = "tiles"
    """tiles: what stands round Mario, read from memory. pixels: what the screen shows"""
    actions: Literal["right", "simple", "complex", "extended"] = "simple"
    """which combinations of buttons there are to choose from: 5, 7, 12 or 8"""
    buttons: tuple[str, ...] = ()
    """a set of one's own instead, such as: RIGHT+B RIGHT+A+B NONE"""
    rewards: RewardConfig = field(default_factory=RewardConfig)
    """what each thing that happens is worth"""
    frame_skip: int = 4
    """frames that each decision holds"""
    sticky: float = 0.0
    """chance that a decision is not heard and the one before it goes on"""
    start_jitter: int = 0
    """an episode begins after 0 to this many frames of standing still"""
    noop_starts: int = 0
    """and after 0 to this many decisions of standing still on top"""
    skip_cutscenes: bool = True
    """run on without a decision while Mario does not obey: in pipes, growing, under the picture, between levels"""
    whole_game: bool = False
    """go on with the next level after a flag and with the next life after a death, until all are lost"""
    stall_steps: int = 240
    """cut an episode after this many decisions without getting any further; 0: never"""
    limit_steps: int = 4_000
    """cut an episode after this many decisions; 0: never"""
    maze_ends: bool = False
    """a help for mazes: an episode ends where a wrong turn leads back"""
    rows_above: int = 7
    """tiles: rows above Mario"""
    rows_below: int = 7
    """tiles: rows under him"""
    columns_behind: int = 4
    """tiles: columns to his left"""
    columns_ahead: int = 11
    """tiles: columns to his right"""
    picture_size: int = 84
    """pixels: height and width"""
    frame_stack: int = 4
    """pixels: how many pictures, one a decision, are seen at a time"""
    max_of_two: bool = False
    """pixels: the brighter of the last two frames, for sprites that flicker"""
    rom: str = ""
    """file of the game; empty: where 'respawn doctor rom' finds it"""
    region: Region = "ntsc"
    """which of the two programs; the console keeps NTSC's time with either"""
    engine_threads: int = 1
    """threads that run the consoles; 0: one a core. No number of them changes a result"""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        find_levels(self.levels)
        action_names(self.buttons or self.actions)
        for name, choices in (("observation", get_args(Observation)), ("region", get_args(Region))):
            if getattr(self, name) not in choices:
                raise ConfigError(f"world.{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        check_between(
            "world.",
            self,
            {
                "frame_skip": (1, 60),
                "sticky": (0.0, 0.99),
                "start_jitter": (0, 240),
                "noop_starts": (0, 60),
                "rows_above": (1, 12),
                "rows_below": (1, 12),
                "columns_behind": (0, 8),
                "columns_ahead": (1, 14),
                "picture_size": (16, 240),
                "frame_stack": (1, 16),
                "engine_threads": (0, 1024),
            },
        )
        check_at_least("world.", self, {"stall_steps": 0, "limit_steps": 0})
        if self.whole_game and len(self.start_levels) > 1:
            raise ConfigError(
                f"world.whole-game begins in one level and goes on from there, and {len(self.start_levels)} are named; "
                "name one"
            )

    @property
    def start_levels(self) -> tuple[Level, ...]:
        """Where episodes begin."""
        return find_levels(self.levels)

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action presses."""
        return action_names(self.buttons or self.actions)

    @property
    def most_waiting_frames(self) -> int:
        """The longest that an episode stands still before it begins."""
        return self.start_jitter + self.noop_starts * self.frame_skip
