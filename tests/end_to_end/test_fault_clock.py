"""A clock that is set while a run goes on: told once each time, and nothing else takes notice."""

import time
from dataclasses import replace

import pytest
from operators import alarms, whole
from tiny_runs import event_kinds, straight, tiny, trace

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.config import CheckpointsConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.learner import PPOLearner
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.training.launch import begin, take_up

JUMPS = {4: 7200.0, 8: -36_000.0}
"""Seconds that the clock jumps by, before which update."""


@pytest.fixture
def clock(monkeypatch):
    """The system's clock, which can be set; its steady one cannot."""
    ahead, real = [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    return ahead


def test_limits_and_cadence_go_by_another_clock(clock, tmp_path, monkeypatch):
    config = tiny(
        "ppo",
        updates=12,
        minutes=60.0,
        checkpoints=CheckpointsConfig(every_updates=0, every_seconds=1800.0),
        evaluation=EvaluationConfig(),
        observers=ObserversConfig(
            console=False, tensorboard=False, heartbeat_seconds=0.1, stall_seconds=600.0, slow_step_seconds=600.0
        ),
    )
    folder = RunFolder(tmp_path / "jumps")
    updates, saves, told = [], [], []
    real_learn, real_save = PPOLearner.learn, Checkpointer.save

    def learn(self, rollout, knobs):
        updates.append(knobs)
        if len(updates) in JUMPS:
            clock[0] += JUMPS[len(updates)]
            told.append("clock_jumped")
            until = time.monotonic() + 60
            while event_kinds(folder).count("clock_jumped") < len(told) and time.monotonic() < until:
                time.sleep(0.02)
        return real_learn(self, rollout, knobs)

    def save(self, *arguments):
        saves.append(len(updates))
        return real_save(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "learn", learn)
        patch.setattr(Checkpointer, "save", save)
        _, outcome = begin(config, preset="test", runs_dir=tmp_path, name="jumps")
    assert (outcome.status, outcome.exit_code, outcome.updates) == ("finished", 0, 12)
    assert saves == [0, 12]  # neither earlier nor not at all
    events = alarms(folder)
    assert [event.kind for event in events] == ["clock_jumped", "clock_jumped"]
    assert [event.facts["seconds"] for event in events] == pytest.approx([7200.0, -36_000.0], abs=30.0)
    assert "limits and rates go by another clock and do not" in events[0].message
    assert whole(folder)[-1] == "u00000012"
    assert trace(folder) == straight(replace(config, minutes=None), tmp_path)


@pytest.mark.slow
def test_a_run_is_resumed_in_what_was_its_past(clock, tmp_path):
    config = tiny("ppo", updates=6, evaluation=EvaluationConfig())
    folder, _ = begin(config, preset="test", runs_dir=tmp_path, name="jumps")
    clock[0] -= 86_400.0
    assert take_up(folder, updates=9).updates == 9
    assert trace(folder) == straight(replace(config, updates=9), tmp_path)
