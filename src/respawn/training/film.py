"""Episodes as the frames of a film: Mario with the panel beside the game, other worlds as they draw themselves."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from respawn.contracts.records import Episode
from respawn.contracts.world import Frame
from respawn.training.playback import Playback, Step
from respawn.worlds.mario.panel import Moment, Panel

FINAL_FRAMES = 60
"""How long the last picture stands."""


@dataclass
class Take:
    """One episode that was filmed."""

    seed: int
    episode: Episode | None = None
    waited_frames: int = 0
    """Mario: for how many frames he stood still before"""
    buttons: list[int] = field(default_factory=list)
    """Mario: what was held in each step"""

    @property
    def cleared(self) -> bool | None:
        """Whether the level was; None where there are no levels."""
        cleared = None if self.episode is None else self.episode.facts.get("cleared")
        return None if cleared is None else bool(cleared)


def film(
    playback: Playback,
    takes: Iterable[Take],
    *,
    greedy: bool,
    limit_steps: int,
    title: str = "",
    on_step: Callable[[Step], None] = lambda step: None,
) -> Iterator[Frame]:
    """The frames of some episodes, one after the other.

    Args:
      playback: who plays, and where.
      takes: which seeds; what came of each is written into it.
      greedy: take the likeliest actions.
      limit_steps: longer episodes are left.
      title: a few words about the policy, for the panel.
      on_step: is told of every step.
    """
    for take in takes:
        panel = Panel(playback.actions, title) if playback.is_mario else None
        picture: Frame | None = None
        for step in playback.play(take.seed, greedy=greedy, limit_steps=limit_steps):
            take.waited_frames = playback.waited_frames
            take.episode = step.episode
            if step.buttons is not None:
                take.buttons.append(step.buttons)
            for picture in pictures(step, panel):
                yield picture
            on_step(step)
        if picture is not None:
            yield from [picture] * FINAL_FRAMES


def pictures(step: Step, panel: Panel | None) -> Iterator[Frame]:
    """The frames of one step, and what follows on the last one."""
    if panel is None:
        yield from step.frames
        return
    moment = moment_of(step)
    # The verdict is not given before the end is seen.
    panel.tell(moment)
    for frame in step.frames:
        yield panel.frame(frame)
    if step.aftermath is not None and step.episode is not None:
        panel.close(step.episode.end)
        for frame in step.aftermath:
            yield panel.frame(frame)


def moment_of(step: Step) -> Moment:
    """What the panel tells of a step."""
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
