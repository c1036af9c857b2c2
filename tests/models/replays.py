"""Rows gathered by acting step by step, with everything `unroll` must find again."""

from dataclasses import dataclass

import torch
from torch import Tensor

from respawn.contracts.records import Memory
from respawn.contracts.world import ActionSpec, DiscreteActions, ObservationSpec, WorldSpec
from respawn.maths.seeding import make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.models.build import build_model
from respawn.models.config import ModelConfig

NO_CUTS = torch.empty(0, 2, dtype=torch.int64)

CORES = {
    "none": ModelConfig(hidden_sizes=(8,)),
    "separate": ModelConfig(hidden_sizes=(8,), separate_value=True),
    "separate gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8, separate_value=True),
    "separate transformer": ModelConfig(
        hidden_sizes=(8,),
        core="transformer",
        core_size=8,
        transformer_heads=2,
        transformer_window=4,
        separate_value=True,
    ),
    "gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8),
    "lstm": ModelConfig(hidden_sizes=(8,), core="lstm", core_size=8),
    "transformer": ModelConfig(
        hidden_sizes=(8,), core="transformer", core_size=8, transformer_heads=2, transformer_window=5
    ),
}


def make_spec(
    shape: tuple[int, ...] = (3,), actions: ActionSpec | None = None, *, pictures: bool = False, num_lanes: int = 4
) -> WorldSpec:
    observation = ObservationSpec(shape, "uint8" if pictures else "float32")
    return WorldSpec("test", observation, actions or DiscreteActions(3), num_lanes)


def make_model(config: ModelConfig | None = None, spec: WorldSpec | None = None, seed: int = 0) -> ActorCritic:
    """A model whose policy says something: the small gain of a fresh one would hide differences."""
    model = build_model(spec or make_spec(), config or ModelConfig(), seed=seed)
    with torch.no_grad():
        model.policy_head.linear.weight.mul_(100.0)
    return model


@dataclass(frozen=True)
class Replay:
    observations: Tensor  # [T, B, 3]
    starts: Tensor  # [T, B]
    cuts: Tensor  # [K, 2]
    cut_observations: Tensor  # [K, 3]


def random_replay(num_rows: int, num_lanes: int = 4, *, chance_of_start: float = 0.2, seed: int = 0) -> Replay:
    """Episodes that begin anywhere, about half of them after a cut, and cuts after the last row too."""
    g = make_generator(seed, "replay")
    starts = torch.rand(num_rows + 1, num_lanes, generator=g) < chance_of_start
    cuts = (starts[1:] & (torch.rand(num_rows, num_lanes, generator=g) < 0.6)).nonzero()
    return Replay(
        observations=torch.randn(num_rows, num_lanes, 3, generator=g),
        starts=starts[:-1],
        cuts=cuts,
        cut_observations=torch.randn(len(cuts), 3, generator=g),
    )


@dataclass(frozen=True)
class Acted:
    log_probs: Tensor  # [T, B] of the mode
    actions: Tensor  # [T, B]
    values: Tensor  # [T, B]
    cut_values: Tensor  # [K]
    memory: Memory


def act_through(model: ActorCritic, replay: Replay, memory: Memory) -> Acted:
    """Step by step; a cut row is acted on with a memory that is then thrown away."""
    num_rows, num_lanes = replay.starts.shape
    fresh = model.initial_memory(num_lanes)
    decisions, cut_values = [], []
    for t in range(num_rows):
        begins = replay.starts[t]
        memory = {
            name: torch.where(begins.view(-1, *[1] * (part.ndim - 1)), fresh[name], part)
            for name, part in memory.items()
        }
        decision = model.act(replay.observations[t], memory, None)
        memory = decision.memory
        decisions.append(decision)
        for (row, lane), seen in zip(replay.cuts.tolist(), replay.cut_observations, strict=True):
            if row == t:
                cut_values.append(model.act(seen.expand(num_lanes, 3), memory, None).values[lane])
    return Acted(
        log_probs=torch.stack([decision.log_probs for decision in decisions]),
        actions=torch.stack([decision.actions for decision in decisions]),
        values=torch.stack([decision.values for decision in decisions]),
        cut_values=torch.stack(cut_values) if cut_values else torch.empty(0),
        memory=memory,
    )
