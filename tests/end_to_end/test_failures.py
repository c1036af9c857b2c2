"""What fails inside a run, and what is left of the run then."""

import dataclasses
import os
import signal
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from tiny_runs import begin_and_abandon, event_kinds, saving_every, straight, tiny, trace

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import find_newest, read_manifest, read_part
from respawn.cli.main import main
from respawn.collection.config import CollectionConfig
from respawn.collection.sync import SyncCollector
from respawn.errors import LearningError, ObserverError, RunFolderError, WorldError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.evaluator import Evaluator
from respawn.learners.ppo.learner import PPOLearner
from respawn.observers.jsonl import JsonlStream
from respawn.runs.metadata import read_meta, read_status
from respawn.runs.reader import read_evaluations, read_events
from respawn.testing.fakes import FakeWorld
from respawn.training import assemble, collecting
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig

LANES = CollectionConfig(num_lanes=3, horizon_steps=8)
LAGS = {
    "lag0": LANES,
    "lag1-serial": CollectionConfig(num_lanes=3, horizon_steps=8, lag=1, threaded=False),
    "lag1-threaded": CollectionConfig(num_lanes=3, horizon_steps=8, lag=1),
}


class Forgetful(gymnasium.Env):
    """Cannot say its state."""

    observation_space = spaces.Box(-100, 100, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.count = self.np_random.normal(size=2).astype(np.float32), 0
        return self.place, {}

    def step(self, action):
        self.count += 1
        self.place = self.place + self.np_random.normal(size=2).astype(np.float32)
        return self.place, float(action), self.count >= 30, False, {}


if "test/Forgetful-v0" not in gymnasium.registry:
    gymnasium.register("test/Forgetful-v0", entry_point=Forgetful)


@pytest.fixture
def world_that_fails(monkeypatch):
    """Lets the first training world that is made fail at its 100th step, in the 13th rollout; later ones hold."""
    made = []

    def make(config, num_lanes, *, device, seed, diagnostics, notify):
        is_training_world = num_lanes == LANES.num_lanes
        fails = is_training_world and not made
        made.extend([1] if is_training_world else [])
        world = FakeWorld(num_lanes, device=device, fail_at_step=100 if fails else None)
        world.reset([seed + lane for lane in range(num_lanes)])
        return world

    for room in (assemble, collecting):
        monkeypatch.setattr(room, "make_world", make)
    return made


@pytest.mark.parametrize("lag", LAGS)
def test_a_world_that_fails(lag, world_that_fails, tmp_path):
    config = tiny("ppo", updates=20, collection=LAGS[lag], checkpoints=saving_every(5))
    with pytest.raises(WorldError, match="fails at step 100"):
        begin(config, preset="test", runs_dir=tmp_path, name="failed")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("collector")]
    folder = assemble.RunFolder(tmp_path / "failed")
    status = read_status(folder)
    assert status.status == "failed" and "fails at step 100" in status.facts["cause"]
    assert "Traceback" in folder.failure.read_text() and "fails at step 100" in folder.failure.read_text()
    assert event_kinds(folder)[-1] == "failed"
    assert find_newest(folder.checkpoints).manifest.updates == 10
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)
    assert read_status(folder).status == "finished"


@pytest.mark.parametrize("lag", LAGS)
def test_a_learner_that_fails(lag, tmp_path, monkeypatch):
    config = tiny("ppo", updates=12, collection=LAGS[lag], checkpoints=saving_every(5))
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(knobs)
        report = real(self, rollout, knobs)
        if len(calls) == 8:
            raise ValueError("not a number")  # after the weights have changed, when no two parts agree
        return report

    monkeypatch.setattr(PPOLearner, "learn", learn)
    with pytest.raises(ValueError, match="not a number"):
        begin(config, preset="test", runs_dir=tmp_path, name="failed")
    folder = assemble.RunFolder(tmp_path / "failed")
    assert read_status(folder).status == "failed"
    assert find_newest(folder.checkpoints).manifest.updates == 5
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


