"""What a worker does and tells, in this process; as a process of its own it is in the end-to-end tests."""

import contextlib
import os
import signal
import sys
from dataclasses import replace

import pytest
from small_studies import definition_of, folder_in, tiny

from respawn.errors import StudyError
from respawn.learners.ppo.learner import PPOLearner
from respawn.processes.child import Family
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.sweeps import broken_cuda, worker
from respawn.sweeps.definition import machine_settings
from respawn.sweeps.storage import load_study, open_study
from respawn.sweeps.worker import BEGUN, BROKEN, DONE, ENDED, JUDGED, READY, REFUSED, WorkerPlan


class Connection:
    def __init__(self):
        self.told = []
        self.hears = lambda kind, facts: None

    def send(self, message):
        self.told.append(message)
        self.hears(*message)

    def kinds(self):
        return [kind for kind, _ in self.told]


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "live_and_die_with", lambda parent, lifeline: None)
    monkeypatch.setattr(sys, "argv", ["-c"])
    before = signal.getsignal(signal.SIGTERM)
    folder = folder_in(tmp_path)
    url = f"journal:{folder.path / 'journal.log'}"
    open_study(url, "small", definition_of())
    yield WorkerPlan(
        family=Family(0, 0),
        url=url,
        name="small",
        folder=folder.path,
        runs_dir=tmp_path / "runs",
        trials=2,
        sampler="tpe",
        pruner="none",
        threads=1,
        machine={**machine_settings(tiny()), "threads": 1},
        command=("respawn", "sweep", "cartpole-ppo"),
    )
    signal.signal(signal.SIGTERM, before)


def test_it_runs_trial_after_trial_and_tells(plan):
    connection = Connection()
    worker.run(connection, plan)
    trial = [BEGUN, JUDGED, JUDGED, JUDGED, ENDED]
    assert connection.kinds() == [READY, *trial, *trial, DONE]
    ended = [facts for kind, facts in connection.told if kind == ENDED]
    study, _ = load_study(plan.url, "small")
    assert [(facts["number"], facts["state"], facts["value"]) for facts in ended] == [
        (trial.number, "complete", trial.value) for trial in study.trials
    ]
    begun = [facts for kind, facts in connection.told if kind == BEGUN]
    assert [facts["drawn"] for facts in begun] == [trial.params for trial in study.trials]
    meta = read_meta(RunFolder(plan.runs_dir / "small-t0001"))
    assert meta.command == ("respawn", "sweep", "cartpole-ppo")


def test_those_that_the_space_does_not_hold_are_no_reason_to_stop(plan):
    study, _ = load_study(plan.url, "small")
    for _ in range(4):
        study.enqueue_trial({"learner.clip": 0.5})
    connection = Connection()
    worker.run(connection, replace(plan, trials=5))
    assert connection.kinds() == [READY, *[ENDED] * 4, BEGUN, *[JUDGED] * 3, ENDED, DONE]
    ended = [facts for kind, facts in connection.told if kind == ENDED]
    assert [(facts["state"], facts["is_alarming"]) for facts in ended] == [
        *[("failed", False)] * 4,
        ("complete", False),
    ]


@pytest.mark.parametrize("moment", [READY, BEGUN, JUDGED])
def test_a_signal_that_python_dropped_is_heard_all_the_same(plan, moment):
    """What a handler raises while garbage is collected goes nowhere."""
    connection, leave = Connection(), []

    def hears(kind, facts):
        leave[:] = leave or [signal.getsignal(signal.SIGTERM)]  # that of the worker, not of a run
        if kind == moment and connection.kinds().count(kind) == 1:
            with contextlib.suppress(KeyboardInterrupt):
                leave[0](signal.SIGTERM, None)

    connection.hears = hears
    worker.run(connection, plan)
    ended = [facts["state"] for kind, facts in connection.told if kind == ENDED]
    assert DONE not in connection.kinds() and ended == ([] if moment == READY else ["stopped"])
    worker.run(Connection(), plan)
    study, _ = load_study(plan.url, "small")
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE"]


def test_a_signal_saves_the_trial_and_ends_it(plan):
    connection = Connection()

    def stop(kind, facts):
        if kind == JUDGED:
            os.kill(os.getpid(), signal.SIGTERM)

    connection.hears = stop
    worker.run(connection, plan)
    assert connection.kinds() == [READY, BEGUN, JUDGED, ENDED] and connection.told[-1][1]["state"] == "stopped"
    again = Connection()
    worker.run(again, plan)
    assert again.kinds()[:3] == [READY, BEGUN, JUDGED] and again.told[1][1]["is_taken_up"]
    assert again.kinds()[-1] == DONE


def test_a_signal_between_trials_ends_it_too(plan):
    connection = Connection()

    def stop(kind, facts):
        if kind in (READY, ENDED):
            os.kill(os.getpid(), signal.SIGTERM)

    connection.hears = stop
    worker.run(connection, plan)
    assert connection.kinds() == [READY]


def test_one_in_which_cuda_fails_says_so_and_ends_and_another_goes_on(plan, monkeypatch):
    def learn(self, rollout, knobs):
        raise RuntimeError("CUDA error: device-side assert triggered\nCompile with TORCH_USE_CUDA_DSA")

    connection = Connection()
    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "learn", learn)
        worker.run(connection, plan)
    assert connection.kinds() == [READY, BEGUN, BROKEN]
    assert connection.told[-1][1] == {"cause": "CUDA error: device-side assert triggered"}
    again = Connection()
    worker.run(again, plan)
    assert again.told[1][1]["is_taken_up"] and again.kinds()[-1] == DONE
    states = [facts["state"] for kind, facts in again.told if kind == ENDED]
    assert states == ["complete", "complete"]


def test_one_that_finds_the_gpu_broken_takes_no_trial(plan, monkeypatch):
    def check_cuda(config):
        raise StudyError("the GPU fails")

    monkeypatch.setattr(broken_cuda, "check_cuda", check_cuda)
    connection = Connection()
    worker.run(connection, plan)
    assert connection.told == [(REFUSED, {"cause": "the GPU fails", "exit_code": 1})]
    assert not load_study(plan.url, "small")[0].trials


def test_what_it_cannot_do_is_told_and_not_raised(plan):
    connection = Connection()
    worker.run(connection, replace(plan, name="another"))
    ((kind, facts),) = connection.told
    assert kind == REFUSED and facts["exit_code"] == 2 and "there is no study 'another'" in facts["cause"]
