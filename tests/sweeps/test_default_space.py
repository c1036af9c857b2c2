"""What is searched where nobody says what."""

from dataclasses import replace
from itertools import product

import pytest
from small_studies import tiny

from respawn.presets import DESCRIPTIONS, find_preset
from respawn.sweeps.default_space import default_space
from respawn.sweeps.definition import Definition, default_objective
from respawn.sweeps.space import Choice, Range
from respawn.sweeps.trial_config import check_decisions, trial_config


@pytest.mark.parametrize("preset", DESCRIPTIONS)
def test_every_preset_has_one_that_its_trials_can_be_made_of(preset):
    base = find_preset(preset)
    space = default_space(base)
    definition = Definition(preset, base, space, default_objective(base))
    check_decisions(definition)
    rate = space["learner.optimizer.learning_rate"]
    assert rate.log and rate.low < base.learner.optimizer.learning_rate < rate.high
    for last in (0, -1):
        ends = {name: (span.labels if isinstance(span, Choice) else span.tried)[last] for name, span in space.items()}
        trial_config(definition, ends, 0)


def test_it_goes_by_learner_and_model():
    assert {"learner.clip", "model.core"} <= default_space(find_preset("cartpole-ppo")).keys()
    assert {"learner.rho_clip", "model.core"} <= default_space(find_preset("cartpole-vtrace")).keys()
    assert "model.core" not in default_space(find_preset("fish"))
    assert "model.channels" in default_space(find_preset("mario-pixels"))
    assert "collection.horizon_steps" not in default_space(find_preset("fish-v40"))
    assert default_space(find_preset("memory-gru"))["model.core"] == Choice(("gru", "lstm"))


def test_the_horizon_is_not_doubled_where_evaluations_would_fall_between_updates():
    odd = tiny(evaluation=tiny().evaluation.__class__(every_updates=3))
    assert default_space(odd)["collection.horizon_steps"] == Choice((2, 4))
    assert default_space(tiny())["collection.horizon_steps"] == Choice((2, 4, 8))


def with_lanes(num_lanes, minibatches):
    base = tiny()
    return replace(
        base,
        learner=replace(base.learner, minibatches=minibatches),
        collection=replace(base.collection, num_lanes=num_lanes),
    )


def test_what_does_not_go_with_the_settings_asked_for_is_left_out():
    """A GRU learns from whole lanes, so it wants as many of them as there are minibatches; nobody asked for one."""
    assert default_space(with_lanes(8, 8))["model.core"] == Choice(("none", "gru"))
    space = default_space(with_lanes(2, 8))
    assert "model.core" not in space and space["collection.horizon_steps"] == Choice((4, 8))  # 2 * 2 rows are too few


def test_whatever_is_drawn_of_it_goes_together():
    base = with_lanes(2, 8)
    space = default_space(base)
    choices = {name: span.labels for name, span in space.items() if isinstance(span, Choice)}
    ranges = {name: span.low for name, span in space.items() if isinstance(span, Range)}
    definition = Definition("cartpole-ppo", base, space, default_objective(base))
    for values in product(*choices.values()):
        trial_config(definition, {**ranges, **dict(zip(choices, values, strict=True))}, 0)


def test_numbers_are_searched_around_those_of_the_preset():
    assert default_space(tiny())["learner.entropy_cost"] == Range(0.002, 0.05, log=True)
