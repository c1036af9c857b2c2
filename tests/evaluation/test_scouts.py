"""Scouts of whole evaluations, on a game of our own that needs no ROM: which courses they run, what they bring back."""

from dataclasses import replace

import pytest
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs, Start
from respawn.contracts.learner import Weights
from respawn.evaluation import mario_evaluator
from respawn.evaluation.config import EvaluationConfig, ScoutConfig
from respawn.evaluation.mario_evaluator import MarioEvaluator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fake_console import FakeGame
from respawn.worlds.mario.buttons import button_byte
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.limits import DEATH, PIT
from respawn.worlds.mario.world import MarioWorld

WORLD = MarioConfig(levels=("1-1", "1-2"), actions="right", start_jitter=8, sticky=0.25, limit_steps=100)
SCOUT = ScoutConfig(episodes=12, nearest_steps=3, farthest_steps=6)
ALL_OPEN = {"first_level": 1.0, "last_level": 2.0}
ONLY_FIRST, ONLY_SECOND = {**ALL_OPEN, "last_level": 1.0}, {**ALL_OPEN, "first_level": 2.0}


def make_world(num_lanes, config=WORLD):
    return MarioWorld(config, num_lanes, game=FakeGame())


def make_model():
    """A policy that walks to the right for the most part, and now and then does something else."""
    model = build_model(make_world(1).spec, ModelConfig(hidden_sizes=(8,)), seed=1)
    with torch.no_grad():
        model.policy_head.linear.bias += torch.tensor([0.0, 2.0, 0.0, 1.0, 0.0])
    return model


def make_evaluator(**scout):
    config = EvaluationConfig(every_updates=5, episodes=1, num_lanes=6, limit_steps=120, scout=replace(SCOUT, **scout))
    return MarioEvaluator(WORLD, make_world, make_model(), config, torch.device("cpu"))


def scouted(evaluator=None, *, updates=5, opened=ALL_OPEN):
    """What scouts say after so many updates, always with the same weights."""
    values = {knob.name: knob.default for knob in make_world(1).spec.knobs} | opened
    weights = Weights(0, dict(make_model().state_dict()))
    report = (evaluator or make_evaluator()).evaluate(weights, Clock(updates=updates), Knobs(0, values))
    return report.probe.facts


def held_in(facts):
    return [entry["state"]["held"] for entry in facts["worst_starts"]]


def test_scouting_again_finds_the_same():
    evaluator = make_evaluator()
    first = scouted(evaluator)
    assert len(first["worst_starts"]) >= 3 and set(first["ends"]) & {DEATH, PIT}
    later = scouted(evaluator, updates=10)
    assert scouted(evaluator) == first == scouted()  # whatever came between
    assert later["seeds"] == [first["seeds"][1] + 1, first["seeds"][1] + 12]
    assert held_in(later) != held_in(first)


@pytest.mark.parametrize(("greedy", "are_the_same"), [(True, True), (False, False)])
def test_greedy_scouts_throw_no_dice(greedy, are_the_same, monkeypatch):
    usual = scouted(make_evaluator(greedy=greedy))
    monkeypatch.setattr(mario_evaluator, "make_generator", lambda *about, **options: torch.Generator().manual_seed(7))
    other = scouted(make_evaluator(greedy=greedy))
    assert usual["seeds"] == other["seeds"] and usual["worst_starts"]
    assert (usual == other) == are_the_same


def test_greedy_scouts_run_other_courses_than_those_that_draw():
    assert held_in(scouted(make_evaluator(greedy=True))) != held_in(scouted())


def test_the_base_of_seeds_decides_which_are_played():
    usual, moved = scouted(), scouted(make_evaluator(seed_base=5_000_000))
    assert usual["seeds"] == [1_000_000_012, 1_000_000_023] and moved["seeds"] == [5_000_012, 5_000_023]
    assert {entry["seed"] for entry in moved["worst_starts"]} <= set(range(5_000_012, 5_000_024))
    assert held_in(moved) != held_in(usual)


@pytest.mark.parametrize("episodes", [4, 9])
def test_so_many_scouts_are_sent(episodes):
    facts = scouted(make_evaluator(episodes=episodes))
    assert facts["scouts"] == sum(facts["ends"].values()) == episodes
    assert facts["seeds"][1] - facts["seeds"][0] == episodes - 1


@pytest.mark.parametrize(("opened", "stages"), [(ALL_OPEN, {1, 2}), (ONLY_FIRST, {1}), (ONLY_SECOND, {2})])
def test_starts_lie_in_levels_that_are_open(opened, stages):
    evaluator = make_evaluator()
    scouted(evaluator)  # in a world that had all of them open
    assert {entry["state"]["stage"] for entry in scouted(evaluator, opened=opened)["worst_starts"]} == stages


@pytest.mark.parametrize(("nearest", "farthest"), [(3, 6), (1, 1), (8, 20)])
def test_starts_lie_as_far_before_deaths_as_is_said(nearest, farthest, monkeypatch):
    """Played from there on, Mario dies so many decisions later, and not before."""
    run = []
    play = mario_evaluator.play_courses
    monkeypatch.setattr(mario_evaluator, "play_courses", lambda *about: run.extend(play(*about)) or run)
    starts = scouted(make_evaluator(nearest_steps=nearest, farthest_steps=farthest))["worst_starts"]
    before = [len(run[entry["episode"]].held) - len(entry["state"]["held"]) for entry in starts]
    assert before and all(nearest <= steps <= farthest for steps in before)
    assert len(set(before)) == 1 if nearest == farthest else len(set(before)) > 1
    for entry, steps in zip(starts, before, strict=True):
        assert decisions_until_death(entry["state"], run[entry["episode"]].held[-steps:]) == steps


def decisions_until_death(state, held):
    """In a world that begins there, with the buttons that were held from there on."""
    world = make_world(1, replace(WORLD, sticky=0.0))
    values = {knob.name: knob.default for knob in world.spec.knobs} | {"hard_start_share": 1.0}
    world.apply(Knobs(0, values, (Start(0, "harvested", state),)))
    world.reset([1])
    assert world.facts_so_far(0)["hard_start"]
    bytes_of_actions = [button_byte(name) for name in WORLD.action_names]
    ends = [world.step(torch.tensor([bytes_of_actions.index(buttons)])).terminated.item() for buttons in held]
    return ends.index(True) + 1


def test_making_the_scouts_world_and_resetting_it_is_no_step():
    noted = []

    class Noted:
        def mark(self, phase, share=0.0):
            noted.append(phase)

        def moved(self):
            """Nothing of interest here."""

    def telling(num_lanes):
        noted.append("made")
        return make_world(num_lanes)

    config = EvaluationConfig(every_updates=5, episodes=1, num_lanes=6, limit_steps=120, scout=SCOUT)
    scouted(MarioEvaluator(WORLD, telling, make_model(), config, torch.device("cpu"), Noted()))
    made = [at for at, each in enumerate(noted) if each == "made"]
    assert [noted[at - 1] for at in made] == ["prepare"] * 2 and noted[made[1] + 1] == "prepare"
    assert noted[made[1] + 1 :].count("prepare") == 2  # a reset for each six of the twelve
