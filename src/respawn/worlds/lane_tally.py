"""Returns and lengths of lanes, each by itself, also where several live in one episode."""

import numpy as np

from respawn.contracts.saveable import StateTree
from respawn.worlds.episodes import Array


class LaneTally:
    """Adds up what every lane gets while somebody is there."""

    def __init__(self, num_lanes: int) -> None:
        self._returns = np.zeros(num_lanes, np.float64)  # [B]
        self._lengths = np.zeros(num_lanes, np.int64)  # [B]

    def begin(self) -> None:
        """Every lane begins anew."""
        self._returns.fill(0.0)
        self._lengths.fill(0)

    def add(self, reward: Array, present: Array) -> None:
        """Take note of one step's rewards [B], for lanes in which somebody was there to decide, [B] bool."""
        self._returns += np.where(present, reward, 0.0)
        self._lengths += present

    def close(self, ended: Array) -> tuple[Array, Array]:
        """Returns and lengths of lanes that ended, [B] bool, and zeros for the others; those begin anew."""
        returns, lengths = np.where(ended, self._returns, 0.0), np.where(ended, self._lengths, 0)
        self._returns[ended] = 0.0
        self._lengths[ended] = 0
        return returns, lengths

    def state(self) -> StateTree:
        """What each lane has gathered so far."""
        return {"returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def restore(self, state: StateTree) -> None:
        """Go on adding from `state`."""
        self._returns[:] = np.asarray(state["returns"])
        self._lengths[:] = np.asarray(state["lengths"])
