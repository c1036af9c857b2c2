import json
import math
from dataclasses import fields, is_dataclass, replace

import pytest

from respawn.checkpoints.config import CheckpointsConfig
from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.presets import DESCRIPTIONS, all_presets, find_preset
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.training.config import (
    PATIENCE_OF_WORLDS,
    RunConfig,
    config_from_json,
    config_sha256,
    config_to_json,
    unsaid_settings,
)
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig

PRESETS = all_presets()
ARGUMENTS = {"b": True, "i": 1, "f": 0.5, "s": "x", "digits": "3", "half": "0.5", "nan": "nan"}
CONFIGS = {
    **PRESETS,
    "defaults": RunConfig(),
    "limits": RunConfig(updates=7, minutes=3, learner=VTraceConfig(), world=RecallConfig(noise=1)),
    "arguments": RunConfig(world=ForeignConfig(imports=("a", "b"), env_kwargs=ARGUMENTS)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_configuration_survives_its_file(name):
    config = CONFIGS[name]
    again = config_from_json(json.loads(json.dumps(config_to_json(config))))
    assert again == config
    assert type(again.learner) is type(config.learner) and type(again.world) is type(config.world)
    assert config_sha256(again) == config_sha256(config)
    if isinstance(config.world, ForeignConfig):
        kinds = [type(value) for value in config.world.env_kwargs.values()]
        assert [type(value) for value in again.world.env_kwargs.values()] == kinds  # True is not 1, '3' is not 3.0


def test_presets_are_described_and_found():
    assert set(DESCRIPTIONS) == set(PRESETS)
    assert find_preset("cartpole-ppo") == PRESETS["cartpole-ppo"]
    with pytest.raises(ConfigError, match=r"no preset 'cartpole-pp'; did you mean cartpole-ppo\?"):
        find_preset("cartpole-pp")


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"model": {"hidden": 3}},
        {"seed": "one"},
        {"updates": 1.5},
        {"minutes": "long"},
        {"world": {"kind": "nowhere"}},
        {"learner": {"kind": "ppo", "discount": "x"}},
        {"learner": None},
        {"collection": []},
    ],
)
def test_what_does_not_fit_is_a_config_error(change):
    data = config_to_json(RunConfig())
    with pytest.raises(ConfigError, match=r"config\.json does not fit this version of respawn"):
        config_from_json({**data, **change})


def test_what_a_file_leaves_open_is_named_where_it_decides_numbers():
    config = RunConfig(world=MarioConfig())
    said = config_to_json(config)
    assert unsaid_settings(config, said) == []
    del said["world"]["rewards"]["falls_pay"], said["seed"]  # decide numbers
    del said["observers"], said["evaluation"]["stop_at"], said["world"]["rom"]  # do not
    assert unsaid_settings(config, said) == ["seed", "world.rewards.falls_pay"]


def test_values_out_of_range_keep_their_own_words():
    data = config_to_json(RunConfig())
    with pytest.raises(ConfigError, match="--seed must be at least 0, not -1"):
        config_from_json({**data, "seed": -1})


@pytest.mark.parametrize(
    "change",
    [
        {"updates": 0},
        {"minutes": 0.0},
        {"minutes": float("nan")},
        {"minutes": float("inf")},
        {"minutes": 1e300},
        {"updates": 100_000_000},  # more than the names of checkpoints have room for
        {"updates": 10**400},
        {"seed": -1},
        {"threads": -1},
        {"threads": 100_000},
        {"checkpoints": CheckpointsConfig(best_metric="nonsense")},
        {"checkpoints": CheckpointsConfig(best_metric="time/evaluation_seconds")},
        {"planned_updates": 0},
        {"model": ModelConfig(core="gru"), "collection": CollectionConfig(num_lanes=2), "learner": PPOConfig()},
    ],
)
def test_what_no_run_can_be_is_refused(change):
    with pytest.raises(ConfigError, match="must"):
        RunConfig(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"updates": 5},
        {"minutes": 5.0},
        {"planned_updates": 999},
        {"device": "cuda"},
        {"checkpoints": CheckpointsConfig(every_updates=1)},
        {"observers": ObserversConfig(console=False)},
        {"evaluation": replace(PRESETS["cartpole-ppo"].evaluation, stop_at=0.9, stop_after=3)},
    ],
)
def test_limits_and_watchers_are_no_part_of_the_fingerprint(change):
    config = PRESETS["cartpole-ppo"]
    assert config_sha256(replace(config, **change)) == config_sha256(config)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"threads": 2},
        {"model": ModelConfig(hidden_sizes=(3,))},
        {"learner": VTraceConfig()},
        {"world": RecallConfig()},
        {"collection": CollectionConfig(lag=1)},
        {"evaluation": replace(PRESETS["cartpole-ppo"].evaluation, seed_base=5)},
    ],
)
def test_what_decides_numbers_is_part_of_the_fingerprint(change):
    config = PRESETS["cartpole-ppo"]
    assert config_sha256(replace(config, **change)) != config_sha256(config)


def test_limits_change_and_the_plan_grows_with_them():
    config = RunConfig(updates=10, planned_updates=20)
    assert config.last_update == 10
    assert replace(config, updates=None).last_update == 20
    assert config.with_limits(None, None) == config
    assert config.with_limits(15, 2.0) == replace(config, updates=15, minutes=2.0)
    assert config.with_limits(30, None) == replace(config, updates=30, planned_updates=30)


