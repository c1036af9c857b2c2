from dataclasses import replace

import pytest

from respawn.contracts.records import EvaluationReport
from respawn.errors import ConfigError
from respawn.presets.fish_v40 import LEGACY_GATE
from respawn.schedules.gate_config import (
    DEATH_P10,
    DOOMED_FRACTION,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_EXCESS,
    STEP_ONE_RATIO,
    SURVIVAL_MEAN,
    SURVIVAL_WORST,
    Criterion,
    GateConfig,
    KindTolerance,
    criteria_for,
)
from respawn.schedules.penalty_gate import PenaltyGate
from respawn.testing.suites.saveable import check_saveable

V40 = [
    # update, p10, worst survival, early death, step-one count of 1920, kind → event, freeze until, failure streak
    (8, 83.0, 0.6146, 0.1172, 40, "ne", "failure_hold", 13, 1),
    (16, 101.0, 0.4167, 0.0995, 38, "ne", "failure_hold", 21, 2),
    (24, 100.9, 0.5729, 0.0990, 29, "main", "locked", 21, 0),
    (32, 87.0, 0.5938, 0.1073, 46, "main", "failure_hold", 37, 1),
    (40, 89.0, 0.5521, 0.1104, 50, "main", "failure_hold", 45, 2),
    (48, 95.0, 0.5938, 0.1047, 42, "ne", "noop", 45, 0),
    (56, 108.9, 0.6146, 0.09375, 38, "main", "noop", 45, 0),
]
STRONG = {
    SURVIVAL_MEAN: 0.982,
    SURVIVAL_WORST: 0.90,
    DEATH_P10: 500.0,
    EARLY_DEATH: 0.017,
    STEP_ONE_COUNT: 10.0,
    STEP_ONE_RATIO: 0.0167,
    STEP_ONE_EXCESS: 0.002,
}
NULL_POLICIES = {
    "coast": (0.746, 0.604, 0.092, 109, 0.0034),
    "random": (0.741, 0.563, 0.099, 101, 0.0041),
    "accelerate": (0.529, 0.396, 0.112, 86, 0.0032),
    "brake": (0.833, 0.594, 0.090, 120, 0.0035),
    "turn left": (0.838, 0.615, 0.112, 81, 0.0034),
    "the best of each": (0.84, 0.625, 0.090, 129, 0.0),
}


def null_metrics(name):
    mean, worst, early, p10, excess = NULL_POLICIES[name]
    return {
        SURVIVAL_MEAN: mean,
        SURVIVAL_WORST: worst,
        EARLY_DEATH: early,
        DEATH_P10: float(p10),
        STEP_ONE_EXCESS: excess,
    }


def evaluation(update, **metrics):
    return EvaluationReport(update, 0, metrics)


def recorded(update, p10, worst, early, count):
    metrics = {DEATH_P10: p10, SURVIVAL_WORST: worst, EARLY_DEATH: early, STEP_ONE_COUNT: count}
    return evaluation(update, **metrics, **{STEP_ONE_RATIO: count / 1920})


def decision(rulings):
    return next(ruling.facts for ruling in rulings if ruling.schedule == "penalty_gate")


def played(gate, reports):
    """The decisions on (report, kind) pairs."""
    return [decision(gate.observe(report, kind)) for report, kind in reports]


def v40_reports():
    return [(recorded(*row[:5]), row[5]) for row in V40]


def without_step_one(config, **changes):
    kept = tuple(c for c in config.success if c.metric not in (STEP_ONE_COUNT, STEP_ONE_RATIO))
    return replace(config, success=kept, **changes)


def test_the_record_of_v40_is_replayed_event_for_event():
    decisions = played(PenaltyGate(LEGACY_GATE, lock_until=28), v40_reports())
    told = [(facts["event"], facts["freeze_until"], facts["failure_streak"]) for facts in decisions]
    assert told == [row[6:] for row in V40]
    assert {facts["stage"] for facts in decisions} == {0}
    assert {facts["phase_limit"] for facts in decisions} == {3}
    last = decisions[-1]
    assert last["rolling_p10_median"] == 92.0
    assert last["rolling_early_death_median"] == 0.1047
    assert last["rolling_early_death_median_stage"] == pytest.approx(0.10315)


