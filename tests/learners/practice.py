"""Small models, and rollouts in which everything happens, for tests of learners."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Learner
from respawn.contracts.records import Event, Memory, Rollout
from respawn.contracts.world import DiscreteActions, ObservationSpec, WorldSpec
from respawn.learners.build import LearnerConfig, build_learner
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.trainee import ModelWeights
from respawn.learners.vtrace.config import VTraceConfig
from respawn.maths.seeding import make_generator
from respawn.memory.replay_config import ReplayConfig
from respawn.models.actor_critic import ActorCritic
from respawn.models.build import build_model
from respawn.models.config import ModelConfig

SPEC = WorldSpec("practice", ObservationSpec((3,)), DiscreteActions(3), num_lanes=5)

CORES = {
    "none": ModelConfig(hidden_sizes=(8,)),
    "gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8),
    "lstm": ModelConfig(hidden_sizes=(8,), core="lstm", core_size=8),
    "transformer": ModelConfig(
        hidden_sizes=(8,), core="transformer", core_size=8, transformer_heads=2, transformer_window=5
    ),
}
REPLAY = ReplayConfig(capacity_decisions=140, segments=4)
LEARNERS: Mapping[str, LearnerConfig] = {
    "ppo": PPOConfig(),
    "vtrace": VTraceConfig(),
    "vtrace with replay": VTraceConfig(replay=REPLAY),
}


def make_model(core: str | ModelConfig = "none", *, seed: int = 0, spec: WorldSpec = SPEC) -> ActorCritic:
    """A model whose policy says something: the small gain of a fresh one would hide differences."""
    config = CORES[core] if isinstance(core, str) else core
    model = build_model(spec, config, seed=seed)
    with torch.no_grad():
        model.policy_head.linear.weight.mul_(100.0)
    return model


@dataclass
class Practice:
    """A learner, and all that one might want to look at."""

    learner: Learner
    model: ActorCritic
    events: list[Event]

    def learn(self, rollout: Rollout, **knobs: float) -> Mapping[str, float]:
        values = {knob.name: knob.default for knob in self.learner.knobs} | knobs
        metrics = self.learner.learn(rollout, Knobs(0, values)).metrics
        return {name: value for name, value in metrics.items() if not name.startswith("time/")}

    def tensors(self) -> dict[str, Tensor]:
        return ModelWeights(self.model).state()

    @property
    def num_steps(self) -> int:
        """Optimizer steps made so far."""
        moments = self.learner.state()["optimizer"]
        return int(next(iter(moments.values()))["step"]) if moments else 0


def practise(config: LearnerConfig, core: str | ModelConfig = "none", *, seed: int = 0, **changes: Any) -> Practice:
    """A learner with some settings changed; those that it shares with all others go to its optimizer."""
    shared = {name: changes.pop(name) for name in list(changes) if name in OptimizerConfig.__dataclass_fields__}
    config = replace(config, optimizer=replace(config.optimizer, **shared), **changes)
    model, events = make_model(core, seed=seed), []
    learner = build_learner(config, model, make_generator(seed, "learner"), events.append)
    return Practice(learner, model, events)


def random_rollout(
    model: ActorCritic, *, num_rows: int = 7, num_lanes: int = 5, seed: int = 0, with_gaps: bool = True
) -> Rollout:
    """What `model` would do among random observations: ends of both kinds, a past, and rows that are nobody's."""
    g = make_generator(seed, "rollout")
    shape = (num_rows, num_lanes)
    ended = torch.rand(shape, generator=g) < 0.3
    truncated = ended & (torch.rand(shape, generator=g) < 0.5)
    valid = torch.rand(shape, generator=g) < 0.8 if with_gaps else torch.ones(shape, dtype=torch.bool)
    observations = torch.randn((num_rows + 1, num_lanes, 3), generator=g)
    memory = model.initial_memory(num_lanes)
    for _ in range(2):  # a past of two steps
        memory = model.act(torch.randn((num_lanes, 3), generator=g), memory, g).memory
    actions, log_probs = act_through(model, observations[:-1], memory, ended, g)
    cuts = truncated.nonzero()
    return Rollout(
        observations=observations,
        actions=actions,
        behaviour_log_probs=log_probs,
        rewards=torch.randn(shape, generator=g),
        terminated=ended & ~truncated,
        truncated=truncated,
        cuts=cuts,
        cut_observations=torch.randn((len(cuts), 3), generator=g),
        valid=valid,
        scripted=torch.zeros_like(valid),
        memory=memory,
        weights_version=0,
        knobs_version=0,
        episodes=(),
        phase_seconds={},
    )


def act_through(
    model: ActorCritic, observations: Tensor, memory: Memory, ended: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Actions and log-probabilities [T, B] of acting row by row."""
    decisions = []
    for observation, end in zip(observations, ended, strict=True):
        decision = model.act(observation, memory, generator)
        memory = wiped(decision.memory, end)
        decisions.append(decision)
    return torch.stack([d.actions for d in decisions]), torch.stack([d.log_probs for d in decisions])


def wiped(memory: Memory, ended: Tensor) -> Memory:
    """Memory with nothing in it where an episode ended."""
    return {
        name: part.masked_fill(ended.view(-1, *[1] * (part.dim() - 1)), 0 if part.dtype != torch.bool else False)
        for name, part in memory.items()
    }


def assert_alike(
    first: Mapping[str, Any], second: Mapping[str, Any], *, atol: float = 1e-6, rtol: float = 1e-4
) -> None:
    """Two sets of weights, or of metrics, are the same but for rounding."""
    assert set(first) == set(second)
    for name, value in first.items():
        torch.testing.assert_close(
            torch.as_tensor(value),
            torch.as_tensor(second[name]),
            atol=atol,
            rtol=rtol,
            msg=lambda m, n=name: f"{n}: {m}",
        )
