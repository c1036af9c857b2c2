"""Trying every action from where a world stands, and putting the world back as if nothing had been tried."""

from typing import NamedTuple

import torch

from respawn.contracts.world import DiscreteActions, World, WorldSpec
from respawn.errors import ConfigError


class Probed(NamedTuple):
    """What an action led to when it was all that was done."""

    action: int
    gain: float
    """mean over the lanes: distance where the world tells it, else the sum of the rewards"""


@torch.no_grad()
def probe_actions(world: World, decisions: int) -> tuple[Probed, ...]:
    """Play each action for so many decisions in every lane, each from the same place; the best first.

    A lane whose episode ends keeps what it had by then. The world is left exactly as it was.

    Args:
      world: stands anywhere.
      decisions: for how long.
    """
    spec = world.spec
    if not isinstance(spec.actions, DiscreteActions):
        raise ConfigError(f"probing plays one action after another, and those of {spec.name} cannot be counted")
    if not spec.exact_resume:
        raise ConfigError(
            f"probing puts the world back where it was, and {spec.name} cannot say where it is; "
            "name schedules.progression.forward-action instead"
        )
    before = world.state()
    tried = []
    try:
        for action in range(spec.actions.num_actions):
            tried.append(Probed(action, _gain(world, action, decisions)))
            world.restore(before)
    finally:
        world.restore(before)
    return tuple(sorted(tried, key=lambda probed: (-probed.gain, _rank(probed.action, spec), probed.action)))


def _rank(action: int, spec: WorldSpec) -> int:
    """Among those that led equally far, the one that the world itself would take comes first."""
    known = [spec.action_names.index(name) for name in spec.forward_actions]
    return known.index(action) if action in known else len(known)


def _gain(world: World, action: int, decisions: int) -> float:
    spec = world.spec
    actions = torch.full((spec.num_lanes,), action, dtype=torch.int64, device=world.observe().device)
    at_first = _places(world)
    ended_at: dict[int, float] = {}
    alive = torch.ones(spec.num_lanes, dtype=torch.bool, device=actions.device)
    rewarded = torch.zeros(spec.num_lanes, dtype=torch.float64, device=actions.device)
    for _ in range(decisions):
        result = world.step(actions)
        rewarded += torch.where(alive, result.reward, 0.0)
        alive &= ~(result.terminated | result.truncated)
        for episode in result.episodes:
            if spec.forward_fact:
                ended_at.setdefault(episode.lane, float(episode.facts[spec.forward_fact]))
    if not spec.forward_fact:
        return float(rewarded.mean())
    at_last = {**_places(world), **ended_at}
    return sum(at_last[lane] - at_first[lane] for lane in at_first) / len(at_first)


def _places(world: World) -> dict[int, float]:
    """How far the episode of each lane has come, as the world tells it; nothing where it does not."""
    fact, lanes = world.spec.forward_fact, range(world.spec.num_lanes)
    return {lane: float(world.facts_so_far(lane)[fact]) for lane in lanes} if fact else {}
