"""One school of fish, one fish after the other: slow, plain, and what the batched world must equal.

Written from the description of the tank alone, as people write such environments: Python loops over fish, NumPy float32
numbers for what is float32, Python's own for the rest. It shares no code with `respawn.worlds.fish` but its settings.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from respawn.worlds.fish.config import FishConfig

f32 = np.float32
_VISION = 10.0 / 3.0
_COS, _SIN = math.cos(math.pi / 6), math.sin(math.pi / 6)
Pair = tuple[Any, Any]


class ScalarSchool:
    """A school that is stepped by a list of actions, one a living fish, in the order of the fish.

    Only what the reference has: NumPy's generator, discrete steering, no starts that are given.
    """

    def __init__(self, config: FishConfig, *, density_penalty: float | None = None) -> None:
        self.config = config
        self.density_penalty = config.density_penalty if density_penalty is None else density_penalty
        self.places: list[Pair] = []
        self.velocities: list[Pair] = []
        self.alive: list[bool] = []
        self.death_steps: list[int] = []
        self.predator: tuple[Any, Any, Any, Any] = (f32(0), f32(0), f32(0), f32(0))
        self.timestep = 0
        self._dice = np.random.Generator(np.random.PCG64(0))

    def reset(self, seed: int) -> list[list[float]]:
        """Begin an episode; what every fish senses."""
        config = self.config
        self._dice = dice = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self.timestep = 0
        self.alive = [True] * config.fish
        self.death_steps = [-1] * config.fish
        self.places, self.velocities = [], []
        for _ in range(config.fish):
            angle, radius = dice.uniform(0, 2 * math.pi), dice.uniform(0, config.spawn_radius)
            heading, speed = dice.uniform(0, 2 * math.pi), dice.uniform(0, 1.0)
            self.places.append((f32(radius * math.cos(angle)), f32(radius * math.sin(angle))))
            self.velocities.append((f32(speed * math.cos(heading)), f32(speed * math.sin(heading))))
        if config.escape_boost:
            self._boost()
        self.predator = self._spawned_predator()
        for _ in range(config.pre_roll_steps):
            self._pre_roll_step()
        return self._observations()

    def _boost(self) -> None:
        for fish, (x, y) in enumerate(self.places):
            distance = _length(x, y)
            if distance < 1e-5:
                out_x, out_y = self._dice.normal(), self._dice.normal()
            else:
                out_x, out_y = float(x / distance), float(y / distance)
            turn = self._dice.normal(0.0, self.config.escape_jitter)
            cos, sin, fast = math.cos(turn), math.sin(turn), 2.0 * self.config.escape_boost_speed
            self.velocities[fish] = (f32((cos * out_x - sin * out_y) * fast), f32((sin * out_x + cos * out_y) * fast))

    def _spawned_predator(self) -> tuple[Any, Any, Any, Any]:
        config, dice = self.config, self._dice
        x = y = f32(0)
        if config.predator_spawn_radius > 0:
            radius, angle = dice.uniform(0, min(config.predator_spawn_radius, 8.0)), dice.uniform(0, 2 * math.pi)
            x, y = f32(radius * math.cos(angle)), f32(radius * math.sin(angle))
        vx, vy = f32(1.5), f32(0)
        if config.heading_sectors:
            radians = math.radians(_from_spans(config.heading_sectors, dice))
            vx, vy = f32(1.5 * math.cos(radians)), f32(1.5 * math.sin(radians))
        return x, y, vx, vy

    def _pre_roll_step(self) -> None:
        config, dice = self.config, self._dice
        x, y, vx, vy = self.predator
        if config.pre_roll_angle_jitter > 0:
            turn = dice.uniform(-config.pre_roll_angle_jitter, config.pre_roll_angle_jitter)
            cos, sin, wide, high = math.cos(turn), math.sin(turn), float(vx), float(vy)
            vx, vy = f32(cos * wide - sin * high), f32(sin * wide + cos * high)
        if config.pre_roll_speed_jitter > 0:
            scale = max(0.05, 1.0 + dice.uniform(-config.pre_roll_speed_jitter, config.pre_roll_speed_jitter))
            vx, vy = f32(float(vx) * scale), f32(float(vy) * scale)
        if config.speeds:
            target = _from_spans(config.speeds, dice)
            speed = _length(vx, vy)
            way_x, way_y = (1.0, 0.0) if speed <= 1e-9 else (float(vx / speed), float(vy / speed))
            vx, vy = f32(way_x * target), f32(way_y * target)
        self.predator = _fall(x, y, vx, vy)

    def step(self, actions: Sequence[int]) -> tuple[list[list[float]], list[float], bool, dict[str, Any]]:
        """Observations of the living, rewards of all fish, whether the episode is over, and what else is known."""
        self.timestep += 1
        before = [fish for fish, alive in enumerate(self.alive) if alive]
        for fish, action in zip(before, actions, strict=False):
            self.places[fish], self.velocities[fish] = _swim(self.places[fish], self.velocities[fish], action)
        self.predator = _fall(*self.predator)
        step_one = []
        for fish in before:
            if self._distance(fish) < 0.7:
                self.alive[fish] = False
                self.death_steps[fish] = self.timestep
                if self.timestep == 1:
                    step_one.append(fish)
        living = sum(self.alive)
        rewards = self._rewards(set(before))
        deaths = [step for step in self.death_steps if step > 0]
        info = {
            "num_alive": living,
            "survival_rate": living / len(self.alive),
            "timestep": self.timestep,
            "first_death_step": min(deaths, default=-1),
            "step_one_deaths": step_one,
        }
        return self._observations(), rewards, living == 0 or self.timestep >= self.config.limit_steps, info

    def _distance(self, fish: int) -> Any:
        x, y = self.places[fish]
        return _length(x - self.predator[0], y - self.predator[1])

    def _rewards(self, before: set[int]) -> list[float]:
        prices = self.config.rewards
        paid = []
        for fish, alive in enumerate(self.alive):
            if not alive:
                paid.append(-prices.death if fish in before else 0.0)
                continue
            x, y = self.places[fish]
            distance = float(self._distance(fish))
            total = prices.alive
            if prices.smooth:
                total += prices.out_of_sight * min(distance / prices.reach, 1.0)
            else:
                total += prices.sight * distance / _VISION if distance < _VISION else prices.out_of_sight
            margin = 10.0 - float(_length(x, y))
            if margin < 1.0:
                total -= prices.wall * (1.0 - margin)
            if self.density_penalty or self.config.divergence_reward:
                count, _, _, _, _, _, divergence = self._neighbours(fish)
                if count:
                    crowd = count / self.config.neighbour_count
                    total -= self.density_penalty * max(crowd - self.config.density_target, 0.0)
                    total += self.config.divergence_reward * divergence
            paid.append(prices.scale * total)
        return paid

    def _observations(self) -> list[list[float]]:
        return [self._observe(fish) for fish, alive in enumerate(self.alive) if alive]

    def _observe(self, fish: int) -> list[float]:
        (x, y), (vx, vy) = self.places[fish], self.velocities[fish]
        px, py, pvx, pvy = self.predator
        distance = self._distance(fish)
        seen = [float(x) / 10, float(y) / 10, float(vx) / 2, float(vy) / 2, (10 - float(_length(x, y))) / 10]
        if distance < _VISION:
            seen += [1.0, float(px - x) / _VISION, float(py - y) / _VISION, float(pvx) / 2, float(pvy) / 2]
            seen.append(float(distance) / _VISION)
        else:
            seen += [0.0] * 6
        if self.config.neighbours:
            count, *rest = self._neighbours(fish)
            seen += [min(count / self.config.neighbour_count, 1.0), *rest]
        return seen

    def _neighbours(self, fish: int) -> tuple[float, float, float, float, float, float, float]:
        """Count, mean place of the nearest, nearest distance, mean and deviation of speed, divergence."""
        radius = self.config.neighbour_radius
        x, y = float(self.places[fish][0]), float(self.places[fish][1])
        found = []
        for other, alive in enumerate(self.alive):
            if other == fish or not alive:
                continue
            dx, dy = float(self.places[other][0]) - x, float(self.places[other][1]) - y
            distance = math.sqrt(dx * dx + dy * dy)
            if distance <= radius:
                vx, vy = float(self.velocities[other][0]), float(self.velocities[other][1])
                away = (vx * dx + vy * dy) / distance if distance > 0 else 0.0
                found.append((distance, dx, dy, math.sqrt(vx * vx + vy * vy) / 2.0, away / 2.0))
        if not found:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        found.sort()
        near = found[: self.config.neighbour_count]
        speed = sum(other[3] for other in found) / len(found)
        return (
            float(len(found)),
            sum(other[1] for other in near) / len(near) / radius,
            sum(other[2] for other in near) / len(near) / radius,
            found[0][0] / radius,
            speed,
            math.sqrt(sum((other[3] - speed) ** 2 for other in found) / len(found)),
            sum(other[4] for other in found) / len(found),
        )


def _from_spans(spans: Sequence[tuple[float, float, float]], dice: np.random.Generator) -> float:
    wanted, passed = dice.uniform(0, sum(weight for _, _, weight in spans)), 0.0
    for low, high, weight in spans:
        passed += weight
        if wanted <= passed:
            return dice.uniform(low, high)
    return dice.uniform(spans[-1][0], spans[-1][1])


def _swim(place: Pair, velocity: Pair, action: int) -> tuple[Pair, Pair]:
    vx, vy = velocity
    speed = _length(vx, vy)
    way_x, way_y = (vx / speed, vy / speed) if speed > f32(0.01) else (f32(1), f32(0))
    if action == 0:
        vx, vy = vx + f32(0.1) * way_x, vy + f32(0.1) * way_y
    elif action in (1, 2):
        sin = _SIN if action == 1 else -_SIN
        wide, high, fast = float(way_x), float(way_y), float(speed)
        vx, vy = f32((_COS * wide - sin * high) * fast), f32((sin * wide + _COS * high) * fast)
    elif action == 3:
        vx, vy = vx * f32(0.9), vy * f32(0.9)
    speed = _length(vx, vy)
    if speed > f32(2):
        vx, vy = vx / speed * f32(2), vy / speed * f32(2)
    x, y, vx, vy = _bounce(place[0] + f32(0.1) * vx, place[1] + f32(0.1) * vy, vx, vy, 0.5)
    return (x, y), (vx, vy)


def _fall(x: Any, y: Any, vx: Any, vy: Any) -> tuple[Any, Any, Any, Any]:
    # Rounded once, as on the machine that the recorded episodes were made on.
    vy = vy + f32(0.05)
    x, y = f32(float(x) + float(f32(0.1)) * float(vx)), f32(float(y) + float(f32(0.1)) * float(vy))
    return _bounce(x, y, vx, vy, 0.85)


def _bounce(x: Any, y: Any, vx: Any, vy: Any, restitution: float) -> tuple[Any, Any, Any, Any]:
    distance = _length(x, y)
    if not distance > f32(10):
        return x, y, vx, vy
    nx, ny = x / distance, y / distance
    outwards = vx * nx + vy * ny
    wall_x, wall_y = outwards * nx, outwards * ny
    vx, vy = f32(-restitution) * wall_x + (vx - wall_x), f32(-restitution) * wall_y + (vy - wall_y)
    return f32(10) * nx, f32(10) * ny, vx, vy


def _length(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y)
