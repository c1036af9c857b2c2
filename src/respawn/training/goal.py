"""Whether a saved run had become as good as it was to become, and how to train on past that."""

from dataclasses import replace

from respawn.checkpoints.store import Found, read_part
from respawn.evaluation.config import EvaluationConfig
from respawn.training.config import RunConfig


def goal_was_reached(found: Found | None, evaluation: EvaluationConfig) -> bool:
    """Whether the run in a checkpoint ended because `evaluation.stop_at` was reached often enough."""
    if found is None or evaluation.stop_at is None:
        return False
    times = read_part(found.path, found.manifest, "cadence").get("times_reached", 0)
    return bool(times >= evaluation.stop_after)


def with_new_limits(
    config: RunConfig, found: Found | None, updates: int | None = None, minutes: float | None = None
) -> RunConfig:
    """The same run with other limits where given. A goal that was reached is a limit too: new ones replace it."""
    wanted = config.with_limits(updates, minutes)
    if (updates is not None or minutes is not None) and goal_was_reached(found, config.evaluation):
        return replace(wanted, evaluation=replace(wanted.evaluation, stop_at=None, stop_after=1))
    return wanted
