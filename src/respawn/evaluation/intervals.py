"""How far what was counted may be from what is true: 95 % intervals."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

Z = 1.959963984540054
"""How many standard errors to either side hold 95 % of a normal distribution."""


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


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Where a mean lies, given some values; of one value nothing more is known than itself."""
    mean = fmean(values)
    margin = Z * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - margin, mean + margin
