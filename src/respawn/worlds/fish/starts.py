"""Where episodes begin: dice and options become fish and a predator that has already moved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.knobs import Start
from respawn.errors import WorldError
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.constants import FISH_MAX_SPEED, PREDATOR_SPEED, SPAWN_MAX_SPEED, SPAWN_RADIUS, TANK_RADIUS
from respawn.worlds.fish.draws import Draws
from respawn.worlds.fish.physics import length
from respawn.worlds.fish.predator import fall

_STANDSTILL = 1e-9
_LEAST_SCALE = 0.05
_NOWHERE = 1e-5


@dataclass
class Births:
    """K beginnings of n fish, and how the predators came to be where they are."""

    fish: Tensor  # [4, K, n] float32
    predator: Tensor  # [4, K] float32, after the pre-roll
    spawn: Tensor  # [2, K] float32: where the predator appeared
    first_velocity: Tensor  # [2, K] float32: before the pre-roll
    bias_degrees: Tensor  # [K] float64: the heading that was drawn; NaN where none was
    jitter_degrees: Tensor  # [K, P] float64: how far each step of the pre-roll turned
    scales: Tensor  # [K, P] float64: how much faster each made it
    targets: Tensor  # [K, P] float64: the speed that each drew; NaN where none was
    given: Tensor  # [K] bool: began with a velocity or a whole state that it was given


def give_birth(config: FishConfig, draws: Draws, boost: float, starts: Sequence[Start | None]) -> Births:
    """Begin an episode from each of K throws of the dice.

    Args:
      config: of the tank.
      draws: K throws for n fish.
      boost: how fast fish begin to escape, as a share of the greatest speed.
      starts: for each of the K: what it is to begin with, or None.
    """
    fish = _spawned_fish(config, draws, boost)
    spawn = _spawned_predator(config, draws)
    velocity, bias = _first_velocity(config, draws)
    given = torch.tensor([start is not None for start in starts], device=fish.device)
    for number, start in enumerate(starts):
        if start is not None:
            if "predator_velocity" not in start.state:
                raise WorldError(
                    f"start {start.number} ({start.kind}) should say predator_velocity, and says "
                    f"{', '.join(start.state) or 'nothing'}; mend the file that it comes from"
                )
            velocity[:, number] = _pair(start.state["predator_velocity"], start)
            bias[number] = math.nan
    births = _rolled(config, draws, fish, spawn, velocity, bias, given)
    for number, start in enumerate(starts):
        if start is not None and "predator_position" in start.state:
            _put_whole_state(births, number, start)
    if config.spawn_distance > 0:
        whole = torch.tensor([start is not None and "predator_position" in start.state for start in starts])
        _keep_distance(births, config.spawn_distance, whole.to(fish.device))
    return births


def _spawned_fish(config: FishConfig, draws: Draws, boost: float) -> Tensor:
    """[4, K, n] float32."""
    angle, radius, direction, speed = draws.fish.unbind(-1)
    angle, radius = 2.0 * math.pi * angle, config.spawn_radius * radius
    direction, speed = 2.0 * math.pi * direction, SPAWN_MAX_SPEED * speed
    x, y = (radius * angle.cos()).float(), (radius * angle.sin()).float()
    if not config.escape_boost:
        return torch.stack([x, y, (speed * direction.cos()).float(), (speed * direction.sin()).float()])
    distance = length(x, y)
    nowhere = distance < _NOWHERE
    out_x = torch.where(nowhere, draws.outward[..., 0].float(), x / distance)
    out_y = torch.where(nowhere, draws.outward[..., 1].float(), y / distance)
    turn = config.escape_jitter * draws.escape
    cos, sin = turn.cos(), turn.sin()
    fast = FISH_MAX_SPEED * boost
    return torch.stack(
        [x, y, ((cos * out_x - sin * out_y) * fast).float(), ((sin * out_x + cos * out_y) * fast).float()]
    )


def _spawned_predator(config: FishConfig, draws: Draws) -> Tensor:
    """[2, K] float32."""
    radius = min(config.predator_spawn_radius, SPAWN_RADIUS) * draws.spawn[:, 0]
    angle = 2.0 * math.pi * draws.spawn[:, 1]
    return torch.stack([(radius * angle.cos()).float(), (radius * angle.sin()).float()])


def _first_velocity(config: FishConfig, draws: Draws) -> tuple[Tensor, Tensor]:
    """[2, K] float32 and the heading that was drawn, [K] in degrees."""
    sectors = config.heading_sectors
    num = draws.heading.shape[0]
    device = draws.heading.device
    if not sectors:
        velocity = torch.tensor([[PREDATOR_SPEED], [0.0]], device=device).repeat(1, num)
        return velocity, torch.full((num,), math.nan, dtype=torch.float64, device=device)
    degrees = _drawn_from(sectors, draws.heading[:, 0], draws.heading[:, 1])
    radians = torch.deg2rad(degrees)
    return torch.stack([(PREDATOR_SPEED * radians.cos()).float(), (PREDATOR_SPEED * radians.sin()).float()]), degrees


def _drawn_from(spans: Sequence[tuple[float, float, float]], which: Tensor, where: Tensor) -> Tensor:
    """A number from spans (from, to, weight), given two uniform ones: which span, and where in it."""
    table = torch.tensor(spans, dtype=torch.float64, device=which.device)  # [spans, 3]
    bounds = table[:, 2].cumsum(0)
    chosen = torch.searchsorted(bounds, which * bounds[-1]).clamp(max=len(spans) - 1)
    low, high = table[chosen, 0], table[chosen, 1]
    return low + (high - low) * where


def _rolled(
    config: FishConfig, draws: Draws, fish: Tensor, spawn: Tensor, velocity: Tensor, bias: Tensor, given: Tensor
) -> Births:
    """The predators after the steps that they make alone."""
    predator = torch.cat([spawn, velocity])
    num, steps = draws.pre_roll.shape[:2]
    told = [torch.full((num, steps), start, dtype=torch.float64, device=spawn.device) for start in (0.0, 1.0, math.nan)]
    jitter_degrees, scales, targets = told
    kept = given & config.keep_injected_speed
    for step in range(steps):
        x, y, vx, vy = predator.unbind(0)
        turn, scale, which, where = draws.pre_roll[:, step].unbind(-1)
        before = length(vx, vy).double()
        if config.pre_roll_angle_jitter > 0:
            angle = config.pre_roll_angle_jitter * (2.0 * turn - 1.0)
            cos, sin = angle.cos(), angle.sin()
            vx, vy = (cos * vx - sin * vy).float(), (sin * vx + cos * vy).float()
            jitter_degrees[:, step] = torch.rad2deg(angle)
        if config.pre_roll_speed_jitter > 0:
            factor = (1.0 + config.pre_roll_speed_jitter * (2.0 * scale - 1.0)).clamp(min=_LEAST_SCALE)
            factor = torch.where(kept, 1.0, factor)
            vx, vy = (vx * factor).float(), (vy * factor).float()
            scales[:, step] = factor
        if config.speeds:
            target = _drawn_from(config.speeds, which, where)
            speed = length(vx, vy)
            still = speed <= _STANDSTILL
            vx = torch.where(kept, vx, (torch.where(still, 1.0, vx / speed) * target).float())
            vy = torch.where(kept, vy, (torch.where(still, 0.0, vy / speed) * target).float())
            targets[:, step] = torch.where(kept, math.nan, target)
            scales[:, step] = torch.where(kept, scales[:, step], target / before)
        predator = torch.stack(fall(torch.stack([x, y, vx, vy])))
    return Births(fish, predator, spawn, velocity, bias, jitter_degrees, scales, targets, given)


def _put_whole_state(births: Births, number: int, start: Start) -> None:
    """Replace a beginning by one that is given whole: nothing that was drawn can undo it."""
    state = start.state
    births.predator[:2, number] = _pair(state["predator_position"], start)
    births.predator[2:, number] = _pair(state.get("predator_velocity"), start)
    places = _rows(state.get("fish_positions", ()), start)
    velocities = _rows(state.get("fish_velocities", ()), start)
    if len(places) != len(velocities):
        raise WorldError(
            f"start {start.number} ({start.kind}) has {len(places)} places and {len(velocities)} velocities"
        )
    count = min(len(places), births.fish.shape[2])
    births.fish[:2, number, :count] = places[:count].T
    births.fish[2:, number, :count] = velocities[:count].T


def _pair(numbers: Any, start: Start) -> Tensor:
    return _rows([numbers], start)[0]


def _rows(numbers: Any, start: Start) -> Tensor:
    """[n, 2] float32 of what a start says; anything else is no start."""
    try:
        rows = torch.tensor(numbers, dtype=torch.float32).reshape(-1, 2)
    except (TypeError, ValueError, RuntimeError):
        rows = torch.tensor([[math.nan, math.nan]])
    if not bool(rows.isfinite().all()):
        raise WorldError(
            f"start {start.number} ({start.kind}) should hold pairs of finite numbers, and holds {str(numbers)[:60]}; "
            "mend the file that it comes from"
        )
    return rows


def _keep_distance(births: Births, least: float, whole: Tensor) -> None:
    """Move fish that began too near straight away from the predator, but not in schools [K] that are given whole."""
    x, y = births.fish[0], births.fish[1]  # [K, n]
    px, py = births.predator[0][:, None], births.predator[1][:, None]
    away_x, away_y = x - px, y - py
    distance = length(away_x, away_y)
    near = (distance < least) & ~whole[:, None]  # what is given whole is to be as it was given
    at_it = distance < _NOWHERE
    unit_x = torch.where(at_it, 1.0, away_x / distance)
    unit_y = torch.where(at_it, 0.0, away_y / distance)
    x, y = torch.where(near, px + least * unit_x, x), torch.where(near, py + least * unit_y, y)
    outside = (length(x, y) / TANK_RADIUS).clamp(min=1.0)
    births.fish[0], births.fish[1] = x / outside, y / outside


def describe_pre_roll(births: Births, number: int) -> dict[str, Any]:
    """How one beginning's predator came to be where it is, by the names of the reference."""
    spawn, first, last = births.spawn[:, number], births.first_velocity[:, number], births.predator[2:, number]
    bias = float(births.bias_degrees[number])
    given = bool(births.given[number])
    return {
        "spawn_radius": math.hypot(*spawn.tolist()),
        "spawn_angle_deg": _degrees(spawn),
        "initial_velocity": first.tolist(),
        "initial_speed": math.hypot(*first.tolist()),
        "initial_heading_deg": _degrees(first),
        "final_velocity": last.tolist(),
        "final_speed": math.hypot(*last.tolist()),
        "final_heading_deg": _degrees(last),
        "steps": births.scales.shape[1],
        "angle_jitter_deg": births.jitter_degrees[number].tolist(),
        "speed_scale": births.scales[number].tolist(),
        "speed_target": [None if math.isnan(target) else target for target in births.targets[number].tolist()],
        "heading_bias_angle": None if math.isnan(bias) else bias,
        "velocity_override": given,
    }


def _degrees(vector: Tensor) -> float:
    return math.degrees(math.atan2(float(vector[1]), float(vector[0])))


def start_state(fish: Tensor, predator: Tensor) -> Mapping[str, Any]:
    """A whole beginning as plain data: fish [4, n] and predator [4]."""
    return {
        "predator_position": predator[:2].tolist(),
        "predator_velocity": predator[2:].tolist(),
        "fish_positions": fish[:2].T.tolist(),
        "fish_velocities": fish[2:].T.tolist(),
    }
