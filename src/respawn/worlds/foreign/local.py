"""All lanes in this process: no workers, nothing to watch, nothing between a step and its environment."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from respawn.errors import RespawnError, WorldError
from respawn.worlds.foreign.adaptors import State
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.endings import Endings
from respawn.worlds.foreign.lanes import LaneGroup
from respawn.worlds.foreign.sharing import local_buffers
from respawn.worlds.foreign.spaces import Array

Result = TypeVar("Result")


class LocalLanes:
    """Runs the lanes one after the other in the calling thread."""

    def __init__(self, config: ForeignConfig, num_lanes: int) -> None:
        self._env_id = config.env_id
        self._group = LaneGroup(config.plan, range(num_lanes))
        self._guarded(self._group.build)
        self.layout = self._group.layout
        self.exact = self._group.exact
        self.buffers = local_buffers(self.layout, num_lanes)
        self.slot = 0
        self.endings: Endings = {}
        self._group.attach(self.buffers)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin a new episode in every lane."""
        self._guarded(lambda: self._group.reset(seeds, self.slot))

    def step(self) -> list[int]:
        """Carry out the actions in the buffers; no lane is ever lost here."""
        try:
            self.endings = self._group.step(self.slot)
        except Exception as problem:
            raise self._failure(problem) from problem
        return []

    def states(self) -> list[State | None]:
        """The state of every lane's environment."""
        return self._guarded(self._group.states)

    def restore(self, states: Sequence[State]) -> None:
        """Put every lane's environment back where it was."""
        self._guarded(lambda: self._group.restore(states))

    def render(self, lane: int) -> Array:
        """The picture that a lane's environment draws of itself."""
        return self._guarded(lambda: self._group.render(lane))

    def close(self) -> list[str]:
        """Close the environments and say what went wrong."""
        return self._group.close()

    def _guarded(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except Exception as problem:
            raise self._failure(problem) from problem

    def _failure(self, problem: Exception) -> RespawnError:
        """What went wrong, with the environment, the stage and the lane; errors of ours that say it all stay."""
        if isinstance(problem, RespawnError) and not isinstance(problem, WorldError):
            return problem
        detail = str(problem) if isinstance(problem, WorldError) else f"raised {type(problem).__name__}: {problem}"
        return WorldError(f"environment '{self._env_id}' failed in {self._group.where()}: {detail}")
