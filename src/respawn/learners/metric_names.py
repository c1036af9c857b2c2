"""What each learner says of an update, by name: known beforehand, so that whoever misspells one hears of it at once."""

from respawn.learners.build import LearnerConfig
from respawn.learners.vtrace.config import VTraceConfig

_BOTH = (
    "loss/policy", "loss/value", "loss/total", "policy/entropy", "policy/kl", "value/explained_variance", "value/mean",
    "gradient/norm", "gradient/clipped_fraction", "weights/lag",
)  # fmt: skip
_PPO = ("policy/clip_fraction", "policy/epochs")
_VTRACE = ("policy/rho_mean", "policy/rho_clipped_fraction")
_REPLAY = tuple(
    f"replay/{name}"
    for name in (
        "sampled", "fill", "capacity", "pushed", "unique", "unique_mean", "age", "priority_mean", "priority_p50",
        "priority_p90", "priority_p99", "td_variance", "loss_policy", "loss_value", "loss_total", "rho_mean",
        "rho_clipped_fraction", "weight_mean",
    )
)  # fmt: skip
GROUPS = frozenset(name.split("/")[0] for name in (*_BOTH, *_REPLAY))
"""Groups of metrics that only learners have."""


def metric_names(config: LearnerConfig) -> tuple[str, ...]:
    """All that this learner says, in every update; how long things took aside."""
    if not isinstance(config, VTraceConfig):
        return _BOTH + _PPO
    return _BOTH + _VTRACE + (_REPLAY if config.replay.is_on else ())
