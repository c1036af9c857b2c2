"""Masses to draw by, and how far draws are from what they should be."""

import math

import numpy as np


def spreads(size: int) -> dict[str, np.ndarray]:
    """Masses of many kinds: alike, spread over twelve orders of magnitude, mostly none, one among many."""
    dice = np.random.default_rng(5)
    sparse = dice.integers(1, 1_000, size)
    sparse[dice.random(size) < 0.9] = 0
    lonely = np.zeros(size, dtype=np.int64)
    lonely[size // 3] = 7
    return {
        "alike": np.full(size, 1_000),
        "mixed": dice.integers(1, 10_000, size),
        "extreme": (10.0 ** dice.uniform(0, 12, size)).astype(np.int64),
        "sparse": sparse,
        "lonely": lonely,
    }


def kl(counts: np.ndarray, masses: np.ndarray) -> float:
    """KL(drawn || exact) in nats; infinite where something was drawn that has no mass."""
    drawn, exact = counts / counts.sum(), masses / masses.sum()
    seen = drawn > 0
    if (exact[seen] == 0).any():
        return math.inf
    return float((drawn[seen] * np.log(drawn[seen] / exact[seen])).sum())


def chi_square(counts: np.ndarray, masses: np.ndarray) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; entries expected less than five times are counted together."""
    expected = counts.sum() * masses / masses.sum()
    common = expected >= 5
    groups = [(counts[common], expected[common])]
    if expected[~common].sum() >= 5:
        groups.append((counts[~common].sum(keepdims=True), expected[~common].sum(keepdims=True)))
    statistic = sum(float(((seen - wanted) ** 2 / wanted).sum()) for seen, wanted in groups)
    return statistic, max(sum(len(seen) for seen, _ in groups) - 1, 1)


def chi_square_deviations(counts: np.ndarray, masses: np.ndarray) -> float:
    """How many standard deviations the statistic is above its mean (Wilson and Hilferty's cube root)."""
    statistic, freedom = chi_square(counts, masses)
    variance = 2.0 / (9.0 * freedom)
    return ((statistic / freedom) ** (1.0 / 3.0) - (1.0 - variance)) / math.sqrt(variance)
