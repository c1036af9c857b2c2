"""Whether an update made sense. One that did not has not moved the weights: the optimizer saw to that."""

import math
from collections.abc import Mapping

from torch import Tensor

from respawn.contracts.records import Rollout

LOSSES = ("loss/policy", "loss/value", "loss/total")
MUST_BE_FINITE = (*LOSSES, "gradient/norm")


def not_finite(metrics: Mapping[str, float]) -> list[str]:
    """The losses and gradients of an update that are not finite, by name.

    Looked at once an update, when its numbers are read anyway: an earlier look would make a GPU wait at every step.
    """
    return [name for name in MUST_BE_FINITE if not math.isfinite(metrics.get(name, 0.0))]


def explain(metrics: Mapping[str, float], rollout: Rollout) -> str:
    """What is not finite, and where it came from."""
    broken = not_finite(metrics)[0]
    return f"{broken} must be finite and is {metrics[broken]}: {_why(metrics, rollout)}"


def _why(metrics: Mapping[str, float], rollout: Rollout) -> str:
    """What came first; where the rollout is sound, it is what was made of it."""
    given = {"rewards": [rollout.rewards], "observations": [rollout.observations, rollout.cut_observations]}
    culprits = [name for name, tensors in given.items() if not all(_is_sound(tensor) for tensor in tensors)]
    if culprits:
        return f"the world gave {' and '.join(culprits)} that are not"
    if not _is_sound(rollout.behaviour_log_probs):
        return "the policy gathered the rollout with log-probabilities that are not; the learning rate may be too high"
    if not math.isfinite(metrics.get("replay/loss_total", 0.0)):
        return "the rollout is sound, and replayed segments are not; the learning rate may be too high"
    return "the learning rate may be too high"


def _is_sound(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() or bool(tensor.isfinite().all())  # whole numbers always are
