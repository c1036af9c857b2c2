"""The reference run's schedules, followed over its sixty updates."""

import json
from dataclasses import replace

import pytest

from respawn.cli.arguments import parse
from respawn.cli.new_run import TrainArguments
from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.presets.fish_v40 import PHASES, PLANNED_UPDATES, SCHEDULES, SOUND_GATE
from respawn.schedules.curriculum import Curriculum
from respawn.schedules.gate_config import (
    DEATH_P10,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_EXCESS,
    STEP_ONE_RATIO,
    SURVIVAL_MEAN,
    SURVIVAL_WORST,
)
from respawn.schedules.windows import Windows
from respawn.training.config import RunConfig, config_from_json, config_sha256, config_to_json

SCHOOLS = 128
ROLLOUT_STEPS = 128
FORCED_RESET_STEPS = 224
PROBES = {
    8: (83.0, 0.6146, 0.1172, 40),
    16: (101.0, 0.4167, 0.0995, 38),
    24: (100.9, 0.5729, 0.0990, 29),
    32: (87.0, 0.5938, 0.1073, 46),
    40: (89.0, 0.5521, 0.1104, 50),
    48: (95.0, 0.5938, 0.1047, 42),
    56: (108.9, 0.6146, 0.09375, 38),
}
STRONG = {
    SURVIVAL_MEAN: 0.98,
    SURVIVAL_WORST: 0.9,
    DEATH_P10: 500.0,
    EARLY_DEATH: 0.02,
    STEP_ONE_EXCESS: 0.001,
    STEP_ONE_COUNT: 30.0,
    STEP_ONE_RATIO: 0.0156,
}


