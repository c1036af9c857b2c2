"""The process of a trial, carried out in this one."""

import json
import sys
from dataclasses import asdict

import gymnasium
import numpy as np
import pytest
import torch

from respawn.contracts.world import (
    ContinuousActions,
    DiscreteActions,
    MultiDiscreteActions,
    ObservationSpec,
    WorldSpec,
)
from respawn.training import world_trial_process
from respawn.training.world_backends import TrialPlan
from respawn.training.world_trial_process import draw_actions


class Odd(gymnasium.Env):
    """Counts its steps, unless it is to be a dummy, or to pay what is no number, or to raise."""

    observation_space = gymnasium.spaces.Box(0, 1e6, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, how: str = "well", render_mode: str | None = None) -> None:
        self.how = how

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return self.look(), {}

    def step(self, action):
        self.count += 1
        if self.how == "raises" and self.count == 7:
            raise ValueError("the maze fell down")
        reward = float("nan") if self.how == "pays nothing finite" and self.count == 5 else 1.0
        return self.look(), reward, self.count == 9, False, {"end": "way out"}

    def look(self):
        shown = {"stands still": 0.0, "shows no number": np.nan, "goes to infinity": np.inf if self.count == 5 else 1.0}
        return np.array([shown.get(self.how, self.count)], np.float32)


class Counts(Odd):
    """Shows whole numbers."""

    observation_space = gymnasium.spaces.Box(0, 255, (1, 8, 8), np.uint8)

    def look(self):
        return np.full((1, 8, 8), self.count, np.uint8)


HOWS = ("well", "raises", "pays nothing finite", "stands still", "shows no number", "goes to infinity")
for how in HOWS:
    gymnasium.register(f"Odd-{how.replace(' ', '-')}-v0", entry_point=Odd, kwargs={"how": how})
gymnasium.register("Odd-in-pictures-v0", entry_point=Counts)


@pytest.fixture
def tried(tmp_path, monkeypatch):
    families = []

    def carry_out(how, **changes):
        name = f"Odd-{how.replace(' ', '-')}-v0"
        plan = TrialPlan(3, "gymnasium", num_lanes=2, workers=0, seed=5, steps=20, limit_seconds=60.0, env_id=name)
        (tmp_path / "plan.json").write_text(json.dumps({**asdict(plan), **changes}))
        monkeypatch.setattr(sys, "argv", ["world_trial_process", "71", "9", str(tmp_path)])
        monkeypatch.setattr(world_trial_process, "live_and_die_with", lambda *family: families.append(family))
        monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)
        monkeypatch.setattr(world_trial_process.faulthandler, "register", lambda *words, **more: None)
        code = world_trial_process.main()
        assert families == [(71, 9)]  # whoever started it, and the pipe that ends with that one
        marks = [json.loads(line) for line in (tmp_path / "trial.jsonl").read_text().splitlines()]
        return code, json.loads((tmp_path / "result.json").read_text()), marks

    return carry_out


@pytest.mark.parametrize("how", ["well", "in pictures"])
def test_a_good_trial_says_what_it_did(how, tried):
    code, result, marks = tried(how)
    assert code == 0 and result["ok"] and result["error"] is None
    assert result["steps_done"] == 20 and result["episodes"] == 4 and result["ends"] == {"way out": 4}
    assert all(result[f"{stage}_seconds"] > 0 for stage in ("construct", "reset", "step"))
    stages = [mark["stage"] for mark in marks]
    assert stages[:2] == ["construct", "reset"] and stages[-1] == "close" and stages.count("step") == 10


def test_one_that_raises_says_where_and_how_far_it_came(tried):
    code, result, _ = tried("raises")
    assert code == 1 and not result["ok"]
    assert "step of lane 0" in result["error"] and "the maze fell down" in result["error"]
    assert result["steps_done"] == 6 and result["episodes"] == 0


def test_rewards_that_are_not_finite_are_no_success(tried):
    code, result, _ = tried("pays nothing finite")
    assert code == 1 and result["error"] == "expected finite rewards, got [nan, nan] in step 5"


@pytest.mark.parametrize(
    ("how", "steps_done", "when"), [("shows no number", 0, "reset"), ("goes to infinity", 4, "step 5")]
)
def test_observations_that_are_not_finite_are_no_success(how, steps_done, when, tried):
    """They differ from themselves: a dummy that shows nothing else would seem to show something new."""
    code, result, _ = tried(how)
    assert code == 1 and result["error"] == f"expected finite observations, lanes [0, 1] showed others in {when}"
    assert result["steps_done"] == steps_done


def test_a_world_that_shows_nothing_new_is_a_dummy_and_no_success(tried):
    code, result, _ = tried("stands still")
    assert code == 1 and result["steps_done"] == 20
    assert result["error"] == "expected every lane to show something new within 20 steps, lanes [0, 1] never did"


def test_whatever_else_goes_wrong_is_told_with_its_traceback(tried, monkeypatch):
    monkeypatch.setattr(world_trial_process, "construct_world", lambda *words, **more: 1 / 0)
    code, result, marks = tried("well")
    assert code == 1 and result["error"] == "ZeroDivisionError: division by zero"
    assert marks[-1]["stage"] == "error" and "construct_world" in marks[-1]["traceback"]


def test_actions_are_drawn_for_every_kind_of_choice():
    def drawn(kind):
        spec = WorldSpec("any", ObservationSpec((1,)), kind, 50)
        actions = draw_actions(spec, torch.Generator().manual_seed(1))
        assert torch.equal(actions, draw_actions(spec, torch.Generator().manual_seed(1)))
        return actions

    assert set(drawn(DiscreteActions(3)).tolist()) == {0, 1, 2}
    assert drawn(ContinuousActions(4)).shape == (50, 4) and drawn(ContinuousActions(4)).dtype == torch.float32
    several = drawn(MultiDiscreteActions((2, 5)))
    assert several.shape == (50, 2) and several.amax(0).tolist() == [1, 4]
