"""Films of trained schools of fish: which episodes, what their frames show, and where they are written."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Episode
from respawn.contracts.settings import check_at_least, check_between
from respawn.contracts.world import Frame
from respawn.errors import ConfigError
from respawn.evaluation.fish_evaluator import SCHOOLS_AT_A_TIME
from respawn.evaluation.fish_report import worst_episodes
from respawn.evaluation.out_files import prepare_place
from respawn.evaluation.school_recordings import SchoolRecording
from respawn.evaluation.schools import SchoolRecord
from respawn.evaluation.video import check_film_path, write_film
from respawn.training.school_stage import STEPS_PER_SECOND, SchoolStage, tanks_to_watch
from respawn.training.trained import Trained
from respawn.worlds.fish.config import MOST_FISH
from respawn.worlds.fish.painter import TankPainter

FINAL_FRAMES = 25
"""How long the last picture stands."""
MOST_SEEDS = 100_000

Tell = Callable[[str, float], None]
"""is told what is being done, and which part of all is done"""


@dataclass(frozen=True)
class SchoolFilmOrder:
    """What to film."""

    fish: int = 96
    """in each school"""
    seed: int = 3_000_000
    """of the first school; the others follow"""
    episodes: int = 1
    """that are filmed, one after the other"""
    best_of: int | None = None
    """so many are played, and those filmed in which most survive; None: the first are"""
    worst_of: int | None = None
    """so many are played, and those filmed in which fewest survive; None: the first are"""
    greedy: bool = True
    """take the likeliest actions; False: draw them, as in training"""
    limit_steps: int = 10_000
    """longer episodes are cut"""
    most_gif_bytes: int = 1_000_000

    def __post_init__(self) -> None:
        """Refuse what cannot be filmed."""
        check_between("--", self, {"fish": (1, MOST_FISH), "episodes": (1, SCHOOLS_AT_A_TIME)})
        check_between("--", self, {"best_of": (1, MOST_SEEDS), "worst_of": (1, MOST_SEEDS)})
        check_at_least("--", self, {"seed": 0, "limit_steps": 1})
        if self.best_of is not None and self.worst_of is not None:
            raise ConfigError("a film is of the best or of the worst schools; leave out --best-of or --worst-of")
        for name, count in (("best", self.best_of), ("worst", self.worst_of)):
            if count is not None and count < self.episodes:
                raise ConfigError(
                    f"--{name}-of must be at least --episodes, which is {self.episodes}, and {count} came"
                )

    @property
    def seeds(self) -> range:
        """Of all that are played: those of an evaluation with this seed-base and so many episodes."""
        return range(self.seed, self.seed + (self.best_of or self.worst_of or self.episodes))


@dataclass(frozen=True)
class SchoolTake:
    """One school that was filmed."""

    seed: int
    episode: Episode
    fish: int
    """that it began with"""
    death_steps: tuple[int, ...]
    """of each fish; -1: it survived"""
    as_played: bool = True
    """whether what was filmed went exactly as it had when it was chosen"""


def film_schools(
    trained: Trained,
    order: SchoolFilmOrder,
    out: Path,
    *,
    knobs: Knobs | None = None,
    device_name: str = "cpu",
    tell: Tell = lambda doing, part: None,
) -> list[SchoolTake]:
    """Film a policy; the film is there, whole, when this returns what was filmed.

    Schools begin as when they are judged, so those of one batch of `respawn evaluate` are those of its film.

    Args:
      trained: the policy.
      order: which schools, and how.
      out: an .mp4 or a .gif.
      knobs: how fast schools begin and how crowding is paid, if not as the run is set up.
      device_name: where to compute.
      tell: is told what is being done, and which part of all is done.
    """
    check_film_path(out)
    tanks = tanks_to_watch(trained.config, order.fish, order.limit_steps)
    prepare_place(out)
    stage = SchoolStage(trained, tanks, len(order.seeds), knobs=knobs, device_name=device_name)
    tell(f"playing {len(order.seeds)}", 0.0)
    wanted, played = list(range(order.episodes)), None
    if order.best_of or order.worst_of:
        played = stage.play(order.seeds, stage.dice(order.seed, greedy=order.greedy))
        wanted = best_episodes(played, order.episodes) if order.best_of else worst_episodes(played, order.episodes)
    recordings = stage.record(order.seeds, wanted, stage.dice(order.seed, greedy=order.greedy))
    write_film(
        out,
        _frames(recordings, f"{trained.name}, {trained.checkpoint}", tell),
        frames_per_second=STEPS_PER_SECOND,
        most_gif_bytes=order.most_gif_bytes,
    )
    return [
        take_of(recording, None if played is None else played[place].death_steps)
        for place, recording in zip(wanted, recordings, strict=True)
    ]


def best_episodes(records: Sequence[SchoolRecord], count: int) -> list[int]:
    """Places of the episodes with the most survivors, the best first."""
    return sorted(range(len(records)), key=lambda place: (-records[place].alive, place))[:count]


def take_of(recording: SchoolRecording, death_steps: Sequence[int] | None = None) -> SchoolTake:
    """What was filmed, beside what had happened when it was first played, if it was."""
    record = recording.record
    return SchoolTake(
        seed=record.seed,
        episode=record.episode,
        fish=len(record.death_steps),
        death_steps=record.death_steps,
        as_played=death_steps is None or tuple(death_steps) == record.death_steps,
    )


def paint(recording: SchoolRecording, title: str) -> Iterator[Frame]:
    """A picture of each moment, from the beginning on."""
    painter = TankPainter()
    for moment in recording.moments:
        yield painter.paint(moment, title)


def _frames(recordings: Sequence[SchoolRecording], title: str, tell: Tell) -> Iterator[Frame]:
    for number, recording in enumerate(recordings):
        picture: Frame | None = None
        for step, picture in enumerate(paint(recording, f"{title}   seed {recording.record.seed}")):
            tell(f"filming step {step}", (number + step / len(recording.moments)) / len(recordings))
            yield picture
        if picture is not None:
            yield from [picture] * FINAL_FRAMES
