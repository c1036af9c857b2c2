"""A preallocated place for one rollout: rows are written into it, then it is sealed.

Two of these serve a collector for ever: while a learner reads one, the other is being filled.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from respawn.contracts.policy import Decision
from respawn.contracts.records import Episode, Memory, Rollout
from respawn.contracts.world import ContinuousActions, MultiDiscreteActions, StepResult, WorldSpec


def row_shapes(spec: WorldSpec, horizon_steps: int) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    """What the rows of one rollout need, by the names that they have in it."""
    shape = (horizon_steps, spec.num_lanes)
    observation_dtype = torch.uint8 if spec.observation.dtype == "uint8" else torch.float32
    return {
        "observations": ((horizon_steps + 1, spec.num_lanes, *spec.observation.shape), observation_dtype),
        "actions": _actions(spec, shape),
        "behaviour_log_probs": (shape, torch.float32),
        "rewards": (shape, torch.float32),
        "terminated": (shape, torch.bool),
        "truncated": (shape, torch.bool),
        "valid": (shape, torch.bool),
        "scripted": (shape, torch.bool),
    }


class RolloutBuffer:
    """Memory for T steps of B lanes on one device: its own, or `rows` that somebody shares with us."""

    def __init__(
        self,
        spec: WorldSpec,
        horizon_steps: int,
        device: torch.device,
        rows: Mapping[str, Tensor] | None = None,
    ) -> None:
        if rows is None:
            shapes = row_shapes(spec, horizon_steps)
            rows = {name: torch.zeros(shape, dtype=dtype, device=device) for name, (shape, dtype) in shapes.items()}
        self._observations = rows["observations"]
        self._actions = rows["actions"]
        self._log_probs = rows["behaviour_log_probs"]
        self._rewards = rows["rewards"]
        self._terminated = rows["terminated"]
        self._truncated = rows["truncated"]
        self._valid = rows["valid"]
        self._scripted = rows["scripted"]
        self._begin()

    def _begin(self) -> None:
        self._cuts: list[Tensor] = []
        self._cut_observations: list[Tensor] = []
        self._episodes: list[Episode] = []
        self._counts: dict[str, float] = {}
        self._memory: Memory = {}

    def begin(self, observation: Tensor, memory: Memory) -> None:
        """Start over: row 0 is `observation`, seen with `memory`."""
        self._begin()
        self._observations[0].copy_(observation)
        self._memory = {name: tensor.clone() for name, tensor in memory.items()}

    def write(self, t: int, valid: Tensor, decision: Decision, result: StepResult) -> None:
        """Row t: what was decided on row t's observation, and what it led to."""
        self._actions[t].copy_(decision.actions)
        self._log_probs[t].copy_(decision.log_probs)
        self._rewards[t].copy_(result.reward)
        self._terminated[t].copy_(result.terminated)
        self._truncated[t].copy_(result.truncated)
        self._valid[t].copy_(valid)
        if decision.scripted is None:
            self._scripted[t].zero_()
        else:
            self._scripted[t].copy_(decision.scripted)
        self._observations[t + 1].copy_(result.observation)
        if len(result.cut_observations) > 0:
            lanes = result.truncated.nonzero().cpu()
            self._cuts.append(torch.cat([torch.full_like(lanes, t), lanes], dim=1))
            self._cut_observations.append(result.cut_observations.to(self._observations.device, copy=True))
        self._episodes.extend(result.episodes)
        for name, count in result.counts.items():
            self._counts[name] = self._counts.get(name, 0.0) + count

    def observation(self, t: int) -> Tensor:
        """Row t of the observations, on the buffer's device: what the agent acts on, moved there only once."""
        return self._observations[t]

    def seal(self, weights_version: int, knobs_version: int, phase_seconds: Mapping[str, float]) -> Rollout:
        """A view of everything written since `begin`."""
        return Rollout(
            observations=self._observations,
            actions=self._actions,
            behaviour_log_probs=self._log_probs,
            rewards=self._rewards,
            terminated=self._terminated,
            truncated=self._truncated,
            cuts=torch.cat(self._cuts) if self._cuts else torch.zeros((0, 2), dtype=torch.int64),
            cut_observations=(
                torch.cat(self._cut_observations) if self._cut_observations else self._observations[0, :0].clone()
            ),
            valid=self._valid,
            scripted=self._scripted,
            memory=self._memory,
            weights_version=weights_version,
            knobs_version=knobs_version,
            episodes=tuple(self._episodes),
            phase_seconds=dict(phase_seconds),
            counts=dict(self._counts),
        )


def _actions(spec: WorldSpec, shape: tuple[int, int]) -> tuple[tuple[int, ...], torch.dtype]:
    if isinstance(spec.actions, ContinuousActions):
        return (*shape, spec.actions.size), torch.float32
    if isinstance(spec.actions, MultiDiscreteActions):
        return (*shape, len(spec.actions.sizes)), torch.int64
    return shape, torch.int64
