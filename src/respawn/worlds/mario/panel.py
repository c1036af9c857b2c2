"""One frame of a film: the game, and beside it what the agent presses, would press and expects."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from respawn.contracts.world import Frame
from respawn.worlds.mario.buttons import button_byte, button_names
from respawn.worlds.mario.gamepad import draw_gamepad

SCALE = 2
"""Whole, so that pixels stay square; and even, because films keep colour for squares of two by two."""
WIDTH, HEIGHT = 256, 480
"""Of the panel; the game beside it is 512 by 480."""

_MARGIN = 14
_BACKGROUND, _GROOVE = (17, 19, 28), (35, 39, 55)
_BRIGHT, _DIM = (236, 238, 245), (132, 139, 163)
_CHOSEN, _OTHER, _CURVE = (255, 196, 61), (84, 110, 176), (102, 204, 153)
_GOOD, _BAD = (80, 200, 120), (235, 87, 87)
_GOOD_ENDS = ("flag", "won")
_BARS_TOP, _BARS_BOTTOM, _TALLEST_BAR = 220, 366, 19
_CURVE_TOP, _CURVE_BOTTOM, _CURVE_STEPS = 402, 456, 150
_VERDICT_TOP, _VERDICT_HEIGHT = 96, 60


@dataclass(frozen=True, slots=True)
class Moment:
    """What the panel tells of one step."""

    action: int
    """which of the actions was chosen"""
    buttons: int
    """what was held, which a sticky step takes from the step before"""
    probabilities: Sequence[float]
    """of each action, before the choice"""
    value: float
    """what the critic expects from here"""
    level: str
    x: int
    step: int
    time: int | None = None
    """that the game's clock still shows"""


class Panel:
    """Draws one step after the other; it remembers the values of the last steps for their curve."""

    def __init__(self, actions: Sequence[str], title: str = "") -> None:
        self._actions = tuple(actions)
        self._title = title
        self._values: deque[float] = deque(maxlen=_CURVE_STEPS)
        self._side = Image.new("RGB", (WIDTH, HEIGHT), _BACKGROUND)
        self._end: str | None = None

    def tell(self, moment: Moment) -> None:
        """Draw a new step; a step 0 begins a new curve."""
        if moment.step == 0:
            self._values.clear()
        self._values.append(moment.value)
        self._end = None
        self._side = Image.new("RGB", (WIDTH, HEIGHT), _BACKGROUND)
        draw = ImageDraw.Draw(self._side)
        self._draw_facts(draw, moment)
        self._side.paste(draw_gamepad(moment.buttons, WIDTH - 2 * _MARGIN, _BACKGROUND), (_MARGIN, 92))
        self._draw_action(draw, moment)
        self._draw_bars(draw, moment)
        self._draw_curve(draw)

    def close(self, end: str) -> None:
        """Say from now on why the episode ended."""
        self._end = end

    def frame(self, picture: Frame) -> Frame:
        """A picture of the game, larger, with the panel of the last step told."""
        game = Image.fromarray(picture.repeat(SCALE, 0).repeat(SCALE, 1))
        if self._end is not None:
            game = _with_verdict(game, self._end)
        whole = Image.new("RGB", (game.width + WIDTH, HEIGHT), _BACKGROUND)
        whole.paste(game, (0, 0))
        whole.paste(self._side, (game.width, 0))
        return np.asarray(whole)

    def _draw_facts(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        draw.text((_MARGIN, 14), f"World {moment.level}", _BRIGHT, _font(22))
        draw.text((WIDTH // 2, HEIGHT - 12), self._title, _DIM, _font(11), anchor="mm")
        facts = {"x": moment.x, "step": moment.step} | ({} if moment.time is None else {"time": moment.time})
        for column, (label, value) in enumerate(facts.items()):
            left = _MARGIN + column * (WIDTH - 2 * _MARGIN) // 3
            draw.text((left, 52), label, _DIM, _font(11))
            draw.text((left, 66), f"{value}", _BRIGHT, _font(15))

    def _draw_action(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        sticky = button_byte(self._actions[moment.action]) != moment.buttons
        text = f"{_spoken(button_names(moment.buttons))} (sticky)" if sticky else _spoken(self._actions[moment.action])
        draw.text((WIDTH // 2, 202), text, _DIM if sticky else _CHOSEN, _font(14), anchor="mm")

    def _draw_bars(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        pitch = min(_TALLEST_BAR, (_BARS_BOTTOM - _BARS_TOP) / len(self._actions))
        left, right = _MARGIN + 86, WIDTH - _MARGIN - 34
        for place, (name, probability) in enumerate(zip(self._actions, moment.probabilities, strict=True)):
            middle = _BARS_TOP + pitch * (place + 0.5)
            chosen = place == moment.action
            colour = _BRIGHT if chosen else _DIM
            draw.text((_MARGIN, middle), _spoken(name), colour, _font(11), anchor="lm")
            box = (left, middle - pitch * 0.3, right, middle + pitch * 0.3)
            draw.rectangle(box, fill=_GROOVE)
            if probability >= 0.005:  # what is written as 0 % has no bar either
                filled = (left, box[1], left + max(1.0, (right - left) * probability), box[3])
                draw.rectangle(filled, fill=_CHOSEN if chosen else _OTHER)
            draw.text((WIDTH - _MARGIN, middle), f"{100 * probability:.0f} %", colour, _font(11), anchor="rm")

    def _draw_curve(self, draw: ImageDraw.ImageDraw) -> None:
        draw.text((_MARGIN, 390), "value", _DIM, _font(11), anchor="lm")
        draw.text((WIDTH - _MARGIN, 390), f"{self._values[-1]:.2f}", _CURVE, _font(15), anchor="rm")
        left, right = _MARGIN, WIDTH - _MARGIN
        draw.rectangle((left, _CURVE_TOP, right, _CURVE_BOTTOM), fill=_GROOVE)
        low, high = min(self._values), max(self._values)
        room = max(high - low, 0.1)  # a value that hardly moves should look like it
        low -= (room - (high - low)) / 2
        step = (right - left - 6) / (_CURVE_STEPS - 1)
        points = [
            (left + 3 + place * step, _CURVE_BOTTOM - 6 - (value - low) / room * (_CURVE_BOTTOM - _CURVE_TOP - 12))
            for place, value in enumerate(self._values)
        ]
        if len(points) > 1:
            draw.line(points, fill=_CURVE, width=2, joint="curve")
        x, y = points[-1]
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill=_CURVE)


def _with_verdict(game: Image.Image, end: str) -> Image.Image:
    """The end of the episode on a band over the picture."""
    band = (0, _VERDICT_TOP, game.width, _VERDICT_TOP + _VERDICT_HEIGHT)
    shade = Image.new("RGB", (game.width, _VERDICT_HEIGHT), _BACKGROUND)
    game.paste(Image.blend(game.crop(band), shade, 0.8), band[:2])
    good = end in _GOOD_ENDS
    text = f"{end.upper()}: level cleared" if end == "flag" else end.upper()
    place = (game.width // 2, _VERDICT_TOP + _VERDICT_HEIGHT // 2)
    ImageDraw.Draw(game).text(place, text, _GOOD if good else _BAD, _font(26), anchor="mm")
    return game


def _spoken(name: str) -> str:
    """A combination as people write it: RIGHT+A is Right + A."""
    return " + ".join(part.capitalize() for part in name.split("+"))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
