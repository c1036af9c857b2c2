"""Rungs: what each changes, which are passed over, and what is said of a shortage."""

from dataclasses import replace

import pytest
import torch

from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError, MemoryLimitError
from respawn.learners.config import OptimizerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig
from respawn.models.config import ModelConfig
from respawn.training.config import RunConfig, config_from_json, config_sha256, config_to_json
from respawn.training.faults_config import FaultsConfig
from respawn.training.memory_ladder import (
    LOWEST_HORIZON,
    RungsTaken,
    Shortage,
    after_steps,
    describe_step,
    holds_replay,
    step_down,
)
from respawn.worlds.fish.config import FishConfig

PLAIN = RunConfig(
    collection=CollectionConfig(num_lanes=8, horizon_steps=32),
    model=ModelConfig(hidden_sizes=(8,)),
    learner=VTraceConfig(),
)
GPU_IS_FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity ...")


def sizes(config: RunConfig) -> tuple[int, int, int]:
    """Parts, steps and lanes."""
    now = after_steps(config)
    return now.learner.optimizer.accumulation, now.collection.horizon_steps, now.collection.num_lanes


def whole_way_down(config: RunConfig) -> list[tuple[int, int, int]]:
    """The sizes after each step that changes something."""
    way = []
    while (lower := step_down(config)) is not None:
        config = lower
        way.append(sizes(config))
    return way


def with_ladder(config: RunConfig, *rungs: str, **changes) -> RunConfig:
    return replace(config, faults=FaultsConfig(ladder=rungs), **changes)


def test_the_ladder_that_every_run_has():
    assert sizes(PLAIN) == (1, 32, 8)
    assert whole_way_down(PLAIN) == [(2, 32, 8), (4, 32, 8), (4, 16, 8), (4, 16, 4), (4, 8, 4), (4, 8, 2)]


def test_what_was_asked_for_stays_as_it_was_and_so_does_what_the_run_is_known_by():
    lower = step_down(step_down(PLAIN))
    assert lower.stepped_down == ("accumulation", "accumulation")
    assert replace(lower, stepped_down=()) == PLAIN
    assert config_sha256(lower) == config_sha256(PLAIN)
    assert config_from_json(config_to_json(lower)) == lower


def test_each_step_is_told_in_words():
    lower = step_down(PLAIN)
    assert describe_step(PLAIN, lower) == "learner.optimizer.accumulation 1 → 2"
    far = replace(PLAIN, stepped_down=PLAIN.faults.ladder[:4])
    assert describe_step(lower, far) == (
        "learner.optimizer.accumulation 2 → 4, collection.horizon-steps 32 → 16, collection.num-lanes 8 → 4"
    )


def test_a_horizon_has_an_end():
    config = with_ladder(PLAIN, *["horizon"] * 9)
    assert [steps for _, steps, _ in whole_way_down(config)] == [16, 8, LOWEST_HORIZON]


def test_lanes_have_an_end():
    assert [lanes for *_, lanes in whole_way_down(with_ladder(PLAIN, *["lanes"] * 9))] == [4, 2, 1]


def test_a_school_stays_whole():
    config = with_ladder(
        PLAIN, *["lanes"] * 9, world=FishConfig(fish=12), collection=CollectionConfig(num_lanes=60, horizon_steps=8)
    )
    assert [lanes for *_, lanes in whole_way_down(config)] == [24, 12]


def test_ppo_splits_rows_without_a_core_and_lanes_with_one():
    rows = replace(PLAIN, learner=PPOConfig(minibatches=64))
    assert [parts for parts, *_ in whole_way_down(with_ladder(rows, *["accumulation"] * 9))] == [2, 4]
    lanes = replace(rows, learner=PPOConfig(minibatches=2), model=replace(PLAIN.model, core="gru", core_size=8))
    assert [parts for parts, *_ in whole_way_down(with_ladder(lanes, *["accumulation"] * 9))] == [2, 4, 8]


def test_a_rung_that_the_other_settings_forbid_is_passed_over():
    graphs = replace(PLAIN, model=replace(PLAIN.model, cuda_graphs=True))
    assert whole_way_down(graphs) == [(1, 16, 8), (1, 16, 4), (1, 8, 4), (1, 8, 2)]
    minibatches = replace(with_ladder(PLAIN, *["lanes"] * 3), learner=PPOConfig(minibatches=128))
    assert [lanes for *_, lanes in whole_way_down(minibatches)] == [4]  # 2 lanes of 32 steps make no 128 minibatches


def test_replay_is_held_only_where_it_is_on():
    replaying = replace(PLAIN, learner=VTraceConfig(replay=ReplayConfig(capacity_decisions=4096)))
    assert [holds_replay(config) for config in (PLAIN, replaying, replace(PLAIN, learner=PPOConfig()))] == [
        False,
        True,
        False,
    ]


def test_rungs_that_were_taken_stay_taken_where_the_ladder_is_another_now():
    lower = step_down(with_ladder(PLAIN, "horizon", "lanes"))
    other = step_down(with_ladder(lower, "accumulation", "lanes"))
    assert other is not None and other.stepped_down == ("horizon", "lanes")


def test_there_may_be_no_ladder_at_all():
    assert step_down(with_ladder(PLAIN)) is None


def test_the_rungs_are_a_part_of_a_checkpoint_that_sets_nothing_back():
    taken = RungsTaken(("horizon", "lanes"))
    assert taken.state() == {"taken": ["horizon", "lanes"]}
    taken.restore({"taken": []})
    assert taken.state() == {"taken": ["horizon", "lanes"]}


class TestShortage:
    def test_with_a_rung_below_the_run_can_go_on(self):
        shortage = Shortage(PLAIN)
        assert shortage.lower == step_down(PLAIN)
        assert shortage.is_survivable(GPU_IS_FULL)
        assert not shortage.is_survivable(MemoryError()) and not shortage.is_survivable(ValueError())

    def test_without_one_it_says_what_is_too_large(self):
        shortage = Shortage(with_ladder(PLAIN, "horizon", stepped_down=("horizon",)))
        assert shortage.lower is None and not shortage.is_survivable(GPU_IS_FULL)
        told = shortage.explained(GPU_IS_FULL)
        assert isinstance(told, MemoryLimitError) and told.__cause__ is GPU_IS_FULL
        assert str(told) == (
            "the GPU's memory did not suffice (CUDA out of memory. Tried to allocate 2.00 GiB), and faults.ladder has "
            "no rung below 8 lanes of 16 steps; use a smaller model, fewer lanes or a larger GPU"
        )

    def test_it_may_not_be_wanted(self):
        shortage = Shortage(replace(PLAIN, faults=FaultsConfig(out_of_memory="stop")))
        assert shortage.lower is None
        assert str(shortage.explained(GPU_IS_FULL)).endswith(", and faults.out-of-memory says stop; try step-down")

    def test_a_machine_whose_own_memory_is_full_is_no_rung_s_business(self):
        shortage = Shortage(PLAIN)
        told = shortage.explained(MemoryError())
        assert isinstance(told, MemoryLimitError)
        assert str(told).startswith("the machine's memory did not suffice (MemoryError); use fewer lanes")

    def test_other_errors_stay_what_they_are(self):
        error = ConfigError("no")
        assert Shortage(PLAIN).explained(error) is error


@pytest.mark.parametrize("parts", [1, 3])
def test_parts_that_were_asked_for_are_doubled(parts):
    asked = replace(PLAIN, learner=VTraceConfig(optimizer=OptimizerConfig(accumulation=parts)))
    assert sizes(step_down(asked))[0] == 2 * parts