def test_any_number_that_an_evaluation_makes_may_say_what_is_best():
    for name in ("evaluation/return_mean", "evaluation/return_low", "evaluation/length_mean"):
        assert RunConfig(checkpoints=CheckpointsConfig(best_metric=name)).checkpoints.best_metric == name
    with pytest.raises(ConfigError, match=r"best-metric must be one of evaluation/return_mean, .*, not 'return_mean'"):
        RunConfig(checkpoints=CheckpointsConfig(best_metric="return_mean"))


def every_float(config, path=""):
    """Each float of a configuration, as the path to it, with the dataclass that holds it."""
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            yield from every_float(value, f"{path}{field.name}.")
        elif isinstance(value, float) or field.type in (float, float | None):
            yield f"{path}{field.name}", config, field.name


FLOATS = {
    **{place: (holder, name) for place, holder, name in every_float(RunConfig())},
    **{f"vtrace.{place}": (holder, name) for place, holder, name in every_float(VTraceConfig())},
    **{f"recall.{place}": (holder, name) for place, holder, name in every_float(RecallConfig())},
}


def test_the_floats_are_found():
    assert len(FLOATS) > 30
    assert {"minutes", "learner.optimizer.epsilon", "vtrace.rho_clip", "world.step_seconds"} <= set(FLOATS)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", FLOATS)
def test_no_float_of_any_room_may_be_other_than_finite(place, value):
    holder, name = FLOATS[place]
    with pytest.raises(ConfigError, match=name.replace("_", "-")):
        replace(holder, **{name: value})


@pytest.mark.parametrize("change", [{"rom": "elsewhere.nes"}, {"engine_threads": 3}])
def test_where_the_game_lies_and_who_runs_it_decides_no_number(change):
    config = find_preset("mario")
    assert isinstance(config.world, MarioConfig)
    moved = replace(config, world=replace(config.world, **change))
    assert config_sha256(moved) == config_sha256(config)
    other = replace(config, world=replace(config.world, region="pal"))
    assert config_sha256(other) != config_sha256(config)


@pytest.mark.parametrize(
    "change", [{"max_replacements": 50}, {"step_seconds": 90.0, "reset_seconds": 9.0}, {"construct_seconds": 9.0}]
)
def test_patience_with_workers_decides_no_number(change):
    config = find_preset("cartpole-ppo")
    patient = replace(config, world=replace(config.world, **change))
    assert config_sha256(patient) == config_sha256(config)
    plain = config_to_json(patient)
    for name in change:
        del plain["world"][name]
    assert unsaid_settings(config_from_json(plain), plain) == []
    other = replace(config, world=replace(config.world, workers=2))
    assert config_sha256(other) != config_sha256(config)


def test_patience_that_is_made_no_number_is_no_other_than_the_default():
    assert {name: getattr(ForeignConfig(), name) for name in PATIENCE_OF_WORLDS} == PATIENCE_OF_WORLDS


def test_a_plan_of_phases_stays_as_long_as_they_are():
    config = replace(find_preset("fish-v40"), updates=100).with_grown_plan()
    assert (config.planned_updates, config.last_update) == (60, 100)


def test_runs_from_before_there_were_curricula_are_still_themselves():
    config = find_preset("cartpole-ppo")
    plain = config_to_json(config)
    for name in ("entropy_windows", "curriculum"):
        del plain["schedules"][name]
    assert unsaid_settings(config_from_json(plain), plain) == []
    assert config_sha256(config_from_json(plain)) == config_sha256(config)


def test_fish_have_no_memory():
    fish = find_preset("fish")
    with pytest.raises(ConfigError, match=r"model\.core must be none in the fish world, not gru"):
        replace(fish, model=replace(fish.model, core="gru"))


def test_patience_and_who_does_what_make_no_other_run():
    plain = RunConfig(learner=VTraceConfig(replay=ReplayConfig(capacity_decisions=65_536)))
    patient = replace(plain, collection=replace(plain.collection, actors=2))
    replay = replace(plain.learner.replay, sampler="tree", storage="cpu")
    assert config_sha256(replace(plain, learner=replace(plain.learner, replay=replay))) == config_sha256(plain)
    more = replace(patient.collection, rollout_seconds=5.0, actor_start_seconds=9.0, max_replacements=1)
    assert config_sha256(replace(patient, collection=more)) == config_sha256(patient) != config_sha256(plain)
    fewer = replace(plain.learner, replay=replace(plain.learner.replay, segments=8))
    assert config_sha256(replace(plain, learner=fewer)) != config_sha256(plain)


@pytest.mark.parametrize("name", ["bootstrap", "plateau"])
def test_what_would_be_forced_again_before_it_shows_is_refused(name):
    progression = ProgressionConfig(**{f"{name}_after": 3, f"{name}_frames": 8})
    schedules = SchedulesConfig(progression=progression)
    RunConfig(schedules=schedules, collection=CollectionConfig(actors=2))
    with pytest.raises(ConfigError, match=f"{name}-after is 3, and what is forced shows up to 3 updates later"):
        RunConfig(schedules=schedules, collection=CollectionConfig(actors=3))
