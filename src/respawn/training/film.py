"""Films of trained policies: which episodes, what their frames show, and where they are written."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from respawn.contracts.records import Episode
from respawn.contracts.world import Frame
from respawn.evaluation.out_files import prepare_place
from respawn.evaluation.video import check_film_path, write_film
from respawn.training.config import RunConfig
from respawn.training.playback import Playback, Step
from respawn.training.trained import Trained
from respawn.worlds.mario.panel import Moment, Panel

FINAL_FRAMES = 60
"""How long the last picture stands."""
_HALF_WAY_STEPS = 300
"""How long an episode is cannot be known; the bar is half-way through it by then."""


@dataclass(frozen=True)
class FilmOrder:
    """What to film."""

    seed: int = 3_000_000
    """of the first episode"""
    episodes: int = 1
    """that are filmed, one after the other"""
    best_of: int | None = None
    """so many are played, from consecutive seeds, and the best of them filmed; None: the first are"""
    greedy: bool = True
    """take the likeliest actions; False: draw them, as in training"""
    limit_steps: int = 10_000
    """longer episodes are left"""
    panel: bool = True
    """Mario: with what the agent presses and expects beside the game"""
    most_gif_bytes: int = 1_000_000


@dataclass
class Take:
    """One episode that was played."""

    seed: int
    episode: Episode | None = None
    waited_frames: int = 0
    """Mario: for how many frames he stood still before"""
    held: list[int] = field(default_factory=list)
    """Mario: the buttons of each frame"""

    @property
    def cleared(self) -> bool | None:
        """Whether the level was; None where there are no levels."""
        cleared = None if self.episode is None else self.episode.facts.get("cleared")
        return None if cleared is None else bool(cleared)

    @property
    def merit(self) -> tuple[float, float, float]:
        """Orders takes, the best last: cleared before not, then the quickest, then the furthest or most rewarded."""
        if self.episode is None:
            return (-1.0, 0.0, 0.0)
        cleared = bool(self.cleared)
        x = self.episode.facts.get("x")
        reached = self.episode.episode_return if x is None or isinstance(x, str) else x  # other worlds may say a word
        return (float(cleared), -self.episode.length if cleared else 0.0, float(reached))


def make_film(
    trained: Trained,
    config: RunConfig,
    order: FilmOrder,
    out: Path,
    *,
    device_name: str = "cpu",
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> list[Take]:
    """Film a policy; the film is there, whole, when this returns what was filmed.

    Args:
      trained: the policy.
      config: its own, or one with another world; see `with_world`.
      order: which episodes, and how.
      out: an .mp4 or a .gif.
      device_name: where to compute.
      tell: is told what is being done, and which part of all is done.
    """
    check_film_path(out)
    takes = [Take(order.seed + number) for number in range(order.best_of or order.episodes)]
    playback = Playback(trained, config, device_name=device_name)
    try:
        prepare_place(out)
        if order.best_of is not None:
            takes = _best(trained, config, order, takes, device_name, tell)
        write_film(
            out,
            _frames(playback, order, takes, f"{trained.name}, {trained.checkpoint}", tell),
            frames_per_second=playback.frames_per_second,
            most_gif_bytes=order.most_gif_bytes,
        )
    finally:
        playback.close()
    return takes


def _best(
    trained: Trained,
    config: RunConfig,
    order: FilmOrder,
    takes: Sequence[Take],
    device_name: str,
    tell: Callable[[str, float], None],
) -> list[Take]:
    """The best episodes, as many as are to be filmed, the very best first; played without looking."""
    playback = Playback(trained, config, watched=False, device_name=device_name)
    try:
        for number, take in enumerate(takes):
            tell(f"playing {number + 1} of {len(takes)}", 0.0)
            for step in playback.play(take.seed, greedy=order.greedy, limit_steps=order.limit_steps):
                take.episode = step.episode
    finally:
        playback.close()
    ranked = sorted(takes, key=lambda take: take.merit, reverse=True)
    return [Take(take.seed) for take in ranked[: order.episodes]]


def _frames(
    playback: Playback, order: FilmOrder, takes: Sequence[Take], title: str, tell: Callable[[str, float], None]
) -> Iterator[Frame]:
    for number, take in enumerate(takes):
        panel = Panel(playback.actions, title) if playback.is_mario and order.panel else None
        picture: Frame | None = None
        for step in playback.play(take.seed, greedy=order.greedy, limit_steps=order.limit_steps):
            tell(f"filming step {step.number}", (number + step.number / (step.number + _HALF_WAY_STEPS)) / len(takes))
            take.waited_frames = playback.waited_frames
            take.episode = step.episode
            take.held.extend(step.held)
            for picture in pictures(step, panel):
                yield picture
        if picture is not None:
            yield from [picture] * FINAL_FRAMES


def pictures(step: Step, panel: Panel | None) -> Iterator[Frame]:
    """The frames of one step, and what follows on the last one."""
    aftermath = () if step.aftermath is None else step.aftermath
    if panel is None:
        yield from step.frames
        yield from aftermath
        return
    panel.tell(moment_of(step))
    for frame in step.frames:
        yield panel.frame(frame)
    if step.episode is not None:
        panel.close(step.episode.end)
    for frame in aftermath:
        yield panel.frame(frame)


def moment_of(step: Step) -> Moment:
    """What the panel tells of a step in the Mario world."""
    assert step.action is not None and step.buttons is not None and step.game is not None
    return Moment(
        action=step.action,
        buttons=step.buttons,
        probabilities=step.probabilities,
        value=step.value,
        level=step.game.level,
        x=step.game.x,
        time=step.game.time,
        step=step.number,
    )
