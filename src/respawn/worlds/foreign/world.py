"""ForeignWorld: any Gymnasium environment as a World."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Event
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import (
    ActionSpec,
    ContinuousActions,
    DiscreteActions,
    Frame,
    MultiDiscreteActions,
    ObservationSpec,
    StepResult,
    WorldSpec,
)
from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.worlds.episodes import NO_ENDS, NO_FACTS, WORKER_LOST, EpisodeTracker
from respawn.worlds.foreign.adaptors import State
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.endings import Endings
from respawn.worlds.foreign.local import LocalLanes
from respawn.worlds.foreign.sharing import Buffers
from respawn.worlds.foreign.spaces import Array, Layout
from respawn.worlds.foreign.supervisor import Supervisor
from respawn.worlds.seeds import LaneSeeds


class Lanes(Protocol):
    """Where the environments live: in this process, or in workers."""

    layout: Layout
    exact: bool
    buffers: Buffers
    slot: int
    """which of the observations in the buffers are the current ones"""
    endings: Endings
    """what environments said of the episodes that ended in the last step"""

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin a new episode in every lane."""
        ...

    def step(self) -> list[int]:
        """Carry out the actions in the buffers; returns lanes that were lost and begun anew."""
        ...

    def states(self) -> list[State | None]:
        """The state of every lane's environment."""
        ...

    def restore(self, states: Sequence[State]) -> None:
        """Put every lane's environment back where it was."""
        ...

    def render(self, lane: int) -> Array:
        """The picture that a lane's environment draws of itself."""
        ...

    def close(self) -> list[str]:
        """Give everything back, and say what went wrong."""
        ...


