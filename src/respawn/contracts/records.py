"""The records that flow: world → rollout → learner → report → observers. All frozen; shapes in the comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:  # whoever only reads run folders needs no torch, which takes seconds to load
    from torch import Tensor

Memory: TypeAlias = "Mapping[str, Tensor]"
"""What a recurrent core carries from step to step: named tensors [B, ...]; empty for a core without memory."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode."""

    lane: int
    episode_return: float
    length: int
    end: str
    """why it ended: 'terminated', 'time limit', 'worker lost', or a word of the world's own"""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """what else its world has to say about it, such as how far it came; the same names for every episode of a world"""


@dataclass(frozen=True, slots=True)
class Rollout:
    """T steps of B lanes. Row T of `observations` is where the next rollout begins."""

    observations: Tensor  # [T+1, B, ...]
    actions: Tensor  # [T, B] or [T, B, A]
    behaviour_log_probs: Tensor  # [T, B] of whoever chose the action
    rewards: Tensor  # [T, B]
    terminated: Tensor  # [T, B] bool
    truncated: Tensor  # [T, B] bool
    cuts: Tensor  # [K, 2] int64 (t, lane) of each truncated row, sorted; on the CPU
    cut_observations: Tensor  # [K, ...] what the agent saw there, so that the learner can value it itself
    valid: Tensor  # [T, B] bool; a caught fish is not data
    scripted: Tensor  # [T, B] bool; the action was forced, and its behaviour log-probability is 0: it was certain
    memory: Memory  # [B, ...] recurrent state before row 0
    weights_version: int
    knobs_version: int
    episodes: tuple[Episode, ...]
    phase_seconds: Mapping[str, float]
    counts: Mapping[str, float] = field(default_factory=dict)
    """what the world counted while the rollout was gathered, by name"""
    flow: Mapping[str, float] = field(default_factory=dict)
    """how rollouts flowed when this one was handed over, by name; like seconds, never the same twice"""

    @property
    def num_decisions(self) -> int:
        """How many of the T·B steps were somebody's decision."""
        return int(self.valid.sum().item())


@dataclass(frozen=True, slots=True)
class LearnReport:
    """What a learner says about one update; metric names are `group/name`, as in docs/metrics.md."""

    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """One row of updates.jsonl."""

    update: int
    decisions: int
    frames: int
    episodes: int
    metrics: Mapping[str, float]
    """deterministic given config and seed, except names under `time/`"""


@dataclass(frozen=True, slots=True)
class EpisodeReport:
    """One row of episodes.jsonl: an episode and the update whose rollout it ended in."""

    update: int
    episode: Episode


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """One row of evaluations.jsonl."""

    update: int
    decisions: int
    metrics: Mapping[str, float]
    probe: Probe | None = None
    """the same evaluation in full, where a world has more to tell than numbers; a row of its own in probes.jsonl"""


@dataclass(frozen=True, slots=True)
class Probe:
    """One row of probes.jsonl: an evaluation in full, episode by episode, as plain data."""

    update: int
    decisions: int
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ruling:
    """One row of rulings.jsonl: what a schedule concluded from a report, and on what grounds, as plain data."""

    update: int
    schedule: str
    """which one, such as 'penalty_gate'"""
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One row of events.jsonl: something worth knowing that happened once."""

    kind: str
    message: str
    level: Literal["info", "warning", "error"] = "info"
    facts: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beat:
    """One row of heartbeats.jsonl: a sign of life, where the run is, and how its process is."""

    update: int
    """the last update that was reported"""
    decisions: int
    phases: Mapping[str, str]
    """what each thread is doing, by the thread's name"""
    is_stalled: bool
    """nothing has moved for longer than a run may stand still"""
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ResourceReport:
    """One row of resources.jsonl: what the run and its machine used, sampled at even intervals."""

    update: int
    decisions: int
    metrics: Mapping[str, float]


Record: TypeAlias = UpdateReport | EpisodeReport | EvaluationReport | Probe | Ruling | Event | Beat | ResourceReport
