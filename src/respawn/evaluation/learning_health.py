"""Whether a policy learns at all, from the numbers of its updates.

A policy whose entropy stays where it began takes arbitrary actions, and a value function that explains nothing gives no
direction. The runs that this laboratory replaces had both for sixty updates, and nobody looked.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from respawn.contracts.records import UpdateReport

ENTROPY = "policy/entropy"
EXPLAINED_VARIANCE = "value/explained_variance"

UNIFORM_ENTROPY = math.log(5)
"""nats of a policy that takes each of the five actions of a fish equally often"""
ENTROPY_LIMIT = 1.55
"""where such a policy has made up its mind, if only a little"""
LEAST_EXPLAINED = 0.3
LEAST_UPDATES = 8
"""with fewer, nothing can be said"""


def entropy_limit(config: Mapping[str, Any]) -> float | None:
    """The entropy that a run must fall below; None: it is judged by how far it fell from its first value."""
    world = config.get("world")
    if isinstance(world, dict) and world.get("kind") == "fish" and world.get("steering", "discrete") == "discrete":
        return ENTROPY_LIMIT
    return None


def learning_health(updates: Iterable[UpdateReport], limit: float | None = ENTROPY_LIMIT) -> dict[str, Any]:
    """Judge a run by its updates.

    Both are judged by medians over a quarter of the run, wherever in the run they are best: one lucky update is not
    learning, and neither does a bad end undo it.

    Args:
      updates: all rows. Where the oldest were let go of, the rest may show that it learned, and not that it did not.
      limit: nats below which the entropy must fall; None: as far below its first value as 1.55 is below five equal
        chances.

    Returns:
      `learning` (None: too early to say), `reasons` against it, and what was looked at.
    """
    rows = list(updates)
    metrics = [row.metrics for row in rows]
    entropies, explained = _known(metrics, ENTROPY), _known(metrics, EXPLAINED_VARIANCE)
    is_whole = not rows or rows[0].update <= 1
    if limit is None and entropies and is_whole:
        limit = entropies[0] - (UNIFORM_ENTROPY - ENTROPY_LIMIT)
    lowest = min(_medians(entropies), default=None)
    best = max(_medians(explained), default=None)
    verdict: dict[str, Any] = {
        "updates": len(metrics),
        "entropy_first": entropies[0] if entropies else None,
        "entropy_last": entropies[-1] if entropies else None,
        "entropy_min": min(entropies, default=None),
        "entropy_lowest_median": lowest,
        "entropy_limit": limit,
        "explained_variance_last_quarter": _medians(explained)[-1] if explained else None,
        "explained_variance_best": best,
        "explained_variance_limit": LEAST_EXPLAINED,
    }
    if lowest is None or best is None:
        missing = " and ".join(
            name for name, values in ((ENTROPY, entropies), (EXPLAINED_VARIANCE, explained)) if not values
        )
        return verdict | {"learning": None, "reasons": [f"its updates do not tell {missing}"]}
    reasons = _reasons(lowest, limit, best)
    if len(metrics) < LEAST_UPDATES:
        return verdict | {
            "learning": None,
            "reasons": [f"it has made {len(metrics)} of the {LEAST_UPDATES} updates that this takes"],
        }
    if not is_whole and (reasons or limit is None):
        unknown = f"rows before update {rows[0].update:,} were let go of, and it may have learned then"
        return verdict | {"learning": None, "reasons": [unknown]}
    return verdict | {"learning": not reasons, "reasons": reasons}


def told(health: Mapping[str, Any]) -> str:
    """The verdict in a sentence."""
    if health["learning"] is None:
        return f"Whether it learns cannot be said: {'; '.join(health['reasons'])}."
    if not health["learning"]:
        return f"Not learning: {'; '.join(health['reasons'])}."
    return (
        f"Learning: the entropy came down to {health['entropy_lowest_median']:.3f} nats (limit "
        f"{health['entropy_limit']:.3f}), and the value function explained "
        f"{health['explained_variance_best']:.2f} of the variance (limit {health['explained_variance_limit']})."
    )


def _reasons(lowest: float, limit: float | None, best: float) -> list[str]:
    reasons = []
    if limit is not None and lowest >= limit:
        reasons.append(f"the entropy never fell below {limit:.3f} nats for a quarter of the run (lowest {lowest:.3f})")
    if best <= LEAST_EXPLAINED:
        reasons.append(
            f"the value function never explained more than {LEAST_EXPLAINED} of the variance for a quarter of the run "
            f"(best {best:.3f})"
        )
    return reasons


def _known(metrics: Sequence[Mapping[str, float]], name: str) -> list[float]:
    return [row[name] for row in metrics if name in row and math.isfinite(row[name])]


def _medians(values: Sequence[float]) -> list[float]:
    """Medians over every quarter of a series, whole or not."""
    size = max(1, -(-len(values) // 4))
    return [median(values[first : first + size]) for first in range(len(values) - size + 1)] if values else []
