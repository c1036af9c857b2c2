"""How a policy for fish is judged: numbers that can be recomputed, on seeds that stay the same."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs, Start
from respawn.contracts.learner import Weights
from respawn.contracts.records import Episode
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.fish_evaluator import FishEvaluator, play_null_policies
from respawn.evaluation.fish_policies import null_policies
from respawn.evaluation.fish_report import EVALUATION_METRICS, probe_facts, summarise_schools, worst_episodes
from respawn.evaluation.schools import SchoolRecord, reference_seeds
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld, school_seeds

CPU = torch.device("cpu")
TANK = FishConfig(fish=3, judged_fish=10, limit_steps=60, neighbours=False)
JUDGED = EvaluationConfig(every_updates=4, episodes=6, num_lanes=6, seed_base=5000)
KNOBS = Knobs(3, {"school_size": 2, "escape_boost": 0.6, "density_penalty": 0.03, "hard_start_share": 1.0})


def evaluator(world=TANK, config=JUDGED):
    spec = FishWorld(world, world.fish).spec
    model = build_model(spec, ModelConfig(hidden_sizes=(8,)), seed=0, device=CPU)
    weights = Weights(0, {name: tensor.clone() for name, tensor in model.state_dict().items()})
    return FishEvaluator(world, model, config, CPU), weights


def judged(world=TANK, config=JUDGED, updates=4, knobs=KNOBS):
    judge, weights = evaluator(world, config)
    return judge.evaluate(weights, Clock(updates=updates), knobs)


def timeless(report):
    return {name: value for name, value in report.metrics.items() if not name.startswith("time/")}


def record(deaths, doomed=0, inside=0, seed=0, length=500, paid=100.0):
    caught = [{"fish_idx": n, "timestep": 1} for n, step in enumerate(deaths) if step == 1]
    start = {
        "predator_position": [1.0, 2.0],
        "predator_velocity": [3.0, 4.0],
        "fish_positions": [[float(n), 0.0] for n in range(len(deaths))],
        "fish_velocities": [[0.0, float(n)] for n in range(len(deaths))],
    }
    episode = Episode(lane=0, episode_return=paid, length=length, end="time limit")
    return SchoolRecord(seed, episode, tuple(deaths), tuple(caught), doomed, inside, {"steps": 16}, start)


RECORDS = [
    record([-1, -1, 1, 99], doomed=1, inside=1, seed=7, paid=10.0),
    record([-1, 100, 500, 1], doomed=0, inside=2, seed=8, length=500, paid=20.0),
    record([150, 20, 1, 1], doomed=1, inside=1, seed=9, length=150, paid=-30.0),
]


class TestNumbers:
    def test_are_those_that_can_be_worked_out_by_hand(self):
        found = summarise_schools(RECORDS, 500)
        assert tuple(found) == EVALUATION_METRICS
        survival = [0.5, 0.25, 0.0]
        lived = [500, 500, 1, 99, 500, 100, 500, 1, 150, 20, 1, 1]
        half = 1.959964 * np.std(survival, ddof=1) / math.sqrt(3)
        wanted = {
            "survival_mean": 0.25,
            "survival_std": 0.25,
            "survival_worst": 0.0,
            "survival_gap": 1 - 2 / 12 - 0.25,
            "death_mean": np.mean(lived),
            "death_p10": np.percentile(lived, 10),
            "early_death_100": 6 / 12,
            "early_death_150": 7 / 12,
            "step_one_count": 4.0,
            "step_one_ratio": 4 / 12,
            "step_one_excess_ratio": 2 / 12,
            "doomed_fraction": 2 / 12,
            "born_inside_fraction": 4 / 12,
            "return_mean": 0.0,
            "length_mean": 1150 / 3,
            "episodes": 3.0,
        }
        for name, value in wanted.items():
            assert found[f"evaluation/{name}"] == pytest.approx(value), name
        assert found["evaluation/survival_low"] < 0.25 - 0.9 * half
        assert found["evaluation/survival_high"] > 0.25 + 0.9 * half

    def test_of_a_single_school_have_no_spread(self):
        found = summarise_schools(RECORDS[:1], 500)
        assert (found["evaluation/survival_mean"], found["evaluation/survival_std"]) == (0.5, 0.0)
        assert found["evaluation/survival_low"] == found["evaluation/survival_high"] == 0.5

    def test_a_probe_says_the_same_by_the_references_names(self):
        facts = probe_facts(RECORDS, 500, {"escape_boost_speed": 0.8})
        assert facts["seeds"] == [7, 8, 9] and facts["num_fish"] == 4 and facts["escape_boost_speed"] == 0.8
        assert facts["summary"]["avg_final_survival_rate"] == 0.25
        assert facts["summary"]["min_final_survival_rate"] == 0.0
        # there, a death in the very last step counts as survival
        assert facts["death_stats"]["survival_fraction"] == pytest.approx(4 / 12)
        assert facts["step_one_death_count"] == 4 and facts["step_one_death_ratio"] == pytest.approx(4 / 12)
        assert facts["doomed"]["excess_count"] == 2 and facts["doomed"]["spawn_inside_fraction"] == pytest.approx(
            4 / 12
        )
        assert [death["episode"] for death in facts["step_one_deaths"]] == [0, 1, 2, 2]
        assert [row["final_num_alive"] for row in facts["records"]] == [2, 1, 0]
        assert facts["records"][2]["avg_reward"] == pytest.approx(-30.0 / 150)
        json.dumps(facts)

    def test_the_worst_come_first_and_their_fish_in_the_order_of_death(self):
        assert worst_episodes(RECORDS, 2) == [2, 1]
        starts = probe_facts(RECORDS, 500, {})["worst_starts"]
        assert [start["seed"] for start in starts] == [9, 8, 7]
        assert starts[0]["state"]["fish_positions"] == [[1.0, 0.0], [0.0, 0.0]]  # caught in 20, 150; not those in 1
        assert starts[1]["state"]["fish_velocities"] == [[0.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
        assert starts[0]["features"]["speed"] == 5.0
        assert starts[0]["features"]["heading_deg"] == pytest.approx(53.13, abs=0.01)


class TestEvaluations:
    @pytest.mark.parametrize("greedy", [True, False])
    def test_say_the_same_twice(self, greedy):
        judge, weights = evaluator(config=replace(JUDGED, greedy=greedy))
        first, second = (judge.evaluate(weights, Clock(updates=4), KNOBS) for _ in range(2))
        assert timeless(first) == timeless(second) and first.probe.facts == second.probe.facts
        third = judged(config=replace(JUDGED, greedy=greedy))
        assert timeless(third) == timeless(first) and third.probe.facts == first.probe.facts
        assert first.metrics["time/evaluation_seconds"] > 0

    def test_can_be_recomputed_from_their_probe(self):
        report = judged()
        facts, metrics = report.probe.facts, report.metrics
        deaths = [row["death_timesteps"] for row in facts["records"]]
        assert [len(row) for row in deaths] == [10] * 6 and facts["seeds"] == list(range(5000, 5006))
        survival = [sum(step < 0 for step in row) / 10 for row in deaths]
        assert metrics["evaluation/survival_mean"] == pytest.approx(np.mean(survival))
        assert metrics["evaluation/survival_std"] == pytest.approx(np.std(survival, ddof=1))
        assert metrics["evaluation/survival_worst"] == min(survival)
        assert metrics["evaluation/step_one_count"] == sum(step == 1 for row in deaths for step in row)
        assert metrics["evaluation/doomed_fraction"] == facts["doomed"]["count"] / 60
        assert metrics["evaluation/return_mean"] == pytest.approx(
            np.mean([r["total_reward"] for r in facts["records"]])
        )
        best = max(n["survival_mean"] for name, n in facts["null_policies"].items() if name != "evader")
        assert metrics["evaluation/null_survival_best"] == best
        json.dumps(facts)

    def test_follow_the_knobs_but_judge_whole_schools_from_drawn_beginnings(self):
        starts = tuple(Start(n, "main", {"predator_velocity": [0.0, 3.0]}) for n in range(50))
        report = judged(knobs=replace(KNOBS, starts=starts))
        facts = report.probe.facts
        assert facts["num_fish"] == 10 and facts["escape_boost_speed"] == 0.6
        assert facts["density_penalty_coef"] == 0.03 and facts["greedy"] is True
        assert not any(told["velocity_override"] for told in facts["pre_roll"])
        speeds = [np.hypot(*v) for start in facts["worst_starts"] for v in start["state"]["fish_velocities"]]
        assert speeds == pytest.approx([1.2] * len(speeds), abs=1e-5)

    def test_are_in_the_references_tanks_whatever_the_run_learned_in(self):
        own = replace(
            TANK,
            forced_reset_steps=5,
            staggered=True,
            spawn_radius=2.0,
            spawn_distance=3.0,
            generator="hash",
            whole_circle=True,
        )
        assert timeless(judged(own)) == timeless(judged())

    def test_show_that_they_move_also_while_null_policies_play(self):
        moves = []

        class Noted:
            def mark(self, phase, share=0.0):
                moves.append(phase)

        play_null_policies(TANK, range(3), None, torch.device("cpu"), Noted())
        assert moves[0] == "prepare" and set(moves[1:]) == {"evaluate"} and len(moves) > len(null_policies())

    def test_of_continuous_steering_are_possible_too(self):
        report = judged(replace(TANK, steering="continuous"))
        assert report.metrics["evaluation/episodes"] == 6.0 and "evader" in report.probe.facts["null_policies"]


class TestSeeds:
    def test_are_the_same_in_every_evaluation_unless_told_otherwise(self):
        judge, _ = evaluator()
        assert list(judge.seeds(Clock(updates=4))) == list(judge.seeds(Clock(updates=8))) == list(range(5000, 5006))

    def test_of_the_reference_differ_from_one_evaluation_to_the_next(self):
        judge, weights = evaluator(replace(TANK, judged_seeds="reference"), replace(JUDGED, seed_base=411232))
        lists = [list(judge.seeds(Clock(updates=updates))) for updates in (4, 8, 12)]
        assert lists == [reference_seeds(411232, 6 * number, 6) for number in range(3)]
        assert len({seed for seeds in lists for seed in seeds}) == 18
        report = judge.evaluate(weights, Clock(updates=8), KNOBS)
        assert report.probe.facts["seeds"] == lists[1]


def test_the_worst_starts_can_be_begun_from_again():
    judge, weights = evaluator()
    report = judge.evaluate(weights, Clock(updates=4), KNOBS)
    worst = json.loads(json.dumps(report.probe.facts["worst_starts"]))
    records = {row["seed"]: row for row in report.probe.facts["records"]}
    assert [records[start["seed"]]["final_num_alive"] for start in worst] == sorted(
        row["final_num_alive"] for row in records.values()
    )
    world = FishWorld(replace(TANK, fish=10), 10 * len(worst))
    values = {knob.name: knob.default for knob in world.spec.knobs} | {"hard_start_share": 1.0}
    world.apply(Knobs(0, values, tuple(Start(n, "harvested", start["state"]) for n, start in enumerate(worst))))
    world.reset(school_seeds(range(len(worst)), 10))
    original = FishWorld(TANK.as_judged(10), 10)
    original.apply(Knobs(0, {**values, "escape_boost": 0.6, "hard_start_share": 0.0}))
    for number, start in enumerate(worst):
        original.reset([start["seed"]] * 10)
        assert torch.equal(world.swarm.predator[:, number], original.swarm.predator[:, 0])
        there = {tuple(fish) for fish in original.swarm.fish[:, 0].T.tolist()}
        given = [tuple(fish) for fish in world.swarm.fish[:, number].T.tolist()][
            : len(start["state"]["fish_positions"])
        ]
        assert set(given) <= there and len(set(given)) == len(given) >= 1
        deaths = records[start["seed"]]["death_timesteps"]
        assert len(given) == sum(step != 1 for step in deaths)
