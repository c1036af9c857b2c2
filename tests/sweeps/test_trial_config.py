"""From what was drawn to the run that a trial is."""

from dataclasses import replace

import pytest
from small_studies import SPACE, definition_of, tiny

from respawn.errors import ConfigError, StudyError
from respawn.presets import find_preset
from respawn.sweeps.definition import Definition
from respawn.sweeps.space import Choice, Range
from respawn.sweeps.trial_config import check_decisions, drawn_settings, trial_config, with_equal_decisions
from respawn.training.config_file import with_settings


def test_a_trial_is_the_base_with_what_was_drawn():
    definition = definition_of(base=tiny(seed=40))
    config = trial_config(definition, {"learner.clip": 0.25, "model.hidden_sizes": "[8, 8]"}, 3)
    expected = with_settings(tiny(seed=43), {"learner": {"clip": 0.25}, "model": {"hidden_sizes": [8, 8]}}, None)
    assert config == expected


def test_lists_are_lists_again():
    assert drawn_settings(SPACE, {"learner.clip": 0.2, "model.hidden_sizes": "[4]"}) == {
        "learner.clip": 0.2,
        "model.hidden_sizes": [4],
    }


@pytest.mark.parametrize(("name", "value"), [("learner.epochs", 3), ("model.hidden_sizes", "[16]")])
def test_what_was_not_drawn_from_the_space_is_told(name, value):
    with pytest.raises(StudyError, match=f"a trial has {name} .*, which the study's space does not hold"):
        drawn_settings(SPACE, {"learner.clip": 0.2, name: value})


def test_a_trial_takes_no_more_threads_than_there_are_for_it():
    base = tiny(threads=4)
    drawn = {"learner.clip": 0.25, "model.hidden_sizes": "[4]"}
    threads = [trial_config(definition_of(base=base), drawn, 0, most).threads for most in (None, 2, 8)]
    assert threads == [4, 2, 4]
    assert trial_config(definition_of(base=tiny(threads=0)), drawn, 0, 2).threads == 2


@pytest.mark.parametrize(("horizon", "updates", "every"), [(2, 12, 4), (4, 6, 2), (8, 3, 1)])
def test_all_trials_get_as_many_decisions_and_evaluations(horizon, updates, every):
    base = tiny()
    config = with_equal_decisions(base, with_settings(base, {"collection": {"horizon_steps": horizon}}, None))
    assert (config.last_update, config.planned_updates, config.evaluation.every_updates) == (updates, updates, every)
    rollout = config.collection.decisions_per_rollout
    assert (config.last_update * rollout, config.evaluation.every_updates * rollout) == (48, 16)


def test_what_comes_after_the_last_evaluation_is_left_out_of_all():
    base = tiny(planned_updates=7)
    lengths = set()
    for horizon in (2, 4, 8):
        config = with_equal_decisions(base, with_settings(base, {"collection": {"horizon_steps": horizon}}, None))
        lengths.add(config.last_update * config.collection.decisions_per_rollout)
    assert lengths == {48}


def test_a_plan_that_was_asked_for_keeps_its_length():
    base = tiny(planned_updates=100, updates=6)
    config = with_equal_decisions(base, with_settings(base, {"collection": {"horizon_steps": 2}}, None))
    assert (config.updates, config.planned_updates) == (12, 200)
    phases = find_preset("fish-v40")
    same = with_equal_decisions(phases, phases)
    assert (same.planned_updates, same.last_update) == (60, 56)


def test_decisions_that_cannot_be_made_equal_are_refused():
    for name, span in {
        "collection.horizon_steps": Range(4, 8, is_whole=True),
        "collection.num_lanes": Choice((2, 3)),
    }.items():
        with pytest.raises(ConfigError, match="trials must be judged after as many decisions each, and with "):
            check_decisions(definition_of(space={name: span}))
    check_decisions(definition_of(space={"collection.horizon_steps": Choice((2, 4, 8))}))
    check_decisions(definition_of(space={"collection.horizon_steps": Range(4, 8, step=4, is_whole=True)}))


def test_a_large_interval_may_be_rounded():
    base = replace(tiny(planned_updates=100), evaluation=replace(tiny().evaluation, every_updates=50))
    config = with_equal_decisions(base, with_settings(base, {"collection": {"horizon_steps": 3}}, None))
    assert (config.evaluation.every_updates, config.last_update) == (67, 134)


def test_phases_are_not_gone_through_at_another_pace():
    base = find_preset("fish-v40")
    definition = Definition(
        "fish-v40", base, {"collection.horizon_steps": Choice((32, 64))}, "evaluation/survival_mean"
    )
    with pytest.raises(ConfigError, match="phases are counted in updates"):
        check_decisions(definition)
