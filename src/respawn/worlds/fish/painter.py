"""A tank step by step, for films and for watching: also where fish have just been and where they were caught."""

from collections import deque
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from respawn.contracts.world import Frame
from respawn.errors import VideoError
from respawn.worlds.fish.draw import (
    ABYSS,
    FINENESS,
    SIZE,
    Colour,
    Numbers,
    TankView,
    draw_tank,
    first_predator,
    living_fish,
)
from respawn.worlds.fish.state import SwarmState

TRAIL_STEPS = 25
"""for so many steps one sees where a fish has been"""

_HEADER_SHARE = 1 / 16
_BRIGHT, _DIM = (236, 240, 246), (150, 162, 184)
_TRAIL, _PREDATOR_TRAIL = (186, 222, 238), (226, 92, 88)
_TRAIL_STRENGTH, _TRAIL_LEFT = 130, 8
"""how strongly a trail covers the water where it begins and, after `TRAIL_STEPS`, where it ends; of 255"""
_FADING = [int(strength * (_TRAIL_LEFT / _TRAIL_STRENGTH) ** (1 / TRAIL_STEPS)) for strength in range(256)]
"""what is left of each strength a step later"""
_FRESH_MARK, _OLD_MARK = (255, 96, 88), (128, 150, 170)
_MARK_STEPS = 40
"""until a mark has become grey; it stays"""
_MARK_REACH = 0.2
_LEGACY_CORNER, _LEGACY_TEXT = (10, 10), (0, 0, 0)


class TankPainter:
    """Paints one school, a picture a step; a school that begins anew has no past.

    A frame is `size` wide, and higher by a header line. Both are even where `size` is, as films want them.

    Args:
      size: width of a frame, in pixels.
      legacy: paint as the reference system did: 800 x 800, nothing but what is there now.
      header: False: the tank alone, for where letters would be too small to read.
    """

    def __init__(self, size: int = SIZE, *, legacy: bool = False, header: bool = True) -> None:
        self._view = TankView(size)
        self._size, self._header = size, 2 * round(size * _HEADER_SHARE / 2) if header else 0
        self._legacy = legacy
        self._swarm: SwarmState | None = None
        self._forget()

    def paint(self, swarm: SwarmState, title: str = "") -> Frame:
        """The next step's picture of the first school of `swarm`.

        Args:
          swarm: as it is now; what was painted last is taken to be the step before.
          title: what the header says beside the count of the living and the step, such as 'seed 3000004'.
        """
        self.see(swarm)
        return self.picture(title)

    def see(self, swarm: SwarmState) -> None:
        """Take note of a step without painting it; trails need every one."""
        step = int(swarm.steps[0])
        if step != self._step or step == 0:
            self._lengthen_trails(swarm, step)
        self._swarm = _copy_of_first(swarm)

    def picture(self, title: str = "") -> Frame:
        """The step that was seen last."""
        swarm = self._swarm
        if swarm is None:
            raise VideoError("nothing was seen yet; call see() or paint() with a school first")
        num_alive, num_fish = int(swarm.alive[0].sum()), int(swarm.sizes[0])
        if self._legacy:
            return _with_corner_text(draw_tank(swarm, legacy=True), f"{num_alive}/{num_fish}, step {self._step}")
        canvas = self._view.water()
        canvas.paste(_TRAIL, (0, 0), self._trails)
        pen = ImageDraw.Draw(canvas)
        self._draw_marks(pen, swarm)
        self._draw_predator_trail(pen)
        self._view.draw_fish(pen, living_fish(swarm))
        self._view.draw_predator(pen, first_predator(swarm))
        if not self._header:
            return np.asarray(canvas.reduce(FINENESS))
        frame = Image.new("RGB", (self._size, self._size + self._header), ABYSS)
        frame.paste(canvas.reduce(FINENESS), (0, self._header))
        self._write_header(ImageDraw.Draw(frame), f"alive {num_alive}/{num_fish}   step {self._step}", title)
        return np.asarray(frame)

    def _forget(self) -> None:
        self._step = -1
        self._alive = np.zeros(0, np.bool_)
        self._places: Numbers = np.zeros((2, 0), np.float32)
        self._trails = Image.new("L", (self._view.side, self._view.side))  # how strongly each pixel is covered
        self._predator_places: deque[tuple[float, float]] = deque(maxlen=TRAIL_STEPS)

    def _lengthen_trails(self, swarm: SwarmState, step: int) -> None:
        """By the way from the step before; trails begin where it was not seen."""
        if step == 0 or step != self._step + 1:
            self._forget()
        alive = swarm.alive[0].cpu().numpy()
        places = self._view.places(swarm.fish[:2, 0].cpu().numpy())  # [2, N]
        if self._step >= 0:
            swims = self._alive & alive
            self._draw_trails(self._places[:, swims], places[:, swims])
        x, y = self._view.places(first_predator(swarm)[:2]).tolist()
        self._predator_places.append((x, y))
        self._step, self._alive, self._places = step, alive, places

    def _draw_trails(self, before: Numbers, after: Numbers) -> None:
        """Let all trails fade by a step and lengthen them: one stroke a fish, however long its trail is."""
        self._trails = self._trails.point(_FADING)
        pen = ImageDraw.Draw(self._trails)
        width = max(FINENESS, round(0.1 * self._view.unit))
        for stroke in np.concatenate([before, after]).T.tolist():
            pen.line(stroke, fill=_TRAIL_STRENGTH, width=width)

    def _draw_predator_trail(self, pen: ImageDraw.ImageDraw) -> None:
        """Dots that grow towards where it is."""
        for age, (x, y) in enumerate(self._predator_places, start=TRAIL_STEPS - len(self._predator_places)):
            radius = self._view.unit * (0.05 + 0.11 * age / TRAIL_STEPS)
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_PREDATOR_TRAIL)

    def _draw_marks(self, pen: ImageDraw.ImageDraw, swarm: SwarmState) -> None:
        """A cross where a fish was caught, for it stays there; the older, the greyer."""
        reach, width = _MARK_REACH * self._view.unit, max(FINENESS, round(0.08 * self._view.unit))
        caught = swarm.death_steps[0] > 0
        places = self._view.places(swarm.fish[:2, 0, caught].cpu().numpy()).T.tolist()
        for (x, y), since in zip(places, swarm.death_steps[0, caught].tolist(), strict=True):
            colour = _blend(_FRESH_MARK, _OLD_MARK, min(1.0, (self._step - since) / _MARK_STEPS))
            pen.line((x - reach, y - reach, x + reach, y + reach), fill=colour, width=width)
            pen.line((x - reach, y + reach, x + reach, y - reach), fill=colour, width=width)

    def _write_header(self, pen: ImageDraw.ImageDraw, count: str, title: str) -> None:
        font = _font(max(8, round(self._header * 0.5)))
        margin, middle = self._header // 2, self._header // 2
        pen.text((margin, middle), count, _BRIGHT, font, anchor="lm")
        pen.text((self._size - margin, middle), title, _DIM, font, anchor="rm")


def _copy_of_first(swarm: SwarmState) -> SwarmState:
    """The first school, which the world may go on with."""
    return swarm.some(swarm.steps.new_zeros(1).long())


def _blend(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _with_corner_text(frame: Frame, text: str) -> Frame:
    picture = Image.fromarray(frame)
    ImageDraw.Draw(picture).text(_LEGACY_CORNER, text, _LEGACY_TEXT, _font(24))
    return np.asarray(picture)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
