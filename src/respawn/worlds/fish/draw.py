"""A tank as a picture: the water, its wall, the living fish and the predator, as they are now."""

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from respawn.contracts.world import Frame
from respawn.worlds.fish.constants import CATCH_DISTANCE, LEAST_SPEED, TANK_RADIUS
from respawn.worlds.fish.state import SwarmState

SIZE = 512
FINENESS = 2
"""Pictures are drawn so many times larger and then made smaller, which smooths every edge."""
ABYSS = (10, 15, 26)
"""what is outside the tank"""

Colour: TypeAlias = tuple[int, int, int]
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

_RIM = 0.6
"""Room around the tank, in its units: a predator that lies on the wall is seen whole."""
_WALL_WIDTH = 0.12
_MIDDLE_WATER, _WALL_WATER, _WALL = (28, 84, 124), (14, 46, 78), (148, 190, 214)
_FISH, _PREDATOR, _PREDATOR_EDGE, _REACH = (255, 214, 92), (232, 62, 58), (255, 170, 150), (255, 120, 104)
_DART = np.array([(0.36, 0.0), (-0.24, 0.19), (-0.12, 0.0), (-0.24, -0.19)], np.float32)
"""A fish that faces +x: nose, tail, the notch in it, tail."""
_LEAST_DART = 5.0
"""Pixels of a finished picture that a fish is long, however small the picture."""
_PREDATOR_RADIUS = 0.5

_LEGACY_SIZE, _LEGACY_WALL, _LEGACY_FISH, _LEGACY_PREDATOR = 800, (200, 200, 200), (0, 150, 255), (255, 0, 0)
_LEGACY_FISH_RADIUS, _LEGACY_PREDATOR_RADIUS = 4, 10


class TankView:
    """Where things are in a square picture, and how they look. It draws on canvases `FINENESS` times as large."""

    def __init__(self, size: int = SIZE) -> None:
        self.side = size * FINENESS
        self.unit = self.side / 2 / (TANK_RADIUS + _RIM)
        """pixels of a canvas that one unit of the tank is long"""
        self._dart = _DART * max(self.unit, _LEAST_DART * FINENESS / float(np.ptp(_DART[:, 0])))

    def water(self) -> Image.Image:
        """A canvas with an empty tank."""
        return _empty_tank(self.side, self.unit).copy()

    def places(self, xy: Numbers) -> Numbers:
        """Tank coordinates [2, ...] in pixels [2, ...]; +y is up."""
        x, y = xy
        return np.stack([self.side / 2 + self.unit * x, self.side / 2 - self.unit * y])

    def draw_fish(self, pen: ImageDraw.ImageDraw, fish: Numbers) -> None:
        """Darts [4, n] that point to where they swim."""
        x, y = self.places(fish[:2])
        speed = np.hypot(fish[2], fish[3])
        moves = speed > LEAST_SPEED
        cos = np.where(moves, fish[2], 1.0) / np.where(moves, speed, 1.0)
        sin = np.where(moves, fish[3], 0.0) / np.where(moves, speed, 1.0)
        along, aside = self._dart[:, 0, None], self._dart[:, 1, None]  # [4, 1]
        corners = np.stack([x + cos * along - sin * aside, y - (sin * along + cos * aside)], -1)  # [4, n, 2]
        for dart in corners.transpose(1, 0, 2).reshape(-1, 8).tolist():
            pen.polygon(dart, fill=_FISH)

    def draw_predator(self, pen: ImageDraw.ImageDraw, predator: Numbers) -> None:
        """Its body, and around it a ring as far as it reaches."""
        x, y = self.places(predator[:2]).tolist()
        fine = max(1, round(0.05 * self.unit))
        pen.ellipse(_box(x, y, CATCH_DISTANCE * self.unit), outline=_REACH, width=fine)
        pen.ellipse(_box(x, y, _PREDATOR_RADIUS * self.unit), fill=_PREDATOR, outline=_PREDATOR_EDGE, width=fine)


def draw_tank(swarm: SwarmState, size: int = SIZE, *, legacy: bool = False) -> Frame:
    """The first school of `swarm`, without a past.

    Args:
      swarm: one school or more.
      size: height and width in pixels.
      legacy: draw it as the reference system did, 800 x 800 whatever `size` says.
    """
    fish, predator = living_fish(swarm), first_predator(swarm)
    if legacy:
        return _legacy_tank(fish, predator)
    view = TankView(size)
    canvas = view.water()
    pen = ImageDraw.Draw(canvas)
    view.draw_fish(pen, fish)
    view.draw_predator(pen, predator)
    return np.asarray(canvas.reduce(FINENESS))


def living_fish(swarm: SwarmState) -> Numbers:
    """x, y, vx, vy of the first school's living fish, [4, n]."""
    fish: Numbers = swarm.fish[:, 0, swarm.alive[0]].cpu().numpy()
    return fish


def first_predator(swarm: SwarmState) -> Numbers:
    """x, y, vx, vy of the first school's predator, [4]."""
    predator: Numbers = swarm.predator[:, 0].cpu().numpy()
    return predator


@cache
def _empty_tank(side: int, unit: float) -> Image.Image:
    """Water that grows darker towards the wall."""
    across = (np.arange(side, dtype=np.float32) + 0.5 - side / 2) / unit
    distance = np.hypot(across[:, None], across[None, :])[..., None]  # [side, side, 1] in tank units
    share = np.minimum(distance / TANK_RADIUS, 1.0) ** 2
    water = np.array(_MIDDLE_WATER) * (1 - share) + np.array(_WALL_WATER) * share
    picture = np.where(distance > TANK_RADIUS + _WALL_WIDTH, np.array(ABYSS), np.array(_WALL))
    picture = np.where(distance <= TANK_RADIUS, water, picture)
    return Image.fromarray(picture.astype(np.uint8))


def _legacy_tank(fish: Numbers, predator: Numbers) -> Frame:
    picture = Image.new("RGB", (_LEGACY_SIZE, _LEGACY_SIZE), "white")
    pen = ImageDraw.Draw(picture)
    half = _LEGACY_SIZE / 2
    pen.ellipse(_box(half, half, half), outline=_LEGACY_WALL, width=2)
    for x, y in fish[:2].T.tolist():
        place = half * (1 + x / TANK_RADIUS), half * (1 - y / TANK_RADIUS)
        pen.ellipse(_box(*place, _LEGACY_FISH_RADIUS), fill=_LEGACY_FISH)
    x, y = predator[:2].tolist()
    place = half * (1 + x / TANK_RADIUS), half * (1 - y / TANK_RADIUS)
    pen.ellipse(_box(*place, _LEGACY_PREDATOR_RADIUS), fill=_LEGACY_PREDATOR)
    return np.asarray(picture)


def _box(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return (x - radius, y - radius, x + radius, y + radius)