def test_the_command_line_answers_a_failure_with_1(world_that_fails, tmp_path, capsys):
    words = ["--collection.num-lanes", "3", "--collection.horizon-steps", "8", "--runs", str(tmp_path), "--name", "r"]
    assert main(["train", "cartpole-vtrace", *words]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("respawn: ") and complaint.count("\n") == 1
    assert "the fake world fails at step 100, as it was asked to" in complaint


@pytest.mark.parametrize("lag", ["lag0", "lag1-threaded"])
def test_an_evaluation_that_fails_keeps_the_whole_update_and_is_made_up_for(lag, tmp_path, monkeypatch):
    config = tiny("vtrace", updates=20, collection=LAGS[lag])
    real = Evaluator.evaluate

    def evaluate(self, weights, clock, knobs):
        if clock.updates == 16:
            raise WorldError("no judge came")
        return real(self, weights, clock, knobs)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "evaluate", evaluate)
        with pytest.raises(WorldError, match="no judge came"):
            begin(config, preset="test", runs_dir=tmp_path, name="failed")
    folder = assemble.RunFolder(tmp_path / "failed")
    assert find_newest(folder.checkpoints).manifest.updates == 16
    assert read_status(folder).facts["updates"] == 16
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)
    made_up = read_manifest(folder.checkpoints / "u00000016").metrics["evaluation/return_mean"]
    assert made_up == {row.update: row for row in read_evaluations(folder)}[16].metrics["evaluation/return_mean"]


def test_a_signal_while_a_failure_is_saved_costs_neither_the_update_nor_the_record(tmp_path, monkeypatch):
    config = tiny("ppo", updates=12, checkpoints=saving_every(0))
    real, saves = Checkpointer.save, []

    def evaluate(*ignored):
        raise WorldError("no judge came")

    def save(*arguments):
        saves.append(1)
        if len(saves) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "evaluate", evaluate)
        patch.setattr(Checkpointer, "save", save)
        with pytest.raises(WorldError, match="no judge came"):
            begin(config, preset="test", runs_dir=tmp_path, name="failed")
    folder = assemble.RunFolder(tmp_path / "failed")
    assert find_newest(folder.checkpoints).manifest.updates == 8
    assert read_status(folder).status == "failed" and "no judge came" in folder.failure.read_text()
    assert "failed" in event_kinds(folder)
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


def test_what_fails_while_a_run_is_taken_up_is_recorded(tmp_path, monkeypatch):
    config = tiny("ppo", updates=6)
    folder, _ = begin(config, preset="test", runs_dir=tmp_path, name="failed")

    def restore(*ignored):
        raise WorldError("the console is gone")

    with monkeypatch.context() as patch:
        patch.setattr(SyncCollector, "restore", restore)
        with pytest.raises(WorldError, match="the console is gone"):
            take_up(folder, updates=12)
    assert read_status(folder).status == "failed" and "the console is gone" in folder.failure.read_text()
    assert event_kinds(folder).count("failed") == 1
    assert take_up(folder, updates=12).updates == 12


def test_an_observer_that_fails_does_no_harm_but_is_not_kept_quiet(tmp_path, monkeypatch):
    config = tiny(updates=10)
    real = JsonlStream.receive

    def receive(self, record):
        if self._path.name == "events.jsonl" and record.__class__.__name__ == "UpdateReport":
            raise OSError("no ink")
        real(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(JsonlStream, "receive", receive)
        with pytest.raises(ObserverError, match="the training is whole and saved, but observer events failed"):
            begin(config, preset="test", runs_dir=tmp_path, name="failed")
    assert trace(assemble.RunFolder(tmp_path / "failed")) == straight(config, tmp_path)


def test_a_second_signal_does_not_wait(tmp_path, monkeypatch, capsys):
    config = tiny(updates=12, checkpoints=saving_every(5))
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=5)
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(knobs)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, rollout, knobs)

    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "learn", learn)
        assert main(["resume", "left", "--runs", str(tmp_path)]) == 143
    assert "interrupted" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before
    assert read_status(folder).status == "stopped"
    assert find_newest(folder.checkpoints).manifest.updates == 5
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


