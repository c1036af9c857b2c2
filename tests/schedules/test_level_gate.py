import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport
from respawn.errors import ConfigError
from respawn.schedules.level_gate import LevelGate, LevelsConfig

ONE_EACH = LevelsConfig().for_levels(4)


def evaluation(update, worst, mean=None):
    rates = {"evaluation/cleared_open": worst if mean is None else mean, "evaluation/cleared_open_worst": worst}
    return EvaluationReport(update, update, rates)


def windows(config, *rates):
    """What is open after each evaluation, ten updates apart; a rate, or the worst one and the mean."""
    gate, seen = LevelGate(config), []
    for number, rate in enumerate(rates, start=1):
        gate.observe(evaluation(10 * number, *(rate if isinstance(rate, tuple) else (rate,))))
        values = gate.decide(Clock(updates=10 * number))
        seen.append((values["first_level"], values["last_level"]))
    return seen


def test_levels_advance_hold_and_fall_back():
    rates = (0.9, 0.9, (0.0, 0.5), (0.85, 0.9), (0.9, 0.9), (0.0, 0.2), (0.0, 0.2), (0.0, 0.6))
    lasts = [last for _, last in windows(ONE_EACH, *rates)]
    assert lasts == [1, 2, 2, 2, 3, 3, 2, 2]


def test_the_last_stage_stays_the_last():
    assert windows(LevelsConfig(required_successes=1).for_levels(2), 1.0, 1.0, 1.0) == [(1, 2)] * 3


EAGER = {"required_successes": 1}
OPENING, CLOSING = (0.9, 0.9, 0.6, 0.6), (0.9, 0.35, 0.1, 0.1)


@pytest.mark.parametrize(
    ("others", "setting", "rates", "without", "lasts"),
    [
        ({}, {"advance_at": 0.6}, OPENING, [1, 2, 2, 2], [1, 2, 2, 3]),
        ({}, {"required_successes": 1}, OPENING, [1, 2, 2, 2], [2, 3, 3, 3]),
        ({}, {"lock_until": 10}, OPENING, [1, 2, 2, 2], [1, 1, 1, 1]),
        (EAGER, {"freeze_updates": 15}, OPENING, [2, 3, 3, 3], [2, 2, 2, 2]),
        (EAGER, {"stages": (2, 4)}, OPENING, [2, 3, 3, 3], [4, 4, 4, 4]),
        (EAGER, {"failure_tolerance": 1}, CLOSING, [2, 2, 2, 1], [2, 2, 1, 1]),
        (EAGER, {"fall_back_below": 0.4}, CLOSING, [2, 2, 2, 1], [2, 2, 1, 1]),
        (EAGER, {"fall_back_below": 0.0}, CLOSING, [2, 2, 2, 1], [2, 2, 2, 2]),
    ],
)
def test_each_setting_changes_when_levels_open_and_close(others, setting, rates, without, lasts):
    def opened(settings):
        return [last for _, last in windows(LevelsConfig(**settings).for_levels(4), *rates)]

    assert opened(others) == without != lasts
    assert opened({**others, **setting}) == lasts


def test_only_the_last_ones_may_be_kept():
    config = LevelsConfig(keep=2, required_successes=1).for_levels(4)
    assert windows(config, 0.9, 0.9, 0.9) == [(1, 2), (2, 3), (3, 4)]


def test_what_an_evaluation_does_not_say_moves_nothing():
    gate = LevelGate(ONE_EACH)
    (ruling,) = gate.observe(EvaluationReport(10, 10, {}))
    assert (ruling.schedule, ruling.facts["event"]) == ("level_gate", "undecided")
    assert ruling.facts["missing"] == ["evaluation/cleared_open", "evaluation/cleared_open_worst"]


def test_rulings_say_what_is_open_and_why():
    ruling, grounds = LevelGate(ONE_EACH).observe(evaluation(10, 0.9))
    assert (ruling.schedule, ruling.facts["event"], ruling.facts["last_level"]) == ("level_gate", "success_progress", 1)
    assert grounds.schedule == "level_gate_criteria" and grounds.facts["success"][0]["kept"] is True


def test_restored_it_goes_on_as_it_would_have():
    gate, other = LevelGate(ONE_EACH), LevelGate(ONE_EACH)
    gate.observe(evaluation(10, 0.9))
    other.restore(gate.state())
    assert other.observe(evaluation(20, 0.9)) == gate.observe(evaluation(20, 0.9))
    assert other.decide(Clock(updates=20)) == gate.decide(Clock(updates=20)) == {"first_level": 1.0, "last_level": 2.0}


@pytest.mark.parametrize(
    ("changes", "levels", "message"),
    [
        ({"stages": (2, 1)}, 4, "rising"),
        ({"stages": (0, 1)}, 4, "from 1"),
        ({"stages": (1, 5)}, 4, "names level 5"),
        ({"stages": (4,)}, 4, "at least two stages"),
        ({}, 1, "at least two stages"),
        ({"advance_at": 0.0}, 4, "above 0"),
        ({"advance_at": 1.1}, 4, "advance-at"),
        ({"fall_back_below": 0.5}, 4, "close it at once"),
        ({"keep": 1}, 4, "close it at once"),
        ({"keep": -1}, 4, "keep"),
        ({"required_successes": 0}, 4, "required-successes"),
        ({"failure_tolerance": 0}, 4, "failure-tolerance"),
    ],
)
def test_what_cannot_work_is_refused(changes, levels, message):
    with pytest.raises(ConfigError, match=message):
        LevelsConfig(**changes).for_levels(levels)
