"""What a trial is worth."""

from math import nan

import pytest
from small_studies import definition_of

from respawn.contracts.records import EvaluationReport
from respawn.errors import LearningError
from respawn.sweeps.score import score, value_of


def report(**metrics):
    return EvaluationReport(update=3, decisions=24, metrics=metrics)


@pytest.mark.parametrize(
    ("way", "direction", "values", "expected"),
    [
        ("final", "maximise", [9.0, 1.0, 2.0, 3.0], 2.0),
        ("final", "maximise", [4.0, 2.0], 3.0),
        ("mean", "maximise", [1.0, 2.0, 6.0], 3.0),
        ("mean", "maximise", [1.0, 4.0], 3.0),  # a goal spared the third evaluation
        ("best", "maximise", [1.0, 5.0, 3.0], 5.0),
    ],
)
def test_a_score_is_one_number_of_all_evaluations(way, direction, values, expected):
    assert score(values, definition_of(score=way, direction=direction)) == pytest.approx(expected)


def test_nothing_is_known_of_a_run_without_evaluations():
    with pytest.raises(LearningError, match="ended before its first evaluation"):
        score([], definition_of())


def test_an_evaluation_must_say_the_objective():
    assert value_of(report(**{"evaluation/return_mean": 2.5}), definition_of()) == 2.5
    for metrics in ({}, {"evaluation/return_mean": nan}):
        with pytest.raises(LearningError, match="the evaluation at update 3 says no evaluation/return_mean"):
            value_of(report(**metrics), definition_of())
