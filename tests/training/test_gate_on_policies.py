"""Our gate on real evaluations: who learned opens it to its last stage, and those who learned nothing never do."""

from dataclasses import replace

import pytest
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.records import EvaluationReport
from respawn.evaluation.fish_evaluator import play_null_policies
from respawn.evaluation.fish_policies import EVADER
from respawn.evaluation.fish_report import summarise_schools
from respawn.evaluation.schools import play_schools
from respawn.presets import find_preset
from respawn.presets.fish_v40 import SOUND_GATE
from respawn.schedules.penalty_gate import PenaltyGate
from respawn.training.gate_start import check_gate
from respawn.training.trained import load_shipped
from respawn.worlds.fish.world import FishWorld

CPU = torch.device("cpu")
SCHOOLS, FISH, PROBES = 12, 96, 8
KNOBS = Knobs(0, {"escape_boost": 0.8, "density_penalty": 0.0})


@pytest.fixture(scope="module")
def tanks():
    return load_shipped("fish").config.world.as_judged(FISH)


def seeds_of(probe):
    return range(6_000_000 + 100 * probe, 6_000_000 + 100 * probe + SCHOOLS)


def judged(metrics_of_probes):
    """The stages that a gate goes through when it is shown some evaluations, one every eight updates."""
    gate = PenaltyGate(SOUND_GATE)
    stages = []
    for number, metrics in enumerate(metrics_of_probes, start=1):
        gate.observe(EvaluationReport(8 * number, 0, metrics), "main")
        stages.append(gate.stage)
    return stages


def test_the_policy_that_learned_reaches_the_last_stage(tanks):
    trained = load_shipped("fish")
    world = FishWorld(tanks, SCHOOLS * FISH)
    model = trained.model(world.spec, CPU)
    metrics = [
        summarise_schools(play_schools(world, model, seeds_of(probe), None, CPU), tanks.limit_steps)
        for probe in range(PROBES)
    ]
    assert max(judged(metrics)) == len(SOUND_GATE.allowance) - 1


def test_no_policy_that_learned_nothing_opens_it(tanks):
    found = [play_null_policies(tanks, seeds_of(probe), KNOBS, CPU) for probe in range(3)]
    for name in found[0]:
        metrics = [{f"evaluation/{key}": value for key, value in probe[name].items()} for probe in found]
        stages = judged(metrics * 4)
        # The evader is no null policy: it is a rule that knows how to survive, and passes as it should.
        assert (max(stages) > 0) == (name == EVADER), f"{name} went through {stages}"


def test_limits_that_nobody_can_keep_are_refused_or_explained_before_a_run_begins():
    from respawn.evaluation.fish_evaluator import FishEvaluator
    from respawn.training.collecting import fresh_model

    config = find_preset("fish-v40")
    model = fresh_model(config, FishWorld(config.world, 25).spec, CPU)
    evaluator = FishEvaluator(config.world, model, config.evaluation, CPU)
    said = [event.message for event in check_gate(config, evaluator)]
    assert any("step_one_count at most 18 at update 8, 16, 24, 32, 40, 48, 56" in sentence for sentence in said)
    assert any("step_one_ratio at most 0.02 at update 32, 40, 48" in sentence for sentence in said)
    assert any("at least 70, but it is already a failure without" in sentence for sentence in said)
    assert evaluator.seeds(Clock(updates=8))[0] == 774941881
    sound = replace(config.schedules.curriculum, gate=SOUND_GATE)
    passable = replace(config, schedules=replace(config.schedules, curriculum=sound))
    assert check_gate(passable, evaluator) == ()
