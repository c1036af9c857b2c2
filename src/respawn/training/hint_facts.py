"""What hints must know of a run, from its configuration."""

import torch

from respawn.contracts.world import DiscreteActions, WorldSpec
from respawn.learners.ppo.config import PPOConfig
from respawn.observers.hint_view import HintFacts
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.training.config import RunConfig
from respawn.training.device import resolve_threads
from respawn.training.memory_ladder import after_steps, holds_replay
from respawn.worlds.fish.config import FishConfig


def hint_facts(config: RunConfig, spec: WorldSpec, device: torch.device) -> HintFacts:
    """The run as it is now, on whichever rung of the memory ladder."""
    config = after_steps(config)
    learner, collection = config.learner, config.collection
    return HintFacts(
        num_lanes=collection.num_lanes,
        horizon_steps=collection.horizon_steps,
        planned_updates=config.planned_updates,
        num_actions=spec.actions.num_actions if isinstance(spec.actions, DiscreteActions) else None,
        device_type=device.type,
        usable_cores=resolve_threads(0),
        threads=config.threads,
        learner="ppo" if isinstance(learner, PPOConfig) else "vtrace",
        kl_limit=learner.kl_limit if isinstance(learner, PPOConfig) else 0.0,
        gradient_norm=learner.optimizer.gradient_norm,
        has_replay=holds_replay(config),
        lag=collection.lag,
        is_threaded=collection.threaded,
        actors=collection.actors,
        is_judged_as_trained=_is_judged_as_trained(config, spec),
        best_kept_by=config.checkpoints.best_metric if config.checkpoints.keep_best > 0 else "",
        progress_metric="world/forward_share" if "forward" in spec.share_counts else None,
    )


def _is_judged_as_trained(config: RunConfig, spec: WorldSpec) -> bool:
    """Whether evaluations are played in what is trained in, so that their returns compare."""
    schedules = config.schedules
    if schedules.levels is not None or schedules.curriculum is not None:
        return False
    if any(_is_turned(knob.name, schedules) for knob in spec.knobs):  # evaluations are played where no knob is turned
        return False
    return not isinstance(config.world, FishConfig)  # schools are judged in the reference's tanks, of another size


def _is_turned(knob: str, schedules: SchedulesConfig) -> bool:
    """Whether a knob may ever be anything else than its setting."""
    curve = getattr(schedules, knob, None)
    is_bent = isinstance(curve, CurveConfig) and (curve.lowest_fraction, curve.highest_fraction) != (1.0, 1.0)
    others = {*(window.knob for window in schedules.windows), *(channel.knob for channel in schedules.adaptive)}
    return is_bent or knob in others