def resets_by_update():
    """How often each school begins an episode in each update: when a phase begins, and every 224 steps within it."""
    counts = []
    for phase in PHASES:
        for number in range(1, phase.updates + 1):
            before, after = (number - 1) * ROLLOUT_STEPS, number * ROLLOUT_STEPS
            counts.append(after // FORCED_RESET_STEPS - before // FORCED_RESET_STEPS + (number == 1))
    return counts


def update_report(update, resets):
    metrics = {"world/hard_starts": float(resets * SCHOOLS)}
    if update > 1:  # no episode has ended in the first
        metrics["episode/first_death_p10"] = 1.0
    return UpdateReport(update, update, update, update, metrics)


def probe(update):
    p10, worst, early, count = PROBES[update]
    metrics = {DEATH_P10: p10, SURVIVAL_WORST: worst, EARLY_DEATH: early, STEP_ONE_COUNT: float(count)}
    return EvaluationReport(update, update, {**metrics, STEP_ONE_RATIO: count / 1920})


def followed(config=SCHEDULES.curriculum, judge=probe):
    """What was decided for each update, and every ruling by its schedule."""
    curriculum = Curriculum(config, planned_updates=PLANNED_UPDATES, num_schools=SCHOOLS)
    decided, rulings = [], {}
    for update, resets in enumerate(resets_by_update(), start=1):
        decided.append(curriculum.decide(Clock(updates=update - 1)))
        reports = [update_report(update, resets)] + ([judge(update)] if update % 8 == 0 else [])
        for ruling in (ruling for report in reports for ruling in curriculum.observe(report)):
            rulings.setdefault(ruling.schedule, []).append(ruling)
    return decided, rulings


DECIDED, RULINGS = followed()


def test_the_penalty_stays_where_the_gate_held_it():
    wanted = [0.0] * 9 + [0.02] * 10 + [0.04] * 9 + [0.05] * 32
    assert [values["density_penalty"] for values in DECIDED] == wanted


def test_the_boost_follows_phases_floors_and_the_cap():
    wanted = [0.75] * 19 + [0.76] * 9 + [0.78] * 8 + [0.80] * 24
    assert [values["escape_boost"] for values in DECIDED] == wanted


def test_schools_grow():
    assert [values["school_size"] for values in DECIDED] == [15.0] * 9 + [20.0] * 10 + [25.0] * 41


def test_the_entropy_cost_has_its_windows():
    windows = Windows("entropy_cost", 0.02, SCHEDULES.entropy_windows)
    values = [windows.decide(Clock(updates=updates))["entropy_cost"] for updates in range(60)]
    assert values == [0.02] * 15 + [0.03] * 9 + [0.02] * 36


def test_the_adaptive_boost_moves_only_within_the_last_phases():
    moved = [ruling.update for ruling in RULINGS["curriculum"] if ruling.facts["boost_base"] == 0.82]
    assert moved == [37, 45, 53]


def test_the_gate_decides_as_it_did_under_the_kinds_that_were_dealt():
    told = [(r.update, r.facts["event"], r.facts["tail_stage_type"]) for r in RULINGS["penalty_gate"]]
    assert told == [
        (8, "failure_hold", "ne"),
        (16, "failure_hold", "ne"),
        (24, "locked", "main"),
        (32, "failure_hold", "main"),
        (40, "failure_hold", "main"),
        (48, "noop", "ne"),
        (56, "noop", "main"),
    ]


def test_hard_starts_are_consumed_as_they_were():
    statuses = [ruling.facts for ruling in RULINGS["hard_starts"]]
    last = statuses[-1]
    assert sum(resets_by_update()) == 38
    assert (last["consumed"], last["total_capacity"]) == (4864, 15360)
    changes = [number for number in range(2, 61) if statuses[number - 1]["index"] != statuses[number - 2]["index"]]
    assert changes == [11, 21, 45, 54]
    assert last["ne_reinjections"] == 2
    assert last["remaining_ratio"] == pytest.approx(0.6833, abs=5e-5)
    assert (last["label"], last["stage_type"]) == ("stage5:v32-stage1", "main")


def test_the_warning_comes_when_it_came_and_lasts_as_long():
    triggered, resolved = RULINGS["hard_start_warning"]
    assert (triggered.update, triggered.facts["event"], triggered.facts["threshold"]) == (57, "triggered", 0.70)
    assert triggered.facts["remaining_ratio"] == 0.7
    assert (resolved.update, resolved.facts["event"], resolved.facts["duration_iterations"]) == (60, "run_end", 4)
    durations = [ruling.facts["warning_duration"] for ruling in RULINGS["hard_starts"]]
    assert durations == [0] * 56 + [1, 2, 3, 4]


def test_what_stood_in_the_gates_way_is_said_at_the_first_evaluation():
    (ruling,) = RULINGS["penalty_gate_check"]
    assert ruling.update == 8
    assert any("death_p10 at least 70, but it is already a failure" in text for text in ruling.facts["explanations"])


def test_a_sound_gate_opens_for_a_strong_policy_and_the_penalty_rises():
    config = replace(SCHEDULES.curriculum, gate=SOUND_GATE, penalty_lock=None)
    decided, rulings = followed(config, lambda update: EvaluationReport(update, update, STRONG))
    events = [ruling.facts["event"] for ruling in rulings["penalty_gate"]]
    assert events == ["noop", *["success_progress", "advance"] * 3]
    penalties = [values["density_penalty"] for values in decided]
    assert penalties[36:44] == [0.055] * 8
    assert penalties[-1] == 0.065 and max(penalties) == 0.065


def test_it_survives_its_file_and_is_part_of_the_fingerprint():
    config = RunConfig(planned_updates=PLANNED_UPDATES, schedules=SCHEDULES)
    again = config_from_json(json.loads(json.dumps(config_to_json(config))))
    assert again == config and config_sha256(again) == config_sha256(config)
    other = replace(config, schedules=replace(SCHEDULES, curriculum=replace(SCHEDULES.curriculum, gate=SOUND_GATE)))
    assert config_sha256(other) != config_sha256(config)


def test_the_command_line_leaves_it_alone():
    config = RunConfig(planned_updates=PLANNED_UPDATES, schedules=SCHEDULES)
    parsed = parse(TrainArguments, ["--seed", "3"], "respawn train fish", TrainArguments(config=config))
    assert parsed.config == replace(config, seed=3)