class ForeignWorld:
    """A batch of Gymnasium environments, one a lane, made by `gymnasium.make` and stepped one by one.

    The first reset of a lane uses the lane's seed; later ones go on with the environment's own generator. Results do
    not depend on where the environments live, nor on the number of workers.

    Args:
      config: Which environment, and how it is run.
      num_lanes: How many of it.
      device: Where the tensors go that are returned; the environments live on the CPU.
      diagnostics: Where workers leave their files; without one, a temporary folder that is kept if a worker was lost.
      notify: Is told what happens once: a worker replaced, episodes that could not be resumed. Called from whichever
        thread steps the world.
    """

    def __init__(
        self,
        config: ForeignConfig,
        num_lanes: int,
        *,
        device: torch.device | None = None,
        diagnostics: Path | None = None,
        notify: Callable[[Event], None] = lambda event: None,
    ) -> None:
        if num_lanes < 1:
            raise ConfigError(f"a world needs at least one lane, got {num_lanes}")
        self._device = device or torch.device("cpu")
        self._on_cpu = self._device.type == "cpu"
        self._notify = notify
        self._seeds = LaneSeeds(num_lanes)
        self._lanes: Lanes = (
            Supervisor(config, num_lanes, self._seeds, diagnostics=diagnostics, notify=notify)
            if config.workers
            else LocalLanes(config, num_lanes)
        )
        layout = self._lanes.layout
        self._spec = WorldSpec(
            name=config.env_id,
            observation=ObservationSpec(layout.observation_shape, layout.observation_dtype),
            actions=_action_spec(layout),
            num_lanes=num_lanes,
            frames_per_step=config.frames_per_step,
            exact_resume=self._lanes.exact,
        )
        self._tracker = EpisodeTracker(num_lanes)
        buffers = self._lanes.buffers
        # Tensors over the same memory as the arrays, made once.
        self._observations = [torch.from_numpy(slot) for slot in buffers.observations]  # [B, ...] a slot
        self._finals = torch.from_numpy(buffers.finals)  # [B, ...]
        self._rewards = torch.from_numpy(buffers.rewards)  # [B]
        self._terminated = torch.from_numpy(buffers.terminated)  # [B]
        self._truncated = torch.from_numpy(buffers.truncated)  # [B]
        self._actions = torch.from_numpy(buffers.actions)  # [B] or [B, A]
        self._no_cuts = self._finals[:0].to(self._device)
        self._valid = torch.ones(num_lanes, dtype=torch.bool, device=self._device)  # [B] always somebody there

    @property
    def spec(self) -> WorldSpec:
        """Shapes, lanes, and whether a run can be resumed exactly."""
        return self._spec

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin a new episode in every lane, from one seed a lane."""
        if len(seeds) != self._spec.num_lanes:
            raise WorldError(f"expected one seed for each of {self._spec.num_lanes} lanes, got {len(seeds)}")
        self._seeds.begin(seeds)
        self._lanes.reset([int(seed) for seed in seeds])
        self._tracker.begin()
        return self.observe()

    def step(self, actions: Tensor) -> StepResult:
        """Carry out one action a lane."""
        if actions.shape != self._actions.shape:
            raise WorldError(f"expected actions of shape {tuple(self._actions.shape)}, got {tuple(actions.shape)}")
        self._actions.copy_(actions)
        lost = self._lanes.step()
        ends, facts = self._told(lost)
        buffers = self._lanes.buffers
        episodes = self._tracker.record_arrays(buffers.rewards, buffers.terminated, buffers.truncated, ends, facts)
        return StepResult(
            observation=self.observe(),
            reward=self._moved(self._rewards),
            terminated=self._moved(self._terminated),
            truncated=self._moved(self._truncated),
            cut_observations=self._moved(self._finals[self._truncated]) if episodes else self._no_cuts,
            valid=self._valid,
            episodes=episodes,
        )

    def _told(self, lost: list[int]) -> tuple[Mapping[int, str], Mapping[int, Mapping[str, float | str]]]:
        """Why episodes ended and what is said of them: by environments, and by the loss of a worker."""
        endings = self._lanes.endings
        if not endings and not lost:
            return NO_ENDS, NO_FACTS
        ends = {lane: ending.end for lane, ending in endings.items()}
        return ends | dict.fromkeys(lost, WORKER_LOST), {lane: ending.facts for lane, ending in endings.items()}

    def observe(self) -> Tensor:
        """The current observations [B, ...]."""
        return self._moved(self._observations[self._lanes.slot])

    def final_observations(self) -> Tensor:
        """The last observation [B, ...] of the episode that ended last in each lane, however it ended."""
        return self._moved(self._finals)

    def present(self) -> Tensor:
        """Somebody is there in every lane."""
        return self._valid

    def facts_so_far(self, lane: int) -> Mapping[str, float | str]:
        """Nothing beyond return and length."""
        return {}

    def apply(self, knobs: Knobs) -> None:
        """Nothing to take over: a Gymnasium environment declares no knobs."""

    def render(self, lane: int) -> Frame:
        """The picture that a lane's environment draws of itself; needs `render` in the config."""
        frame: Frame = self._lanes.render(lane)
        return frame

    def close(self) -> None:
        """End the workers and close the environments; one that fails in this is reported and harms nobody."""
        problems = self._lanes.close()
        if problems:
            others = f", and {len(problems) - 1} more like it" if len(problems) > 1 else ""
            self._notify(
                Event(
                    kind="close_failed",
                    message=f"{self._spec.name} could not be closed in good order: {problems[0]}{others}",
                    level="warning",
                    facts={"world": self._spec.name, "problems": len(problems)},
                )
            )

    def state(self) -> StateTree:
        """Every lane's environment, or None for all where environments cannot say their state."""
        return {
            "seeds": self._seeds.state(),
            "tracker": self._tracker.state(),
            "observations": self._observations[self._lanes.slot].clone(),
            "lanes": self._lanes.states() if self._lanes.exact else None,
        }

    def restore(self, state: StateTree) -> None:
        """Go on where the state was taken; where that is not known, begin new episodes from new seeds."""
        if len(state["seeds"]["seeds"]) != self._spec.num_lanes:
            raise CheckpointError(
                f"expected the state of {self._spec.num_lanes} lanes, got {len(state['seeds']['seeds'])}; "
                "resume with the number of lanes that the run began with"
            )
        self._seeds.restore(state["seeds"])
        lanes: list[Any] | None = state["lanes"]
        if lanes is not None and self._lanes.exact:
            self._lanes.restore(lanes)
            self._tracker.restore(state["tracker"])
            self._observations[self._lanes.slot].copy_(state["observations"])
            return
        self._lanes.reset(self._seeds.renew(range(self._spec.num_lanes)))
        self._tracker.begin()
        self._notify(
            Event(
                kind="episodes_begun_anew",
                message=(
                    f"{self._spec.name} {'could not' if self._lanes.exact else 'cannot'} say its state, "
                    "so its episodes begin anew where the run is resumed"
                ),
                facts={"world": self._spec.name, "lanes": self._spec.num_lanes},
            )
        )

    def _moved(self, tensor: Tensor) -> Tensor:
        """The tensor where the rest of the house wants it; asking torch would cost more than knowing."""
        return tensor if self._on_cpu else tensor.to(self._device)


def _action_spec(layout: Layout) -> ActionSpec:
    if layout.action_kind == "discrete":
        return DiscreteActions(layout.action_sizes[0])
    if layout.action_kind == "continuous":
        return ContinuousActions(layout.action_sizes[0])
    return MultiDiscreteActions(layout.action_sizes)
