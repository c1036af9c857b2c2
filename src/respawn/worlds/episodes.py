"""Returns, lengths and end reasons, for any world."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from torch import Tensor

from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree

Array: TypeAlias = "np.ndarray[Any, Any]"
NO_ENDS: Mapping[int, str] = {}
NO_FACTS: Mapping[int, Mapping[str, float | str]] = {}
WORKER_LOST = "worker lost"
"""The end of an episode whose environment was lost with the process that it lived in."""


class EpisodeTracker:
    """Adds up the return and the length of each lane's episode, and makes a record of each that ends.

    Returns are added in float64, so that a long episode of small rewards keeps its last digits.
    """

    def __init__(self, num_lanes: int) -> None:
        self._returns = np.zeros(num_lanes, np.float64)  # [B]
        self._lengths = np.zeros(num_lanes, np.int64)  # [B]

    def begin(self) -> None:
        """Forget all lanes' episodes: every lane begins a new one."""
        self._returns.fill(0.0)
        self._lengths.fill(0)

    def record(
        self, reward: Tensor, terminated: Tensor, truncated: Tensor, ends: Mapping[int, str] = NO_ENDS
    ) -> tuple[Episode, ...]:
        """Take note of one step and return the episodes that it ended, in lane order.

        Args:
          reward: [B] float32.
          terminated: [B] bool.
          truncated: [B] bool.
          ends: Why the episode of a lane ended, where it is not 'terminated' or 'time limit'.
        """
        return self.record_arrays(
            reward.detach().cpu().numpy(), terminated.cpu().numpy(), truncated.cpu().numpy(), ends
        )

    def record_arrays(
        self,
        reward: Array,
        terminated: Array,
        truncated: Array,
        ends: Mapping[int, str] = NO_ENDS,
        facts: Mapping[int, Mapping[str, float | str]] = NO_FACTS,
    ) -> tuple[Episode, ...]:
        """The same as `record`, for a world that has its results as arrays, and maybe more to say of each episode."""
        self._returns += reward
        self._lengths += 1
        ended = (terminated | truncated).nonzero()[0]
        if not ended.size:
            return ()
        episodes = tuple(
            Episode(
                lane=lane,
                episode_return=float(self._returns[lane]),
                length=int(self._lengths[lane]),
                end=ends.get(lane) or ("terminated" if terminated[lane] else "time limit"),
                facts=facts.get(lane, {}),
            )
            for lane in ended.tolist()
        )
        self._returns[ended] = 0.0
        self._lengths[ended] = 0
        return episodes

    def state(self) -> StateTree:
        """What each lane's episode has gathered so far."""
        return {"returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def restore(self, state: StateTree) -> None:
        """Go on adding from `state`."""
        self._returns[:] = np.asarray(state["returns"])
        self._lengths[:] = np.asarray(state["lengths"])


@runtime_checkable
class ShowsFinalObservations(Protocol):
    """A world that can also say what was last seen in lanes that ended by themselves.

    Training needs only the observations of truncated lanes, which are in `StepResult`. Gymnasium users expect the last
    one of every episode; a world that has them at hand offers this, and `single_env` and `vector_env` make use of it.
    """

    def final_observations(self) -> Tensor:
        """[B, ...] of which row i holds the last observation of the episode that ended in lane i in the last step."""
        ...