def test_a_decision_says_what_it_was_made_on():
    gate = PenaltyGate(LEGACY_GATE, lock_until=28)
    first = played(gate, v40_reports())[0]
    assert first == {
        "event": "failure_hold",
        "stage": 0,
        "phase_limit": 3,
        "success_streak": 0,
        "freeze_until": 13,
        "failure_detected": True,
        "failure_streak": 1,
        "failure_tolerance": 2,
        "early_death_threshold": 0.13,
        "early_death_window": 3,
        "tail_stage_type": "ne",
        "step_one_death_ratio": 40 / 1920,
    }
    rulings = gate.observe(recorded(64, 100.0, 0.6, 0.09, 38), " Main ")
    assert decision(rulings)["tail_stage_type"] == "main"
    assert decision(rulings)["failure_tolerance"] == 3
    grounds = next(ruling.facts for ruling in rulings if ruling.schedule == "penalty_gate_criteria")
    assert {c["metric"]: c["kept"] for c in grounds["success"]} == {
        STEP_ONE_COUNT: False,
        STEP_ONE_RATIO: True,
        EARLY_DEATH: False,
        DEATH_P10: True,
    }
    assert [c["kept"] for c in grounds["failure"]] == [True, True]


def test_relaxed_limits_let_the_record_of_v40_advance():
    success = tuple(
        replace(c, at_most=0.12) if c.metric == EARLY_DEATH and c.kind == "main" else c for c in LEGACY_GATE.success
    )
    failure = (Criterion(DEATH_P10, at_least=70.0), Criterion(SURVIVAL_WORST, at_least=0.5))
    config = without_step_one(replace(LEGACY_GATE, success=success), failure=failure)
    events = [facts["event"] for facts in played(PenaltyGate(config, lock_until=28), v40_reports())]
    assert events[5:] == ["success_progress", "advance"]


def test_in_the_legacy_mode_even_a_perfect_policy_waits_for_the_window_of_its_kind():
    config = without_step_one(LEGACY_GATE)
    reports = [(recorded(row[0], 500.0, 0.9, 0.01, 0), row[5]) for row in V40]
    events = [facts["event"] for facts in played(PenaltyGate(config, lock_until=28), reports)]
    assert events == ["locked", "locked", "locked", "noop", "noop", "success_progress", "advance"]


SYNTHETIC = replace(
    LEGACY_GATE,
    success=(
        Criterion(EARLY_DEATH, at_most=0.1, window=2, rule="last_and_median", history="kind"),
        Criterion(DEATH_P10, at_least=70.0, window=1, rule="median"),
    ),
)


@pytest.mark.parametrize(
    ("success_freeze", "events"),
    [
        (2, ["noop", *["success_progress", "advance"] * 3]),
        (9, ["noop", *["success_progress", "frozen"] * 3]),
    ],
)
def test_synthetic_successes_in_the_legacy_mode(success_freeze, events):
    gate = PenaltyGate(replace(SYNTHETIC, success_freeze_updates=success_freeze))
    decisions = played(gate, [(recorded(update, 500.0, 0.9, 0.01, 0), "main") for update in range(8, 64, 8)])
    assert [facts["event"] for facts in decisions] == events
    if success_freeze == 2:
        assert [facts["stage"] for facts in decisions] == [0, 0, 1, 1, 2, 2, 3]
        assert [facts["phase_limit"] for facts in decisions] == [3, 3, 4, 4, 5, 5, 6]
        assert [facts.get("changed") for facts in decisions] == [None, None, True, None, True, None, True]
        assert decisions[2]["last_success"] == {
            "iteration": 24,
            "step_one": 0,
            "step_one_ratio": 0.0,
            "early_death_fraction_100": 0.01,
            "first_death_p10": 500.0,
            "min_final_survival_rate": 0.9,
        }


