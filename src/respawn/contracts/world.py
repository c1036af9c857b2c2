"""The seam between training and anything that steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.records import Episode
from respawn.contracts.saveable import Saveable

Frame: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"  # [height, width, 3] RGB


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """What an agent sees: float32 numbers of any shape, or uint8 pictures [channels, height, width]."""

    shape: tuple[int, ...]
    dtype: Literal["float32", "uint8"] = "float32"


@dataclass(frozen=True, slots=True)
class DiscreteActions:
    """One of `num_actions` choices; int64 actions of shape [B]."""

    num_actions: int


@dataclass(frozen=True, slots=True)
class MultiDiscreteActions:
    """Several choices at once, one of `sizes[i]` each; int64 actions of shape [B, len(sizes)]."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContinuousActions:
    """`size` real numbers; float32 actions of shape [B, size].

    The policy speaks in units where -1 and 1 are the ends of each range and may overshoot; the world clips and scales
    to its own units.
    """

    size: int


ActionSpec: TypeAlias = DiscreteActions | MultiDiscreteActions | ContinuousActions


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """All that the rest of the house may know about a world."""

    name: str
    observation: ObservationSpec
    actions: ActionSpec
    num_lanes: int
    frames_per_step: int = 1
    knobs: tuple[KnobSpec, ...] = ()
    lanes_per_episode: int = 1
    """so many lanes, side by side, live in one episode; one of them may end before it does"""
    action_names: tuple[str, ...] = ()
    """what each of a discrete choice's actions is called; none: by their numbers, from 0"""
    forward_actions: tuple[str, ...] = ()
    """the actions that lead forward, the likeliest first; none: the world knows no forward"""
    forward_fact: str = ""
    """the fact of an episode that says how far it came; empty: only its rewards say so"""
    tail_facts: tuple[str, ...] = ()
    """facts of episodes whose 10th percentile matters beside their mean"""
    share_counts: tuple[str, ...] = ()
    """counts of `StepResult` that are numbers of decisions, and matter as a share of all decisions of a rollout"""
    exact_resume: bool = True
    """False: the world cannot say its state, so its episodes begin anew when a run is resumed.

    They go on only if it is True both where the state was saved and where it is restored.
    """


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one decision in each of B lanes led to. A finished lane has already begun its next episode."""

    observation: Tensor  # [B, ...] what the next decision is made on
    reward: Tensor  # [B] float32
    terminated: Tensor  # [B] bool: the episode reached its own end
    truncated: Tensor  # [B] bool: the episode was cut short; never together with `terminated`
    cut_observations: Tensor  # [K, ...] the last thing seen in each truncated lane, in lane order
    valid: Tensor  # [B] bool: somebody is there to decide on `observation`
    episodes: tuple[Episode, ...]  # those that ended in this step, in lane order, each under its first lane
    counts: Mapping[str, float] = field(default_factory=dict)  # what happened since the step before, by name


class World(Saveable, Protocol):
    """A batch of lanes that step together; the only thing a collector steps.

    Tensors that a world returns are its own and may be overwritten by its next step: copy what must last.
    """

    @property
    def spec(self) -> WorldSpec:
        """Shapes, lanes, knobs; constant over the life of the world."""
        ...

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin a new episode in every lane, from one seed a lane; returns the first observations [B, ...]."""
        ...

    def step(self, actions: Tensor) -> StepResult:
        """Carry out one action a lane; lanes whose episode ends begin the next one within the same call."""
        ...

    def observe(self) -> Tensor:
        """The current observations [B, ...], as `reset` or the last `step` returned them; also after `restore`."""
        ...

    def present(self) -> Tensor:
        """[B] bool: the lanes in which somebody is there to decide on `observe`; also after `restore` and `apply`."""
        ...

    def facts_so_far(self, lane: int) -> Mapping[str, float | str]:
        """What a lane's episode would have to say of itself, as `Episode.facts`, if it were cut short now."""
        ...

    def apply(self, knobs: Knobs) -> None:
        """Take over new knob values; called between rollouts only."""
        ...

    def render(self, lane: int) -> Frame:
        """A picture of one lane as it is now."""
        ...

    def close(self) -> None:
        """Give back processes, files and memory; safe to call twice."""
        ...
