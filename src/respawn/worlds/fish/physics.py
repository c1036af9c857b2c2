"""How fish move: pure functions on coordinates of any shape. Nothing here knows of schools, predators or rewards.

Sums, products, quotients and square roots only, in a fixed order and rounded to float32 one by one, so that a scalar
program that does the same gets the same bits; turns are computed in float64 and then rounded, as in the reference.
"""

import math

import torch
from torch import Tensor

from respawn.worlds.fish.constants import (
    BRAKE,
    FISH_BRAKE,
    FISH_MAX_SPEED,
    FISH_THRUST,
    FISH_TURN,
    FISH_WALL_RESTITUTION,
    FORWARD,
    LEAST_SPEED,
    LEFT,
    RIGHT,
    STEP_SECONDS,
    TANK_RADIUS,
)

_COS, _SIN = math.cos(FISH_TURN), math.sin(FISH_TURN)


def length(x: Tensor, y: Tensor) -> Tensor:
    """Of vectors."""
    square = x * x + y * y
    if square.device.type != "cpu":
        return square.sqrt()
    # torch's roots of float32 on the CPU are an ulp off now and then, depending on where in the tensor a number lies.
    return square.double().sqrt().to(square.dtype)


def steer(velocity: tuple[Tensor, Tensor], actions: Tensor) -> tuple[Tensor, Tensor]:
    """Velocities after one of the five actions each, before the speed limit."""
    vx, vy = velocity
    speed, dx, dy = _heading(vx, vy)
    turns = (actions == LEFT) | (actions == RIGHT)
    side = (1.0 - 2.0 * (actions == RIGHT).double()) * _SIN
    wide, high, fast = dx.double(), dy.double(), speed.double()
    thrust = (actions == FORWARD) * FISH_THRUST
    brakes = actions == BRAKE
    new_x = torch.where(brakes, vx * FISH_BRAKE, vx + thrust * dx)
    new_y = torch.where(brakes, vy * FISH_BRAKE, vy + thrust * dy)
    return (
        torch.where(turns, ((_COS * wide - side * high) * fast).float(), new_x),
        torch.where(turns, ((side * wide + _COS * high) * fast).float(), new_y),
    )


def steer_freely(velocity: tuple[Tensor, Tensor], turn: Tensor, effort: Tensor) -> tuple[Tensor, Tensor]:
    """Velocities after a turn and an effort each, both from -1 to 1, before the speed limit.

    A turn of 1 is a discrete left, of -1 a right. An effort of 1 swims forward, of -1 brakes, and both can be had at
    once, in any measure.
    """
    vx, vy = velocity
    speed, dx, dy = _heading(vx, vy)
    cos, sin = (turn * FISH_TURN).cos(), (turn * FISH_TURN).sin()
    dx, dy = cos * dx - sin * dy, sin * dx + cos * dy
    speed = speed * (1.0 - (1.0 - FISH_BRAKE) * (-effort).clamp(min=0.0)) + FISH_THRUST * effort.clamp(min=0.0)
    return dx * speed, dy * speed


def swim(place: tuple[Tensor, Tensor], velocity: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Places and velocities one step later: the speed limit, the way, the wall."""
    vx, vy = velocity
    speed = length(vx, vy)
    fast = speed > FISH_MAX_SPEED
    vx = torch.where(fast, vx / speed * FISH_MAX_SPEED, vx)
    vy = torch.where(fast, vy / speed * FISH_MAX_SPEED, vy)
    return bounce(place[0] + STEP_SECONDS * vx, place[1] + STEP_SECONDS * vy, vx, vy, FISH_WALL_RESTITUTION)


def bounce(x: Tensor, y: Tensor, vx: Tensor, vy: Tensor, restitution: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Whatever got outside is put on the wall, and what was left of its speed outwards turned round."""
    distance = length(x, y)
    outside = distance > TANK_RADIUS
    nx, ny = x / distance, y / distance
    outwards = vx * nx + vy * ny
    wall_x, wall_y = outwards * nx, outwards * ny
    return (
        torch.where(outside, TANK_RADIUS * nx, x),
        torch.where(outside, TANK_RADIUS * ny, y),
        torch.where(outside, -restitution * wall_x + (vx - wall_x), vx),
        torch.where(outside, -restitution * wall_y + (vy - wall_y), vy),
    )


def _heading(vx: Tensor, vy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Speed and direction; what hardly moves faces +x."""
    speed = length(vx, vy)
    moves = speed > LEAST_SPEED
    return speed, torch.where(moves, vx / speed, 1.0), torch.where(moves, vy / speed, 0.0)