def test_in_the_legacy_mode_a_window_of_one_never_succeeds_and_in_the_sound_one_it_does():
    one = Criterion(EARLY_DEATH, at_most=0.1, window=1, rule="last_and_median")
    reports = [(evaluation(update, **STRONG), "") for update in (8, 16)]
    legacy = GateConfig((1, 2), "legacy", success=(one,), failure=())
    assert [f["event"] for f in played(PenaltyGate(legacy), reports)] == ["noop", "noop"]
    assert [f["event"] for f in played(PenaltyGate(replace(legacy, mode="sound")), reports)] == [
        "success_progress",
        "advance",
    ]


def test_the_legacy_mode_lets_failure_hide_success_and_the_sound_one_does_not():
    # The median is fine, the last value is not.
    success = (Criterion(DEATH_P10, at_least=100.0, window=3, rule="median"),)
    failure = (Criterion(DEATH_P10, at_least=95.0),)
    reports = [(evaluation(u, **{DEATH_P10: p10}), "") for u, p10 in ((8, 120.0), (16, 120.0), (24, 90.0))]
    legacy = GateConfig((1, 2), "legacy", success=success, failure=failure)
    assert played(PenaltyGate(legacy), reports)[-1]["event"] == "failure_hold"
    assert played(PenaltyGate(replace(legacy, mode="sound")), reports)[-1]["event"] == "success_progress"


@pytest.mark.parametrize("kind", ["", "main", "ne"])
def test_a_strong_policy_reaches_the_last_stage(kind):
    gate = PenaltyGate(GateConfig((4, 5, 6, 7)))
    decisions = played(gate, [(evaluation(update, **STRONG), kind) for update in range(8, 64, 8)])
    assert [facts["event"] for facts in decisions] == ["noop", *["success_progress", "advance"] * 3]
    assert (gate.stage, gate.phase_limit) == (3, 6)
    after = played(gate, [(evaluation(64, **STRONG), kind), (evaluation(72, **STRONG), kind)])
    assert [facts["event"] for facts in after] == ["success_progress", "success_progress"]


@pytest.mark.parametrize("name", NULL_POLICIES)
def test_policies_that_have_learned_nothing_never_advance(name):
    gate = PenaltyGate(GateConfig((4, 5, 6, 7), required_successes=1))
    decisions = played(gate, [(evaluation(update, **null_metrics(name)), "main") for update in range(8, 400, 8)])
    assert {facts["stage"] for facts in decisions} == {0}
    assert not any("success" in facts["event"] or facts["event"] == "advance" for facts in decisions)


def test_a_freeze_does_not_wipe_a_streak():
    gate = PenaltyGate(GateConfig((1, 2, 3), success_freeze_updates=9))
    decisions = played(gate, [(evaluation(update, **STRONG), "") for update in range(8, 48, 8)])
    assert [facts["event"] for facts in decisions] == [
        "noop",
        "success_progress",
        "frozen",
        "advance",
        "success_progress",
    ]
    assert decisions[2]["success_streak"] == 1


def test_a_lock_keeps_the_gate_closed_and_the_gates_own_comes_first():
    reports = [(evaluation(update, **STRONG), "") for update in range(8, 48, 8)]
    events = [facts["event"] for facts in played(PenaltyGate(GateConfig((1, 2)), lock_until=24), reports)]
    assert events == ["locked", "locked", "locked", "success_progress", "advance"]
    own = GateConfig((1, 2), lock_until=16)
    assert [f["event"] for f in played(PenaltyGate(own, lock_until=24), reports)][2] == "success_progress"


@pytest.mark.parametrize("mode", ["sound", "legacy"])
def test_failures_roll_the_gate_back_once_tolerance_is_spent(mode):
    config = GateConfig((1, 2, 3), mode, freeze_updates=0, tolerances=(KindTolerance("main", 3),))
    gate = PenaltyGate(config)
    played(gate, [(evaluation(update, **STRONG), "ne") for update in range(1, 6)])
    assert gate.stage == 2
    weak = null_metrics("accelerate")
    decisions = played(gate, [(evaluation(update, **weak), "ne") for update in range(6, 12)])
    assert [facts["event"] for facts in decisions] == [
        *["failure_hold", "rollback"] * 2,
        "failure_hold",
        "failure_hold",
    ]
    assert [facts["stage"] for facts in decisions] == [2, 1, 1, 0, 0, 0]
    assert [facts["failure_streak"] for facts in decisions] == [1, 0, 1, 0, 1, 2]
    assert decisions[1]["changed"] is True
    assert decisions[1]["failure_tolerance"] == 2
    patient = PenaltyGate(config)
    patient.restore({**gate.state(), "stage": 2, "failure_streak": 0})
    decisions = played(patient, [(evaluation(update, **weak), "main") for update in range(12, 15)])
    assert [facts["event"] for facts in decisions] == ["failure_hold", "failure_hold", "rollback"]


