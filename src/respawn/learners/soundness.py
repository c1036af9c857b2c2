"""An update that made no sense is not to be saved: it would push out the checkpoints from before."""

import math
from collections.abc import Mapping

from respawn.contracts.records import Rollout
from respawn.errors import LearningError

MUST_BE_FINITE = ("loss/policy", "loss/value", "loss/total", "gradient/norm")


def require_finite(metrics: Mapping[str, float], rollout: Rollout) -> None:
    """Raise LearningError if a loss or a gradient is not finite, saying where it came from.

    Looked at once an update, after the weights have moved: an earlier look would make a GPU wait at every step, and the
    last checkpoint is from before in any case.
    """
    broken = [name for name in MUST_BE_FINITE if not math.isfinite(metrics.get(name, 0.0))]
    if not broken:
        return
    sources = {
        "rewards": rollout.rewards,
        "observations": rollout.observations.float(),
        "log-probabilities of the actions": rollout.behaviour_log_probs,
    }
    culprits = [name for name, tensor in sources.items() if not bool(tensor.isfinite().all())]
    why = f"the world gave {' and '.join(culprits)} that are not" if culprits else "the learning rate may be too high"
    raise LearningError(
        f"{broken[0]} must be finite and is {metrics[broken[0]]}: {why}; this update was not saved, "
        "so mend it and go on from the checkpoint before"
    )
