"""How a tank is set up."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError
from respawn.worlds.fish.constants import SPAWN_RADIUS, TANK_RADIUS, VISION_RADIUS

MOST_FISH = 4096
HEADINGS = (
    (0.0, 60.0, 1.1),
    (60.0, 90.0, 0.8),
    (90.0, 120.0, 0.08),
    (120.0, 150.0, 0.05),
    (150.0, 210.0, 0.9),
    (210.0, 270.0, 1.3),
    (270.0, 330.0, 1.2),
    (330.0, 360.0, 0.95),
)
SPEEDS = ((0.0, 1.0, 1.6), (1.0, 1.6, 1.3), (1.6, 2.0, 0.7), (2.0, 2.4, 0.35), (2.4, 3.0, 0.2))

EPISODE_NUMBERS = ("survival", "alive", "mean_survival", "mean_alive", "first_death", "step_one_deaths", "hard_start")
"""What each episode of a school says of itself."""


@dataclass(frozen=True)
class FishRewards:
    """What a fish is paid in each step, before the scale."""

    alive: float = 2.0
    """for being alive"""
    sight: float = 10.0
    """for the distance to a predator in sight, as a share of the vision radius; not if smooth"""
    out_of_sight: float = 5.0
    """for a predator out of sight"""
    wall: float = 2.0
    """price of touching the wall; it begins one unit before it"""
    reach: float = VISION_RADIUS
    """the distance at which a predator pays as much as one out of sight, if smooth"""
    scale: float = 0.1
    """of all the above"""
    death: float = 50.0
    """price of being caught, not scaled"""
    smooth: bool = True
    """pay at most as much for a predator in sight as for one out of sight: shadowing it then earns nothing"""

    def __post_init__(self) -> None:
        """Refuse what no reward can be."""
        check_above("world.rewards.", self, {"reach": 0})
        for name in ("alive", "sight", "out_of_sight", "wall", "scale", "death"):
            check_between("world.rewards.", self, {name: (-1e6, 1e6)})


LEGACY_REWARDS = FishRewards(smooth=False)


@dataclass(frozen=True)
class FishConfig:
    """Schools of fish, a lane each, in a round tank with a predator that falls and bounces.

    The defaults are the distribution that the reference system was judged on, with its faults corrected.
    """

    kind: Annotated[Literal["fish"], tyro.conf.Suppress] = "fish"
    fish: int = 25
    """fish in a school; a curriculum may put fewer into it. Lanes are fish: collection.num-lanes is a multiple"""
    steering: Literal["discrete", "continuous"] = "discrete"
    """discrete: forward, left, right, brake or coast; continuous: how sharply to turn and how hard to swim or brake"""
    neighbours: bool = True
    """also sense the fish nearby: 18 numbers instead of 11"""
    neighbour_radius: float = 3.0
    """how far away a fish still counts as a neighbour"""
    neighbour_count: int = 6
    """nearest neighbours whose places are averaged; and how many make a full neighbourhood"""
    limit_steps: int = 500
    """an episode's length"""
    forced_reset_steps: int = 0
    """cut every episode after so many steps, to begin from hard starts more often; 0: never"""

    forced_reset_share: float = 1.0
    """which share of the episodes is cut so; the others go on to their end"""
    staggered: bool = False
    """cut each school's first episode at a step of its own, so that schools do not march in step"""

    spawn_radius: float = SPAWN_RADIUS
    """fish begin within this distance of the centre; less than 8 brings more of them into danger"""
    escape_boost: bool = True
    """fish begin swimming outwards instead of anywhere"""
    escape_boost_speed: float = 0.8
    """how fast, as a share of the greatest speed"""
    escape_jitter: float = 0.35
    """how far off the outward direction, in radians (standard deviation)"""
    density_penalty: float = 0.0
    """price of a crowded neighbourhood"""
    density_target: float = 0.4
    """how full a neighbourhood may be for nothing"""
    divergence_reward: float = 0.0
    """reward for neighbours that swim away"""
    rewards: FishRewards = field(default_factory=FishRewards)
    """what a fish is paid"""

    predator_spawn_radius: float = 1.6
    """the predator appears within this distance of the centre"""
    pre_roll_steps: int = 16
    """steps that the predator makes before the fish may move"""
    pre_roll_angle_jitter: float = 0.3
    """how far its heading is turned in each of them, in radians"""
    pre_roll_speed_jitter: float = 0.2
    """how much its speed is changed in each of them"""
    headings: Annotated[tuple[tuple[float, float, float], ...], tyro.conf.Suppress] = HEADINGS
    """where it first swims to: (from degrees, to degrees, weight); none: to +x"""
    speeds: Annotated[tuple[tuple[float, float, float], ...], tyro.conf.Suppress] = SPEEDS
    """how fast it is in each step before the fish may move: (from, to, weight); none: as it was"""

    judged_fish: int = 96
    """fish in a school when the policy is judged"""
    judged_seeds: Literal["consecutive", "reference"] = "consecutive"
    """consecutive: every evaluation plays the seeds from evaluation.seed-base on; reference: each plays fresh ones from
    the reference's stream, which begins at evaluation.seed-base"""

    generator: Literal["hash", "numpy"] = "hash"
    """what episodes are drawn from: a hash that any device computes, or the reference's NumPy generators, so that
    recorded seeds give the recorded episodes"""
    whole_circle: bool = True
    """headings up to 360 degrees count; off: a sector that ends at 360 is dropped, as in the reference"""
    limit_truncates: bool = True
    """the time limit cuts an episode; off: it ends it, so that nothing is expected after it, as in the reference"""
    spawn_distance: float = 0.0
    """least distance from the predator at which a fish begins; nearer ones are moved straight away from it"""
    keep_injected_speed: bool = True
    """a predator velocity that is given keeps its speed in the steps before the fish may move"""

    def __post_init__(self) -> None:
        """Refuse what no tank can be."""
        check_between("world.", self, {"fish": (1, MOST_FISH), "judged_fish": (1, MOST_FISH)})
        check_between("world.", self, {"spawn_radius": (0.0, TANK_RADIUS)})
        check_above("world.", self, {"neighbour_radius": 0})
        check_at_least("world.", self, {"neighbour_count": 1, "limit_steps": 1, "forced_reset_steps": 0})
        fractions = {
            "escape_boost_speed": (0.0, 1.0),
            "density_target": (0.0, 1.0),
            "forced_reset_share": (0.0, 1.0),
            "pre_roll_speed_jitter": (0.0, 1.0),
        }
        check_between("world.", self, fractions)
        check_between("world.", self, {"pre_roll_steps": (0, 10_000), "neighbour_radius": (0.0, 20.0)})
        check_between("world.", self, {"predator_spawn_radius": (0.0, 10.0), "spawn_distance": (0.0, 5.0)})
        check_between("world.", self, {"escape_jitter": (0.0, 10.0), "pre_roll_angle_jitter": (0.0, 10.0)})
        check_between("world.", self, {"density_penalty": (0.0, 100.0), "divergence_reward": (-100.0, 100.0)})
        for name in ("headings", "speeds"):
            _check_spans(name, getattr(self, name))
        for start, end, _ in self.speeds:
            if not 0 <= start < end:
                raise ConfigError(f"world.speeds wants spans from a lower to a higher speed, and {start}-{end} came")

    def as_judged(self, fish: int) -> "FishConfig":
        """The tanks that policies are judged in: those of the reference, whatever the run learned in.

        Its NumPy generators, its headings and its spawns near the predator: so survival can be compared over all runs,
        and a seed means the same everywhere.
        """
        return replace(
            self,
            fish=fish,
            generator="numpy",
            whole_circle=False,
            spawn_radius=SPAWN_RADIUS,
            spawn_distance=0.0,
            forced_reset_steps=0,
            forced_reset_share=1.0,
            staggered=False,
        )

    @property
    def num_values(self) -> int:
        """Numbers in an observation."""
        return 18 if self.neighbours else 11

    @property
    def heading_sectors(self) -> tuple[tuple[float, float, float], ...]:
        """The headings as they are drawn from: split where they cross 0, without those that have no weight or width."""
        sectors: list[tuple[float, float, float]] = []
        for start, end, weight in self.headings:
            if weight <= 0 or start == end:
                continue
            low, high = start % 360.0, end % 360.0
            if high == 0.0 and end > start:
                if not self.whole_circle:
                    continue
                high = 360.0
            if high > low:
                sectors.append((low, high, weight))
            else:
                sectors += [(low, 360.0, weight)] if self.whole_circle else []
                sectors += [(0.0, high, weight)] if high > 0 else []
        return tuple(sectors)


def _check_spans(name: str, spans: tuple[tuple[float, float, float], ...]) -> None:
    for span in spans:
        if len(span) != 3 or not all(abs(number) < 1e6 for number in span) or span[2] < 0:
            raise ConfigError(
                f"world.{name} wants (from, to, weight) with finite numbers and no negative weight, and {span} came"
            )
    if spans and not any(weight > 0 for _, _, weight in spans):
        raise ConfigError(f"world.{name} wants at least one weight above 0; leave it empty to draw nothing")
