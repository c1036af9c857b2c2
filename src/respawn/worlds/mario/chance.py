"""Dice of each lane's own: a hash of its seed, its episode and its step, so that there is no generator to save."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

STARTS, WAITS, STICKS = 1, 2, 3
"""What dice are thrown for; each has its own stream."""
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix(words: Words) -> Words:
    """Scramble numbers so that neighbours have nothing in common: SplitMix64 (Steele et al. 2014)."""
    words = words + _GAMMA
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def throw(seeds: Words, episodes: Words, steps: Words, stream: int) -> NDArray[np.float64]:
    """[B] numbers from 0 to 1, 1 excluded."""
    # Seeds are scrambled first: else a seed's stream would be its neighbour's next one.
    words = mix(mix(mix(mix(seeds) + np.uint64(stream)) + episodes) + steps)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def choose(seeds: Words, episodes: Words, stream: int, count: int) -> NDArray[np.int32]:
    """[B] whole numbers from 0 to `count` - 1."""
    return (throw(seeds, episodes, np.zeros_like(seeds), stream) * count).astype(np.int32)
