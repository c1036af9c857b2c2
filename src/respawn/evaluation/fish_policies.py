"""What fish do that have learned nothing: to show what a policy's survival is worth. All for the five actions."""

import math

import torch
from torch import Generator, Tensor

from respawn.contracts.policy import Decision, Policy
from respawn.contracts.records import Memory
from respawn.evaluation.null_policies import FixedPolicy, RandomPolicy
from respawn.worlds.fish.constants import (
    ACTIONS,
    BRAKE,
    COAST,
    FISH_MAX_SPEED,
    FORWARD,
    LEAST_SPEED,
    LEFT,
    RIGHT,
    TANK_RADIUS,
    VISION_RADIUS,
)

EVADER = "evader"
_REFUGE = (0.0, -9.0)
"""Where the predator hardly ever comes: it has not the speed to rise so far."""
_ALARM_DISTANCE = 2.0
_NEAR_REFUGE = 1.0
_TOLERANCE = math.radians(15.0)


def null_policies() -> dict[str, Policy]:
    """By their names; 'random' draws its actions, and the evader is a rule, not a policy that knows nothing."""
    return {
        "coast": FixedPolicy(COAST),
        "brake": FixedPolicy(BRAKE),
        "turn_left": FixedPolicy(LEFT),
        "turn_right": FixedPolicy(RIGHT),
        "forward": FixedPolicy(FORWARD),
        "random": RandomPolicy(len(ACTIONS)),
        EVADER: EvaderPolicy(),
    }


class EvaderPolicy:
    """A rule by hand: away from a near predator and out of its way, else to a refuge at the bottom, and rest there."""

    def initial_memory(self, num_lanes: int) -> Memory:
        """It remembers nothing."""
        return {}

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a fish, from what it senses itself."""
        x, y = TANK_RADIUS * observation[:, 0], TANK_RADIUS * observation[:, 1]
        vx, vy = FISH_MAX_SPEED * observation[:, 2], FISH_MAX_SPEED * observation[:, 3]
        alarmed = (observation[:, 5] > 0) & (VISION_RADIUS * observation[:, 10] < _ALARM_DISTANCE)
        flee_x, flee_y = _away(observation)
        home_x, home_y = _REFUGE[0] - x, _REFUGE[1] - y
        want_x, want_y = torch.where(alarmed, flee_x, home_x), torch.where(alarmed, flee_y, home_y)
        still = (vx * vx + vy * vy).sqrt() <= LEAST_SPEED
        head_x, head_y = torch.where(still, 1.0, vx), torch.where(still, 0.0, vy)
        error = torch.atan2(head_x * want_y - head_y * want_x, head_x * want_x + head_y * want_y)
        actions = torch.where(error > _TOLERANCE, LEFT, torch.where(error < -_TOLERANCE, RIGHT, FORWARD))
        home = (home_x * home_x + home_y * home_y).sqrt() < _NEAR_REFUGE
        actions = torch.where(home & ~alarmed, BRAKE, actions)
        nothing = torch.zeros(len(actions), device=actions.device)
        return Decision(actions=actions, log_probs=nothing, values=nothing, memory={})


def _away(observation: Tensor) -> tuple[Tensor, Tensor]:
    """Straight away from the predator, and sideways out of its way, in equal parts."""
    away_x, away_y = -observation[:, 6], -observation[:, 7]
    fast_x, fast_y = observation[:, 8], observation[:, 9]
    speed = (fast_x * fast_x + fast_y * fast_y).sqrt().clamp(min=1e-9)
    along = (away_x * fast_x + away_y * fast_y) / speed
    side_x, side_y = away_x - along * fast_x / speed, away_y - along * fast_y / speed
    away, side = (away_x**2 + away_y**2).sqrt().clamp(min=1e-9), (side_x**2 + side_y**2).sqrt().clamp(min=1e-9)
    return away_x / away + side_x / side, away_y / away + side_y / side
