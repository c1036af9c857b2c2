"""How a policy that plays is shown: in the terminal, in a window, or not at all."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from respawn.contracts.world import Frame
from respawn.evaluation.pacing import Pace
from respawn.evaluation.terminal import Screen, known_colours, opened_screen
from respawn.evaluation.window import Window, opened_window
from respawn.training.film import pictures
from respawn.training.playback import Step
from respawn.worlds.fish.draw import SIZE
from respawn.worlds.fish.painter import TankPainter
from respawn.worlds.mario.buttons import button_names
from respawn.worlds.mario.panel import Panel

Show: TypeAlias = Callable[[Step], bool]
"""Shows a step; answers whether anybody still watches."""

_TANK_FINENESS = 2
"""A tank is painted so many times as large as a terminal shows it: fish are blots at once, and too pale at three."""
_LEAST_TANK = 48


class Player(Protocol):
    """Who plays, as far as showing it goes."""

    frames_per_second: float
    actions: tuple[str, ...]
    """Mario: what each action presses"""

    @property
    def is_mario(self) -> bool:
        """Whether steps tell buttons and where Mario is."""


@contextlib.contextmanager
def shown(playback: Player, title: str, *, window: bool, speed: float) -> Iterator[Show]:
    """A way to show steps at `speed` times the speed of the world; without a window or a terminal, none of them."""
    pace = Pace(playback.frames_per_second * speed)
    if window:
        with opened_window(title) as opened:
            yield _in_window(opened, pace, Panel(playback.actions, title) if playback.is_mario else None)
    elif sys.stdout.isatty():
        with opened_screen(sys.stdout, known_colours(os.environ)) as screen:
            yield _on_screen(screen, pace)
    else:
        yield lambda step: True


def tank_painter(*, window: bool) -> TankPainter:
    """Paints a tank for a window, or for the terminal as it is now, whose last line says what a header would."""
    if window:
        return TankPainter()
    columns, rows = shutil.get_terminal_size()
    pixels = min(columns, 2 * (rows - 1))
    return TankPainter(min(max(_TANK_FINENESS * pixels, _LEAST_TANK), SIZE), header=False)


def _in_window(window: Window, pace: Pace, panel: Panel | None) -> Show:
    def show(step: Step) -> bool:
        for picture in pictures(step, panel):
            if pace.is_time():
                window.show(picture)
            if not window.is_open:
                return False
        return True

    return show


def _on_screen(screen: Screen, pace: Pace) -> Show:
    def show(step: Step) -> bool:
        status = status_line(step)
        last: Frame | None = None
        for last in pictures(step, None):
            if pace.is_time():
                screen.show(last, status)
        if step.episode is not None and last is not None:
            screen.show(last, status)  # whatever was dropped before, the end is seen
        return True

    return show


def status_line(step: Step) -> str:
    """What there is to say about a step, on one line."""
    parts = []
    if step.school is not None:
        alive, fish, seed = step.school
        parts = [f"alive {alive}/{fish}", f"step {step.number + 1:>3}", f"seed {seed}"]
        return "  ".join(parts if step.episode is None else [*parts, step.episode.end.upper()])
    if step.game is not None:
        parts += [f"World {step.game.level}", f"x {step.game.x:>4}", f"time {step.game.time:>3}"]
    parts += [f"step {step.number:>4}", f"value {step.value:>6.2f}"]
    if step.buttons is not None:
        parts.append(f"{button_names(step.buttons):<12}")
    elif step.action is not None:
        parts.append(f"action {step.action}")
    if step.episode is not None:
        parts.append(step.episode.end.upper())
    return "  ".join(parts)
