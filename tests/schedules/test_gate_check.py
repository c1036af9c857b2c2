from dataclasses import replace

import pytest

from respawn.errors import ConfigError
from respawn.presets.fish_v40 import LEGACY_GATE, SOUND_GATE
from respawn.schedules.gate_check import GateCeiling, explain_gate, refuse_unsound
from respawn.schedules.gate_config import (
    DEATH_P10,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_EXCESS,
    STEP_ONE_RATIO,
    SURVIVAL_MEAN,
    SURVIVAL_WORST,
    Criterion,
    GateConfig,
)
from respawn.schedules.penalty_gate import PenaltyGate

CEILING = GateCeiling(
    doomed_fraction=0.0144,
    population=9600,
    horizon=500,
    null_policies={
        "brake": {SURVIVAL_MEAN: 0.833, SURVIVAL_WORST: 0.594, EARLY_DEATH: 0.09, DEATH_P10: 120.0},
        "turn": {SURVIVAL_MEAN: 0.838, SURVIVAL_WORST: 0.615, EARLY_DEATH: 0.112, DEATH_P10: 81.0},
    },
)


def gate(success, failure=()):
    return GateConfig((1, 2), success=tuple(success), failure=tuple(failure))


def test_the_usual_limits_can_be_reached_and_not_by_doing_nothing():
    refuse_unsound(SOUND_GATE, CEILING)
    assert explain_gate(SOUND_GATE, replace(CEILING, evaluation_every=8, planned_updates=60)) == []


@pytest.mark.parametrize(
    ("success", "failure", "complaint"),
    [
        (
            Criterion(DEATH_P10, at_least=70.0),
            Criterion(DEATH_P10, at_least=95.0),
            "a success needs evaluation/death_p10 at least 70, but it is already a failure without .* at least 95",
        ),
        (
            Criterion(DEATH_P10, at_least=95.0),
            Criterion(DEATH_P10, at_least=95.0),
            "already a failure without evaluation/death_p10 at least 95; change these limits",
        ),
        (
            Criterion(EARLY_DEATH, at_most=0.2),
            Criterion(EARLY_DEATH, at_most=0.1),
            "a success needs evaluation/early_death_100 at most 0.2, but",
        ),
        (
            Criterion(EARLY_DEATH, at_most=0.2),
            Criterion(EARLY_DEATH, at_least=0.1),
            "which are opposite bounds",
        ),
        (
            Criterion(EARLY_DEATH, at_most=0.13),
            Criterion(DEATH_P10, at_least=95.0),
            "more than 0.1 are dead before step 100 the 10th percentile is below 100",
        ),
    ],
)
def test_limits_that_contradict_each_other_are_refused_by_name(success, failure, complaint):
    config = gate([success], [failure])
    with pytest.raises(ConfigError, match=complaint):
        refuse_unsound(config)
    with pytest.raises(ConfigError, match="the gate cannot work as configured"):
        PenaltyGate(config)
    PenaltyGate(replace(config, mode="legacy"))
    assert len(explain_gate(replace(config, mode="legacy"))) == 1


def test_a_contradiction_of_one_kind_is_found_too():
    success = (Criterion(DEATH_P10, at_least=200.0), Criterion(DEATH_P10, at_least=80.0, kind="ne"))
    with pytest.raises(ConfigError, match=r"evaluation/death_p10 at least 80 \(ne\)"):
        PenaltyGate(gate(success, [Criterion(DEATH_P10, at_least=95.0)]))


@pytest.mark.parametrize(
    ("criterion", "reason"),
    [
        (Criterion(SURVIVAL_MEAN, at_least=0.99), "0.0144 of these starts are lost whatever anybody does"),
        (Criterion(SURVIVAL_WORST, at_least=0.99), "0.0144 of these starts"),
        (Criterion(EARLY_DEATH, at_most=0.01), "0.0144 of these starts"),
        (Criterion(STEP_ONE_RATIO, at_most=0.01), "0.0144 of these starts"),
        (Criterion(STEP_ONE_COUNT, at_most=18), "138 of 9600"),
        (Criterion(STEP_ONE_EXCESS, at_most=-0.001), "an excess below 0"),
        (Criterion(DEATH_P10, at_least=501.0), "an episode lasts 500 steps at most"),
    ],
)
def test_limits_that_nobody_can_reach_are_refused_by_name(criterion, reason):
    with pytest.raises(ConfigError, match=f"no policy can keep {criterion.metric} at .*{reason}"):
        refuse_unsound(gate([criterion]), CEILING)


def test_where_a_tenth_is_doomed_no_p10_can_be_reached():
    refuse_unsound(gate([Criterion(DEATH_P10, at_least=2.0)]), GateCeiling(doomed_fraction=0.05))
    with pytest.raises(ConfigError, match="no policy can keep evaluation/death_p10 at least 2"):
        refuse_unsound(gate([Criterion(DEATH_P10, at_least=2.0)]), GateCeiling(doomed_fraction=0.2))


def test_limits_that_are_kept_by_doing_nothing_are_refused_by_name():
    easy = gate([Criterion(DEATH_P10, at_least=100.0), Criterion(SURVIVAL_MEAN, at_least=0.8)])
    with pytest.raises(ConfigError, match="the policy 'brake', which has learned nothing, keeps every limit: "):
        refuse_unsound(easy, CEILING)


def test_the_flags_of_v40_are_explained_and_not_refused():
    lists = [37, 34, 24, 42, 47, 40, 30]
    for doomed in lists:
        ceiling = GateCeiling(doomed / 1920, 1920, 500, evaluation_every=8, planned_updates=60)
        told = explain_gate(LEGACY_GATE, ceiling)
        assert any(text.startswith("no policy can keep evaluation/step_one_count at most 18") for text in told)
        assert any("step_one_ratio" in text for text in told) == (doomed / 1920 > 0.02)
        assert any("evaluation/death_p10 at least 70, but it is already a failure" in text for text in told)
        assert any("at most 0.13 (ne)" in text for text in told)
        assert any("no freeze is ever felt" in text for text in told)


def test_how_a_legacy_gate_gets_in_its_own_way():
    config = replace(
        LEGACY_GATE,
        success=(Criterion(EARLY_DEATH, at_most=0.1, window=1, rule="last_and_median"),),
        failure=(),
        success_freeze_updates=9,
        freeze_updates=9,
        lock_until=28,
    )
    told = explain_gate(config, GateCeiling(evaluation_every=8, planned_updates=60))
    assert len(told) == 3
    assert "a window of 1 has no median there" in told[0]
    assert "success-freeze-updates (9) outlast the 8 updates" in told[1]
    assert "only 4 evaluations come after the lock (28), and the last stage needs 6 successes" in told[2]
    assert explain_gate(replace(config, mode="sound"), GateCeiling(evaluation_every=8, planned_updates=60)) == []
