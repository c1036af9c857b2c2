"""What all trials of a study share."""

import json
from dataclasses import replace

import pytest
from small_studies import SPACE, definition_of, tiny

from respawn.errors import ConfigError
from respawn.presets import DESCRIPTIONS, find_preset
from respawn.sweeps.definition import (
    Definition,
    check_same,
    default_objective,
    definition_from_plain,
    definition_to_plain,
    machine_settings,
    on_this_machine,
    whole_training,
)
from respawn.sweeps.space import Choice, Range
from respawn.training.config import config_to_json
from respawn.training.config_file import with_settings


def with_evaluation(config, **changes):
    return replace(config, evaluation=replace(config.evaluation, **changes))


def test_a_definition_is_the_same_after_being_kept():
    definition = definition_of(direction="minimise", score="mean")
    kept = json.loads(json.dumps(definition_to_plain(definition)))
    assert definition_from_plain(kept) == definition


def test_what_counts_is_what_the_world_is_about():
    objectives = {name: default_objective(find_preset(name)) for name in DESCRIPTIONS}
    assert {objectives[name] for name in DESCRIPTIONS if name.startswith("mario")} == {"evaluation/cleared"}
    assert {objectives[name] for name in DESCRIPTIONS if name.startswith("fish")} == {"evaluation/survival_mean"}
    assert objectives["cartpole-ppo"] == objectives["memory-gru"] == "evaluation/return_mean"
    for name, objective in objectives.items():
        assert objective in find_preset(name).evaluation_metrics


def test_what_no_trial_could_be_judged_by_is_refused():
    with pytest.raises(ConfigError, match=r"--objective must be one of evaluation/return_mean, .*, not 'retrun'"):
        definition_of(objective="retrun")
    for every in (0, 7):
        with pytest.raises(ConfigError, match=f"--evaluation.every-updates {every} there is none in 6 updates"):
            definition_of(base=with_evaluation(tiny(), every_updates=every))


def test_a_best_that_no_run_keeps_is_refused():
    definition_of(score="best")
    with pytest.raises(ConfigError, match=r"--score best goes by .* highest evaluation/return_mean"):
        definition_of(score="best", direction="minimise")
    with pytest.raises(ConfigError, match="take --score final or mean"):
        definition_of(score="best", objective="evaluation/length_mean")
    none_kept = replace(tiny(), checkpoints=replace(tiny().checkpoints, keep_best=0))
    definition_of(base=none_kept)
    with pytest.raises(ConfigError, match=r"with --checkpoints.keep-best 0 it keeps none"):
        definition_of(base=none_kept, score="best")


@pytest.mark.parametrize("setting", ["world.rewards.death", "schedules.reward_flag.final_fraction"])
def test_trials_are_not_compared_by_a_return_that_each_counts_otherwise(setting):
    base, space = find_preset("mario"), {setting: Range(0.0, 1.0)}
    Definition("mario", base, space, "evaluation/cleared")
    with pytest.raises(ConfigError, match=f"{setting} says what the return_mean is counted in"):
        Definition("mario", base, space, "evaluation/return_mean")


def test_evaluations_are_counted_alike_whatever_a_rollout_has():
    definition = definition_of()
    assert (definition.interval_decisions, definition.evaluations) == (16, 3)
    assert [definition.step_of(update, 2) for update in (2, 4, 6)] == [16, 32, 48]
    assert [definition.step_of(update, 4) for update in (4, 8, 12)] == [16, 32, 48]


def test_a_trial_goes_through_its_whole_schedules():
    long = replace(tiny(), planned_updates=140, updates=20)
    assert whole_training(long, plan_is_said=False) == replace(long, planned_updates=20, updates=None)
    assert whole_training(long, plan_is_said=True) == long
    assert whole_training(tiny(), plan_is_said=False) == tiny()
    phases = replace(find_preset("fish-v40"), updates=8)
    assert whole_training(phases, plan_is_said=False) == phases


def test_the_same_study_is_gone_on_with_and_another_is_not():
    asked = definition_to_plain(definition_of())
    check_same(asked, json.loads(json.dumps(asked)), "small")
    other_machine = definition_of(base=replace(tiny(), threads=7, device="cuda:1"))
    check_same(definition_to_plain(other_machine), asked, "small")
    differing = {
        "objective": definition_of(objective="evaluation/length_mean"),
        "learner.epochs": definition_of(base=with_settings(tiny(), {"learner": {"epochs": 2}}, None)),
        "space.learner.clip": definition_of(space={**SPACE, "learner.clip": Range(0.1, 0.3)}),
        "space.model.hidden_sizes": definition_of(space={"learner.clip": SPACE["learner.clip"]}),
    }
    for name, definition in differing.items():
        with pytest.raises(ConfigError, match=rf"there is a study 'small' of something else \({name} .* there and"):
            check_same(definition_to_plain(definition), asked, "small")


def test_many_differences_are_counted():
    many = definition_of(
        base=with_settings(tiny(), {"learner": {"epochs": 2, "clip": 0.3, "discount": 0.5}}, None),
        space={"model.core": Choice(("none", "gru"))},
    )
    with pytest.raises(ConfigError, match=" and 3 more"):
        check_same(definition_to_plain(many), definition_to_plain(definition_of()), "small")


def test_a_trial_has_the_device_and_the_game_of_its_own_machine():
    begun = Definition("mario", find_preset("mario"), SPACE, "evaluation/cleared")
    here = with_settings(begun.base, {"threads": 5, "device": "cpu", "world": {"rom": "/here.nes"}}, None)
    own = machine_settings(here)
    assert own == {
        "device": "cpu", "threads": 5, "wants_gpu": False, "world.rom": "/here.nes", "world.engine_threads": 1,
    }  # fmt: skip
    moved = on_this_machine(begun, own)
    assert moved.base == here and moved.base != begun.base
    assert machine_settings(tiny()).keys() == {"device", "threads", "wants_gpu"}
    assert config_to_json(on_this_machine(definition_of(), machine_settings(tiny())).base) == config_to_json(tiny())
