"""Needing less memory, a named rung at a time: which rungs there are, and what a run is like after them.

The rungs that were taken stand in the configuration as `stepped_down`; the settings that they change stay as they were
asked for. So a run is still recognised by what was asked for, whichever rung it is on and whenever it is killed.
"""

from collections.abc import Iterable
from dataclasses import replace

from respawn.contracts.saveable import StateTree
from respawn.errors import ConfigError, MemoryLimitError
from respawn.learners.out_of_memory import gpu_is_full, host_is_full, in_short
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.observers.hub import ObserverFailure
from respawn.runs.streams import ROW_STREAMS
from respawn.training.config import RunConfig
from respawn.training.faults_config import Rung
from respawn.worlds.fish.config import FishConfig

LOWEST_HORIZON = 4
"""Steps of a rollout below which no rung leads: bootstraps would be all there is to learn from."""


def after_steps(config: RunConfig) -> RunConfig:
    """The configuration as it is after the rungs that were taken; one that has nothing to give changes nothing."""
    for rung in config.stepped_down:
        config = _after(config, rung)
    return config


def step_down(config: RunConfig) -> RunConfig | None:
    """The same run one rung further down, past those that would change nothing; None where there is none."""
    ladder, taken = config.faults.ladder, len(config.stepped_down)
    now = after_steps(config)
    for count in range(taken + 1, len(ladder) + 1):
        lower = replace(config, stepped_down=(*config.stepped_down, *ladder[taken:count]))
        if _sizes(after_steps(lower)) != _sizes(now):
            return lower
    return None


def describe_step(before: RunConfig, after: RunConfig) -> str:
    """What a step down changed, in words."""
    old, new = _sizes(after_steps(before)), _sizes(after_steps(after))
    return ", ".join(f"{name} {old[name]} → {new[name]}" for name in old if old[name] != new[name])


def holds_replay(config: RunConfig) -> bool:
    """Whether the learner keeps rollouts, whose length must fit."""
    return isinstance(config.learner, VTraceConfig) and config.learner.replay.is_on


def _sizes(config: RunConfig) -> dict[str, int]:
    return {
        "learner.optimizer.accumulation": config.learner.optimizer.accumulation,
        "collection.horizon-steps": config.collection.horizon_steps,
        "collection.num-lanes": config.collection.num_lanes,
    }


def _after(config: RunConfig, rung: Rung) -> RunConfig:
    try:
        if rung == "accumulation":
            return _with_more_parts(config)
        if rung == "horizon":
            horizon = config.collection.horizon_steps // 2
            return _with(config, horizon_steps=horizon) if horizon >= LOWEST_HORIZON else config
        return _with(config, num_lanes=_fewer_lanes(config))
    except ConfigError:  # the other settings forbid it, as CUDA graphs do with accumulation
        return config


def _with_more_parts(config: RunConfig) -> RunConfig:
    learner, parts = config.learner, 2 * config.learner.optimizer.accumulation
    most = config.collection.num_lanes
    if isinstance(learner, PPOConfig) and config.model.core == "none":  # rows of a minibatch are split, not lanes
        most = config.collection.decisions_per_rollout // learner.minibatches
    if parts > most:
        return config
    return replace(config, learner=replace(learner, optimizer=replace(learner.optimizer, accumulation=parts)))


def _fewer_lanes(config: RunConfig) -> int:
    lanes = config.collection.num_lanes
    together = config.world.fish if isinstance(config.world, FishConfig) else 1  # a school stays whole
    return max(lanes // together // 2, 1) * together


def _with(config: RunConfig, **changed: int) -> RunConfig:
    return replace(config, collection=replace(config.collection, **changed))  # type: ignore[arg-type]


class Shortage:
    """What it means to a run, on its rung of the ladder, that memory does not suffice."""

    def __init__(self, config: RunConfig, observer_failures: tuple[ObserverFailure, ...] = ()) -> None:
        self._config = config
        self.observer_failures = observer_failures
        """of runs that ended so before: who goes on with them smaller owes an exit code for these too"""
        self.lower = step_down(config) if config.faults.out_of_memory == "step-down" else None
        """the run one rung further down; None: there is none, or it is not to be taken"""

    def note_failures(self, failures: Iterable[ObserverFailure]) -> None:
        """Keep which observers failed before; rows are no loss, for they are made again from the checkpoint on."""
        self.observer_failures = tuple(failure for failure in failures if failure.observer not in ROW_STREAMS)

    def is_survivable(self, error: BaseException) -> bool:
        """Whether the run can go on after this error, one rung further down."""
        return self.lower is not None and gpu_is_full(error)

    def explained(self, error: BaseException) -> BaseException:
        """The error that whoever runs it should read: what did not suffice and what to do, or what came."""
        if gpu_is_full(error):
            told = MemoryLimitError(f"the GPU's memory did not suffice ({in_short(error)}){self._way_out()}")
        elif host_is_full(error):
            told = MemoryLimitError(
                f"the machine's memory did not suffice ({in_short(error)}); use fewer lanes, a shorter horizon or a "
                "smaller replay, or end what else is running here"
            )
        else:
            return error
        told.__cause__ = error
        return told

    def _way_out(self) -> str:
        if self._config.faults.out_of_memory == "stop":
            return ", and faults.out-of-memory says stop; try step-down"
        sizes = after_steps(self._config).collection
        return (
            f", and faults.ladder has no rung below {sizes.num_lanes} lanes of {sizes.horizon_steps} steps; use a "
            "smaller model, fewer lanes or a larger GPU"
        )


class RungsTaken:
    """The rungs as a part of a checkpoint: from another rung, worlds and rollouts are of another size."""

    def __init__(self, taken: tuple[Rung, ...]) -> None:
        self._taken = taken

    def state(self) -> StateTree:
        """Which were taken."""
        return {"taken": list(self._taken)}

    def restore(self, state: StateTree) -> None:
        """Nothing: the configuration says on which rung the run is now."""
