"""A run of neighbouring lanes, one environment each: the loop that steps them, in this process or in a worker."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from respawn.errors import ConfigError, WorldError
from respawn.worlds.foreign.adaptors import State, adaptor_for
from respawn.worlds.foreign.endings import Endings, read_ending
from respawn.worlds.foreign.making import Env, EnvPlan, import_modules, make_env
from respawn.worlds.foreign.sharing import NO_LANE, Buffers, Stage
from respawn.worlds.foreign.spaces import Array, Layout, translate

STEP, RESET = int(Stage.STEP), int(Stage.RESET)


class LaneGroup:
    """Makes, resets and steps the environments of `lanes`.

    Whatever it is busy with stands in `progress` as (stage, lane), so that a failure of any kind can be placed.
    """

    def __init__(
        self,
        plan: EnvPlan,
        lanes: range,
        progress: "array[int] | memoryview | None" = None,
        mark: Callable[[str, int], None] = lambda stage, lane: None,
    ) -> None:
        self.lanes = lanes
        self._plan = plan
        self._progress = array("i", [0, NO_LANE]) if progress is None else progress
        self._mark = mark
        self._envs: list[Env] = []
        self._has_reset = False  # marks are for the first time of everything; a file of all of them helps nobody
        self._has_stepped = False

    def build(self) -> None:
        """Import what is needed and make the environments."""
        self._enter(Stage.IMPORT)
        self._mark("import", NO_LANE)
        import_modules(self._plan)
        for lane in self.lanes:
            self._enter(Stage.MAKE, lane)
            self._mark("make", lane)
            self._envs.append(make_env(self._plan))
        first = self._envs[0]
        self._translation = translate(self._plan.env_id, first.observation_space, first.action_space)
        self._adaptors = [adaptor_for(env) for env in self._envs]
        self._steps = [env.step for env in self._envs]
        self._enter(Stage.WAIT)

    @property
    def layout(self) -> Layout:
        """How observations and actions are laid out."""
        return self._translation.layout

    @property
    def exact(self) -> bool:
        """Whether every environment's state can be saved and restored exactly."""
        return all(adaptor is not None for adaptor in self._adaptors)

    def attach(self, buffers: Buffers) -> None:
        """Take over the arrays to read actions from and to write results into."""
        span = slice(self.lanes.start, self.lanes.stop)
        self._actions = buffers.actions[span]
        self._rewards = buffers.rewards[span]
        self._terminated = buffers.terminated[span]
        self._truncated = buffers.truncated[span]
        # Views of single rows are made once: taking them anew would cost as much as writing into them.
        self._rows = [[slot[lane] for lane in self.lanes] for slot in buffers.observations]
        self._final_rows = [buffers.finals[lane] for lane in self.lanes]

    def reset(self, seeds: Sequence[int], slot: int) -> None:
        """Begin a new episode in every lane, from one seed a lane."""
        encode = self._translation.encode
        for index, (lane, seed) in enumerate(zip(self.lanes, seeds, strict=True)):
            self._enter(Stage.RESET, lane)
            if not self._has_reset:
                self._mark("reset", lane)
            observation, _ = self._envs[index].reset(seed=seed)
            encode(observation, self._rows[slot][index])
        self._has_reset = True
        self._enter(Stage.WAIT)

    def step(self, slot: int) -> Endings:
        """Carry out the actions in the arrays; a lane whose episode ends begins the next one at once.

        Returns what environments had to say of the episodes that ended.
        """
        progress, encode, rows = self._progress, self._translation.encode, self._rows[slot]
        rewards, first_lane = self._rewards, self.lanes.start
        self._terminated.fill(False)
        self._truncated.fill(False)
        actions = self._translation.decode(self._actions)
        if not self._has_stepped:
            self._mark("first step", NO_LANE)
            self._has_stepped = True
        endings: Endings = {}
        progress[0] = STEP
        for index, step in enumerate(self._steps):
            progress[1] = first_lane + index
            observation, reward, terminated, truncated, info = step(actions[index])
            rewards[index] = reward
            if terminated or truncated:
                encode(observation, self._final_rows[index])
                # An end of its own is an end, whether or not the time was up in the same step.
                self._terminated[index] = bool(terminated)
                self._truncated[index] = not terminated
                if (ending := read_ending(info)) is not None:
                    endings[first_lane + index] = ending
                progress[0] = RESET
                observation, _ = self._envs[index].reset()
                progress[0] = STEP
            encode(observation, rows[index])
        self._enter(Stage.WAIT)
        return endings

    def states(self) -> list[State | None]:
        """The state of each environment, None where it cannot be known."""
        saved: list[State | None] = []
        for lane, adaptor in zip(self.lanes, self._adaptors, strict=True):
            self._enter(Stage.STATE, lane)
            saved.append(None if adaptor is None else adaptor.state())
        self._enter(Stage.WAIT)
        return saved

    def restore(self, states: Sequence[State]) -> None:
        """Put every environment back where it was."""
        for lane, adaptor, state in zip(self.lanes, self._adaptors, states, strict=True):
            self._enter(Stage.RESTORE, lane)
            if adaptor is None:
                raise WorldError(f"environment '{self._plan.env_id}' has no way to restore a state")
            adaptor.restore(state)
        self._enter(Stage.WAIT)

    def render(self, lane: int) -> Array:
        """The picture that an environment draws of itself, [height, width, 3] uint8."""
        if not self._plan.render:
            raise ConfigError(f"environment '{self._plan.env_id}' was made without pictures; set `render` to get them")
        self._enter(Stage.RENDER, lane)
        frame: Any = self._envs[lane - self.lanes.start].render()
        self._enter(Stage.WAIT)
        picture = np.asarray(frame)
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
            raise WorldError(
                f"expected environment '{self._plan.env_id}' to draw [height, width, 3] uint8, "
                f"got shape {picture.shape} and dtype {picture.dtype}"
            )
        return picture

    def close(self) -> list[str]:
        """Close the environments, all of them, and say what went wrong."""
        problems = []
        for lane, env in zip(self.lanes, self._envs, strict=False):
            self._enter(Stage.CLOSE, lane)
            try:
                env.close()
            except Exception as problem:  # noqa: BLE001  # nothing depends on it any more: told, not raised
                problems.append(f"{self.where()} raised {type(problem).__name__}: {problem}")
        self._envs = []
        return problems

    def where(self) -> str:
        """What it is busy with, in words: 'step of lane 3'."""
        return describe_progress(self._progress)

    def _enter(self, stage: Stage, lane: int = NO_LANE) -> None:
        self._progress[0] = int(stage)
        self._progress[1] = lane


def describe_progress(progress: "array[int] | memoryview") -> str:
    """A stage and a lane in words."""
    stage, lane = Stage(progress[0]).name.lower(), progress[1]
    return stage if lane == NO_LANE else f"{stage} of lane {lane}"