def test_a_rollback_freezes_and_a_failure_takes_the_streak():
    gate = PenaltyGate(GateConfig((1, 2), freeze_updates=20, failure_tolerance=1))
    played(gate, [(evaluation(update, **STRONG), "") for update in (8, 16)])
    held = played(gate, [(evaluation(24, **null_metrics("brake")), ""), (evaluation(32, **STRONG), "")])
    assert [(facts["event"], facts["success_streak"], facts["freeze_until"]) for facts in held] == [
        ("failure_hold", 0, 44),
        ("frozen", 0, 44),
    ]


def test_the_last_k_must_all_keep_a_limit():
    config = GateConfig((1, 2), success=(Criterion(DEATH_P10, at_least=100.0, window=3, rule="all"),), failure=())
    values = [120, 120, 99, 120, 120, 101]
    decisions = played(
        PenaltyGate(config), [(evaluation(u, **{DEATH_P10: float(p)}), "") for u, p in enumerate(values, 1)]
    )
    assert [facts["event"] for facts in decisions] == ["noop"] * 5 + ["success_progress"]
    falling = GateConfig((1, 2), success=(Criterion(EARLY_DEATH, at_most=0.1, window=2, rule="all"),), failure=())
    reports = [(evaluation(u, **{EARLY_DEATH: e}), "") for u, e in enumerate([0.05, 0.2, 0.1, 0.1], 1)]
    assert [f["event"] for f in played(PenaltyGate(falling), reports)] == ["noop"] * 3 + ["success_progress"]


def test_kinds_have_limits_windows_and_histories_of_their_own():
    general = Criterion(DEATH_P10, at_least=70.0, window=4, rule="median")
    own = Criterion(DEATH_P10, at_least=100.0, window=2, rule="median", kind="main", history="kind_or_all")
    config = GateConfig((1, 2), "legacy", success=(general, own), failure=())
    rows = [("ne", 80.0), ("ne", 80.0), ("ne", 80.0), ("main", 140.0), ("main", 140.0), ("ne", 80.0)]
    gate = PenaltyGate(config)
    decisions = played(gate, [(evaluation(u, **{DEATH_P10: p10}), kind) for u, (kind, p10) in enumerate(rows, 1)])
    assert [facts["event"] for facts in decisions] == [*["noop"] * 4, "success_progress", "advance"]
    assert decisions[3].get("rolling_p10_median_stage") is None  # one of the kind: all four count, and 80 is below 100
    assert decisions[4]["rolling_p10_median_stage"] == 140.0
    assert decisions[4]["rolling_p10_median"] == 110.0
    strict = replace(config, success=(general, replace(own, history="kind")))
    reports = [
        (evaluation(u, **{DEATH_P10: 140.0}), kind) for u, kind in enumerate(["ne", "ne", "ne", "main", "main"], 1)
    ]
    assert [f["event"] for f in played(PenaltyGate(strict), reports)][3:] == ["noop", "success_progress"]


def test_step_one_limits_may_depend_on_the_kind():
    criteria = (Criterion(STEP_ONE_COUNT, at_most=18), Criterion(STEP_ONE_COUNT, at_most=45, kind="main"))
    config = GateConfig((1, 2), "legacy", success=criteria, failure=())
    reports = [(recorded(u, 100.0, 0.6, 0.09, 38), kind) for u, kind in enumerate(["ne", "main", "other", ""], 1)]
    assert [f["event"] for f in played(PenaltyGate(config), reports)] == ["noop", "success_progress", "noop", "noop"]
    assert criteria_for(criteria, "main") == (criteria[1],)


