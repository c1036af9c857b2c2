"""What a trial is worth."""

from dataclasses import replace
from math import inf, nan

import pytest
from small_studies import definition_of, tiny

from respawn.contracts.records import EvaluationReport
from respawn.errors import LearningError
from respawn.sweeps.score import reaches_goal, score, value_of


def report(**metrics):
    return EvaluationReport(update=3, decisions=24, metrics=metrics)


@pytest.mark.parametrize(
    ("way", "direction", "values", "expected"),
    [
        ("final", "maximise", [9.0, 1.0, 2.0, 3.0], 2.0),
        ("final", "maximise", [4.0, 2.0], 3.0),
        ("mean", "maximise", [1.0, 2.0, 6.0], 3.0),
        ("mean", "maximise", [1.0, 4.0], 2.5),  # time ended it, and what would have become is not known
        ("best", "maximise", [1.0, 5.0, 3.0], 5.0),
    ],
)
def test_a_score_is_one_number_of_all_evaluations(way, direction, values, expected):
    assert score(values, definition_of(score=way, direction=direction)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("way", "values", "expected"),
    [
        ("final", [0.0, 0.1, 1.0], 1.0),  # more than a plateau of 0.9
        ("final", [1.0, 4.0], 4.0),
        ("mean", [0.0, 0.1, 1.0], 0.81),
        ("best", [0.0, 1.0, 0.9], 1.0),
    ],
)
def test_evaluations_that_a_goal_spared_count_as_the_last(way, values, expected):
    definition = definition_of(base=tiny(planned_updates=20), score=way)
    assert definition.evaluations == 10
    assert score(values, definition, goal_reached=True) == pytest.approx(expected)
    whole = [0.5] * 10
    assert score(whole, definition, goal_reached=True) == 0.5  # none was spared


def test_a_goal_is_reached_where_the_last_evaluations_are_all_good_enough():
    def reaches(values, **goal):
        base = tiny()
        config = replace(base, evaluation=replace(base.evaluation, **goal))
        return reaches_goal([report(**{"evaluation/return_mean": value}) for value in values], config)

    assert reaches([1.0, 5.0], stop_at=5.0) and not reaches([5.0, 1.0], stop_at=5.0)
    assert reaches([1.0, 5.0, 6.0], stop_at=5.0, stop_after=2)
    assert not reaches([6.0, 1.0, 6.0], stop_at=5.0, stop_after=2)
    assert not reaches([6.0], stop_at=5.0, stop_after=2) and not reaches([nan], stop_at=5.0)
    assert not reaches([9.0, 9.0])


def test_nothing_is_known_of_a_run_without_evaluations():
    with pytest.raises(LearningError, match="ended before its first evaluation"):
        score([], definition_of())


def test_an_evaluation_must_say_the_objective():
    assert value_of(report(**{"evaluation/return_mean": 2.5}), definition_of()) == 2.5
    for metrics in ({}, {"evaluation/return_mean": nan}, {"evaluation/return_mean": inf}):
        with pytest.raises(LearningError, match="the evaluation at update 3 says no evaluation/return_mean"):
            value_of(report(**metrics), definition_of())