def test_a_run_in_use_is_left_alone(tmp_path):
    folder, _ = begin(tiny(updates=2), preset="test", runs_dir=tmp_path, name="used")
    before = folder.config.read_bytes()
    with folder.lock(), pytest.raises(RunFolderError, match=rf"used is in use by process {os.getpid()} on .*; wait"):
        take_up(folder, updates=9)
    assert folder.config.read_bytes() == before
    assert take_up(folder, updates=3).updates == 3


def test_a_world_that_cannot_say_its_state_begins_its_episodes_anew_and_says_so(tmp_path, monkeypatch):
    config = tiny("ppo", "gru", world=ForeignConfig(env_id="test/Forgetful-v0"), updates=12)
    expected = straight(config, tmp_path)
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=11)
    meta = read_meta(folder)
    assert not meta.exact_resume and "cannot say its state" in meta.exact_resume_note
    assert "inexact_resume" in event_kinds(folder)
    assert take_up(folder).updates == 12
    told = [timed.event for timed in read_events(folder)]
    assert [event.kind for event in told].count("inexact_resume") == 2
    assert "episodes_begun_anew" in [event.kind for event in told]
    ours = trace(folder)
    assert [row["update"] for row in ours.updates] == list(range(1, 13))
    assert ours.updates[:9] == expected.updates[:9]  # up to the checkpoint nothing differs
    assert ours.updates[9:] != expected.updates[9:]
    again = straight(config, tmp_path, "again")
    assert again == expected  # and without a kill it is as repeatable as any other


def test_a_part_that_cannot_say_its_state_is_a_failure_like_any_other(tmp_path, monkeypatch):
    config = tiny(updates=12, checkpoints=saving_every(5))
    real = FakeWorld.state

    def state(self):
        if counted and len(counted) > 1:
            raise OSError("the worker has left")
        counted.append(1)
        return real(self)

    counted: list[int] = []
    for room in (assemble, collecting):
        monkeypatch.setattr(room, "make_world", lambda config, lanes, **others: FakeWorld(lanes))
    monkeypatch.setattr(FakeWorld, "state", state)
    with pytest.raises(OSError, match="the worker has left") as caught:
        begin(config, preset="test", runs_dir=tmp_path, name="failed")
    folder = assemble.RunFolder(tmp_path / "failed")
    assert read_status(folder).status == "failed"
    assert "the worker has left" in folder.failure.read_text()
    assert "could not be saved" in " ".join(caught.value.__notes__)
    assert find_newest(folder.checkpoints).manifest.updates == 5


@pytest.mark.parametrize("learner", ["ppo", "vtrace"])
def test_an_update_that_is_not_finite_is_not_saved(learner, tmp_path, monkeypatch):
    real = FakeWorld.step

    def step(self, actions):
        steps.append(1)
        result = real(self, actions)
        return dataclasses.replace(result, reward=result.reward * float("nan")) if len(steps) > 60 else result

    steps: list[int] = []
    for room in (assemble, collecting):
        monkeypatch.setattr(room, "make_world", lambda config, lanes, **others: FakeWorld(lanes))
    monkeypatch.setattr(FakeWorld, "step", step)
    config = tiny(learner, updates=12, checkpoints=saving_every(1), evaluation=EvaluationConfig())
    with pytest.raises(LearningError, match=r"must be finite and is nan: the world gave rewards that are not"):
        begin(config, preset="test", runs_dir=tmp_path, name="failed")
    folder = assemble.RunFolder(tmp_path / "failed")
    found = find_newest(folder.checkpoints)
    assert found.manifest.updates == 7  # 3 lanes of 8 steps: the 61st step is in the 8th rollout
    weights = read_part(found.path, found.manifest, "weights")
    assert all(tensor.isfinite().all() for tensor in weights.values())
