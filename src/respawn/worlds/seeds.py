"""Seeds of lanes. Everything random in a world follows from one seed a lane."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def lane_seeds(seed: int, num_lanes: int) -> list[int]:
    """One seed a lane from the seed of a run; lane i gets the same one however many lanes there are.

    They fit in 31 bits, since some environments hand their seed to a C `int`.
    """
    return [int(word) >> 1 for word in np.random.SeedSequence(seed).generate_state(num_lanes, np.uint32)]


class LaneSeeds:
    """Remembers each lane's seed, and makes new ones for lanes that must begin anew out of turn."""

    def __init__(self, num_lanes: int) -> None:
        self._seeds = [0] * num_lanes
        self._renewals = [0] * num_lanes

    def begin(self, seeds: Sequence[int]) -> None:
        """Take over one seed a lane."""
        self._seeds = [int(seed) for seed in seeds]
        self._renewals = [0] * len(seeds)

    def renew(self, lanes: Iterable[int]) -> list[int]:
        """A new seed for each of `lanes`, which follows from the lane's own seed and how often it was renewed."""
        seeds = []
        for lane in lanes:
            self._renewals[lane] += 1
            words = np.random.SeedSequence([self._seeds[lane], self._renewals[lane]]).generate_state(1, np.uint32)
            seeds.append(int(words[0]) >> 1)
        return seeds

    def state(self) -> dict[str, Any]:
        """The seeds and how often each was renewed."""
        return {"seeds": list(self._seeds), "renewals": list(self._renewals)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`."""
        self._seeds = [int(seed) for seed in state["seeds"]]
        self._renewals = [int(count) for count in state["renewals"]]
