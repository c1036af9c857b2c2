"""The T-step loop: the only place that steps a world in training."""

from collections.abc import Callable
from time import perf_counter

import torch

from respawn.collection.actor import Actor
from respawn.collection.scripted import Scripted
from respawn.contracts.collector import CollectOrder
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Rollout
from respawn.contracts.world import World
from respawn.memory.rollout_buffer import RolloutBuffer


class RolloutDropped(Exception):
    """Nobody wants the rollout any more, and it was left in the middle; so is the world."""


def _is_wanted() -> bool:
    return True


@torch.no_grad()
def unroll(
    world: World,
    actor: Actor,
    buffer: RolloutBuffer,
    order: CollectOrder,
    horizon_steps: int,
    scripted: Scripted | None = None,
    pulse: Pulse = NO_PULSE,
    is_wanted: Callable[[], bool] = _is_wanted,
) -> Rollout:
    """Gather one rollout; raises RolloutDropped at the first step at which nobody wants it any more.

    Args:
      world: stands where the last rollout left it.
      actor: decides; takes over the order's weights first.
      buffer: is filled and sealed.
      order: which weights and knobs to use.
      horizon_steps: T.
      scripted: forces actions where the order's knobs say so; None: nobody does, and an order to do so is an error.
      pulse: is told of every step.
      is_wanted: is asked before every step.
    """
    began = perf_counter()
    pulse.mark("collect")
    world.apply(order.knobs)
    actor.load(order.weights)
    if scripted is not None:
        scripted.take(order.knobs.scripts)
    elif order.knobs.scripts:
        raise RuntimeError("actions are to be forced, and this collector was made without scripts")
    observation, valid = world.observe(), world.present().clone()
    world_device = observation.device
    buffer.begin(observation, actor.memory)
    act_seconds = 0.0
    for t in range(horizon_steps):
        if not is_wanted():
            raise RolloutDropped
        gathered = t / horizon_steps
        pulse.mark("act", gathered)
        act_began = perf_counter()
        decision = actor.decide(buffer.observation(t))
        if scripted is not None:
            decision = scripted.force(decision, valid)
        actions = decision.actions.to(world_device)
        act_seconds += perf_counter() - act_began
        pulse.mark("world", gathered)
        result = world.step(actions)
        buffer.write(t, valid, decision, result)
        ended = (result.terminated | result.truncated).to(decision.actions.device)
        actor.forget(ended)
        if scripted is not None:
            scripted.note_ends(ended)
        valid = result.valid.clone()
    pulse.mark("collect")
    collect_seconds = perf_counter() - began
    seconds = {"collect": collect_seconds, "act": act_seconds, "world": collect_seconds - act_seconds}
    return buffer.seal(order.weights.version, order.knobs.version, seconds)
