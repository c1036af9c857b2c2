"""How far what was counted may be from what is true: 95 % intervals."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

Z = 1.959963984540054
"""How many standard errors to either side hold 95 % of a normal distribution."""
_ENDS = ("return_low", "return_high", "survival_low", "survival_high")
"""What the ends of intervals of means are called."""


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Where a rate lies, given how often it came true (Wilson 1927); right also for none, for all, and for few trials.

    Args:
      successes: how often it came true.
      trials: of how many; with none, anything is possible.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 to {trials} successes of {trials} trials, got {successes}")
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    centre = rate + Z * Z / (2 * trials)
    margin = Z * math.sqrt(rate * (1 - rate) / trials + Z * Z / (4 * trials * trials))
    whole = 1 + Z * Z / trials
    # Where all or none came true an end is exactly 1 or 0, which rounding would miss.
    low = 0.0 if successes == 0 else (centre - margin) / whole
    high = 1.0 if successes == trials else (centre + margin) / whole
    return low, high


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where a mean lies, given some values; None: of a single one nobody knows how far others are from it."""
    if len(values) < 2:
        return None
    mean, margin = fmean(values), Z * stdev(values) / math.sqrt(len(values))
    return mean - margin, mean + margin


def without_false_ends(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The same numbers of some episodes, but None for the ends of a mean's interval where there was one episode.

    As metrics the ends are the mean itself then, for rows hold numbers; said to somebody, that would be certainty.
    """
    unknown = _ENDS if numbers["episodes"] < 2 else ()
    return {name: None if name in unknown else value for name, value in numbers.items()}
