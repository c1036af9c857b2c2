import math

import pytest

from respawn.checkpoints.config import CheckpointsConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport
from respawn.evaluation.config import EvaluationConfig
from respawn.training import cadence as module
from respawn.training.cadence import Cadence


def make(*, last_update=100, limit_seconds=None, every_evaluation=0, **checkpoints):
    settings = CheckpointsConfig(**{"every_updates": 0, "every_seconds": 0.0, **checkpoints})
    evaluation = EvaluationConfig(every_updates=every_evaluation)
    return Cadence(evaluation, settings, last_update=last_update, limit_seconds=limit_seconds)


def judgement(update, score):
    return EvaluationReport(update, 0, {} if score is None else {"evaluation/return_mean": score})


def test_a_run_ends_at_its_last_update_when_time_is_up_or_when_asked():
    cadence = make(last_update=3, limit_seconds=10.0)
    assert not cadence.finished(Clock(updates=2, seconds=9.9))
    assert cadence.finished(Clock(updates=3))
    assert cadence.finished(Clock(updates=2, seconds=10.0))
    cadence.stop_requested = True
    assert cadence.finished(Clock())


def test_no_limit_of_time_is_no_limit():
    assert not make().finished(Clock(updates=99, seconds=1e9))


def test_evaluations_are_due_by_count_and_once():
    cadence = make(every_evaluation=4)
    assert [update for update in range(13) if cadence.evaluation_due(Clock(updates=update))] == [4, 8, 12]
    cadence.judged(judgement(8, 1.0))
    assert not cadence.evaluation_due(Clock(updates=8))
    assert not any(make().evaluation_due(Clock(updates=update)) for update in range(5))


def test_checkpoints_are_due_by_count():
    cadence = make(every_updates=3)
    assert [update for update in range(1, 8) if cadence.checkpoint_due(Clock(updates=update))] == [3, 6]
    cadence.saved(Clock(updates=3))
    assert not cadence.checkpoint_due(Clock(updates=3))
    assert not make().checkpoint_due(Clock(updates=3))


def test_checkpoints_are_due_by_time(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    cadence = make(every_seconds=60.0)
    now += 59.0
    assert not cadence.checkpoint_due(Clock(updates=1))
    now += 1.0
    assert cadence.checkpoint_due(Clock(updates=1))
    cadence.saved(Clock(updates=1))
    assert not cadence.checkpoint_due(Clock(updates=2))
    now += 60.0
    assert cadence.checkpoint_due(Clock(updates=2))


def test_a_checkpoint_is_due_when_an_evaluation_is_the_best_so_far():
    cadence = make()
    due = []
    for update, score in enumerate([None, 5.0, 5.0, math.nan, math.inf, 6.0], start=1):
        cadence.judged(judgement(update, score))
        if cadence.checkpoint_due(Clock(updates=update)):
            due.append(update)
            cadence.saved(Clock(updates=update))
    assert due == [2, 6]


def test_an_evaluation_without_a_number_does_not_stand_in_the_way_of_the_best():
    cadence = make()
    cadence.judged(judgement(1, math.nan))
    assert not cadence.checkpoint_due(Clock(updates=1))
    cadence.judged(judgement(2, -5.0))
    assert cadence.checkpoint_due(Clock(updates=2))


def test_nothing_is_saved_twice():
    cadence = make()
    assert cadence.unsaved(Clock(updates=0))  # so that a run can be resumed from its very first moment
    cadence.saved(Clock(updates=0))
    assert not cadence.unsaved(Clock(updates=0)) and cadence.unsaved(Clock(updates=1))


@pytest.mark.parametrize("score", [None, 7.0])
def test_the_best_is_remembered(score):
    cadence = make(every_evaluation=4)
    cadence.judged(judgement(4, score))
    again = make(every_evaluation=4)
    again.restore(cadence.state())
    assert again.state() == cadence.state()
    assert not again.evaluation_due(Clock(updates=4))
    again.judged(judgement(8, 6.0))
    assert again.checkpoint_due(Clock(updates=8)) == (score is None)


def with_goal(stop_at=0.9, stop_after=2):
    evaluation = EvaluationConfig(every_updates=1, stop_at=stop_at, stop_after=stop_after)
    return Cadence(evaluation, CheckpointsConfig(), last_update=100, limit_seconds=None)


def test_a_goal_must_be_reached_so_many_times_in_a_row():
    cadence = with_goal()
    reached = []
    for update, score in enumerate([0.95, 0.5, None, 0.9, math.inf, 0.9, 1.0], start=1):
        cadence.judged(judgement(update, score))
        reached.append(cadence.finished(Clock(updates=update)))
    assert reached == [False] * 6 + [True]
    assert cadence.goal_reached and cadence.goal == "evaluation/return_mean of at least 0.9, 2 times in a row"
    again = with_goal()
    again.restore(cadence.state())
    assert again.goal_reached
    assert not make(every_evaluation=1).goal_reached  # without a goal there is none to reach
