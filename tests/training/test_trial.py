"""Runs that are put together and taken apart again."""

from dataclasses import replace

import pytest

from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError
from respawn.models.config import ModelConfig
from respawn.presets import find_preset
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.training import assemble, trial
from respawn.training.config import RunConfig
from respawn.training.trial import try_out


def test_a_trial_says_what_weights_must_be_like():
    fitting = try_out(RunConfig(model=ModelConfig(hidden_sizes=(8,))))
    assert fitting.world == "CartPole-v1 (sees float32 [4], does DiscreteActions(num_actions=2))"
    assert "float32 [8, 4]" in fitting.tensors.values()
    assert fitting.misfit(try_out(RunConfig(model=ModelConfig(hidden_sizes=(8,)), seed=3))) is None


def test_what_could_not_begin_is_refused():
    schedules = SchedulesConfig(progression=ProgressionConfig(script="JUMP:3"))
    with pytest.raises(ConfigError, match="'JUMP' is none of this world's actions"):
        try_out(RunConfig(schedules=schedules))


def test_no_process_is_started_for_it(monkeypatch):
    monkeypatch.setattr(assemble, "make_actor_pool", lambda *_: pytest.fail("actors were started"))
    collection = CollectionConfig(num_lanes=2, horizon_steps=4, actors=2, order="free", most_lag=5)
    config = RunConfig(model=ModelConfig(hidden_sizes=(8,)), collection=collection)
    assert try_out(config) == try_out(replace(config, collection=CollectionConfig(num_lanes=2, horizon_steps=4)))


@pytest.mark.parametrize(
    "change", [{"transformer_heads": 1}, {"transformer_window": 9}, {"activation": "relu"}, {"noisy": True}]
)
def test_whatever_makes_another_policy_of_the_same_settings_is_no_fit(change):
    base = replace(find_preset("memory-transformer"), device="cpu")
    other = replace(base, model=replace(base.model, **change))
    assert base != other and "of another model: " in try_out(base).misfit(try_out(other))


def test_the_run_is_closed_whatever_happens(monkeypatch):
    closed = []
    real = trial.assemble

    def watched(*given):
        run = real(*given)
        monkeypatch.setattr(run, "close", lambda close=run.close: closed.append(close()))
        return run

    monkeypatch.setattr(trial, "assemble", watched)
    monkeypatch.setattr(trial, "fingerprint", lambda spec: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        try_out(RunConfig(model=ModelConfig(hidden_sizes=(8,))))
    assert closed == [None]