def test_without_its_metrics_it_decides_nothing_and_says_so():
    gate = PenaltyGate(GateConfig((2, 3)))
    metrics = {name: value for name, value in STRONG.items() if name != DEATH_P10}
    (ruling,) = gate.observe(evaluation(8, **metrics, **{"evaluation/return_mean": 1.0}))
    assert ruling.schedule == "penalty_gate"
    assert ruling.facts == {"event": "undecided", "stage": 0, "phase_limit": 1, "missing": [DEATH_P10]}
    assert decision(gate.observe(evaluation(16, **{**STRONG, DEATH_P10: float("nan")})))["missing"] == [DEATH_P10]


def test_the_first_evaluation_shows_what_is_out_of_reach():
    gate = PenaltyGate(LEGACY_GATE, lock_until=28)
    report = EvaluationReport(8, 0, {**recorded(*V40[0][:5]).metrics, DOOMED_FRACTION: 37 / 1920})
    rulings = gate.observe(report, "ne")
    assert [ruling.schedule for ruling in rulings] == ["penalty_gate_check", "penalty_gate", "penalty_gate_criteria"]
    assert any("37 of 1920" in text for text in rulings[0].facts["explanations"])
    assert [ruling.schedule for ruling in gate.observe(report, "ne")] == ["penalty_gate", "penalty_gate_criteria"]


@pytest.mark.parametrize("mode", ["sound", "legacy"])
def test_it_can_be_saved_in_the_middle_of_a_freeze(mode):
    def advance(gate):
        seen = len(gate.state()["history"]["all"].get(DEATH_P10, []))
        metrics = STRONG if seen % 4 < 3 else null_metrics("brake")
        for ahead in (8, 12):
            gate.observe(evaluation(gate.state()["freeze_until"] + ahead, **metrics), "main" if seen % 2 else "ne")

    check_saveable(
        lambda: PenaltyGate(GateConfig((1, 2, 3), mode, freeze_updates=20)), advance, lambda gate: gate.state()
    )


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: GateConfig(()), r"allowance must name at least one phase, from 1 and rising, not \[\]"),
        (lambda: GateConfig((2, 1)), r"from 1 and rising, not \[2, 1\]"),
        (lambda: GateConfig((0, 1)), r"from 1 and rising, not \[0, 1\]"),
        (lambda: GateConfig((1, 1)), r"from 1 and rising, not \[1, 1\]"),
        (lambda: GateConfig((1,), required_successes=0), "the gate's required-successes must be at least 1"),
        (lambda: GateConfig((1,), freeze_updates=-1), "the gate's freeze-updates must be at least 0"),
        (lambda: GateConfig((1,), failure_tolerance=0), "the gate's failure-tolerance must be at least 1"),
        (lambda: GateConfig((1,), success=()), "success needs at least one criterion"),
        (lambda: GateConfig((1,), success=(Criterion("a/b", at_least=1),) * 2), "success name a/b twice"),
        (lambda: GateConfig((1,), tolerances=(KindTolerance("x", 1),) * 2), "tolerances name x twice"),
        (lambda: KindTolerance("x", 0), "a kind's tolerance must be at least 1"),
        (lambda: Criterion("", at_least=1.0), "needs the name of a metric"),
        (lambda: Criterion("a/b"), "a criterion of a/b needs either at-least or at-most"),
        (lambda: Criterion("a/b", at_least=1.0, at_most=2.0), "either at-least or at-most"),
        (lambda: Criterion("a/b", at_least=float("nan")), "must be finite, not nan"),
        (
            lambda: Criterion("a/b", at_least=1.0, window=0, rule="all"),
            r"criterion's \(a/b\) window must be at least 1",
        ),
        (lambda: Criterion("a/b", at_least=1.0, window=2), "its window must be 1, not 2; or choose another rule"),
        (lambda: Criterion("a/b", at_least=1.0, kind=" Main"), "in lower case and without spaces around, not ' Main'"),
    ],
)
def test_what_is_no_gate_is_refused(make, complaint):
    with pytest.raises(ConfigError, match=complaint):
        make()
