"""Sweeps that are small enough to be carried out in a test, and in its process."""

import signal
import sys
from pathlib import Path

import pytest

from respawn.cli import sweep_run
from respawn.sweeps import worker
from respawn.sweeps.worker import ENDED

SPACE = "learner.clip = { low = 0.1, high = 0.4 }\nmodel.hidden_sizes = [[4], [8, 8]]\n"
SMALL = [
    *("--updates", "4", "--evaluation.every-updates", "2", "--evaluation.episodes", "2", "--evaluation.num-lanes", "2"),
    *("--evaluation.limit-steps", "40", "--collection.horizon-steps", "4", "--collection.num-lanes", "2"),
    *("--learner.epochs", "1", "--learner.minibatches", "1", "--observers.no-tensorboard", "--device", "cpu"),
    *("--final-episodes", "3", "--space", "space.toml"),
]


class HereSupervisor:
    """Works on the study in this process, where a process of its own would take seconds to start."""

    def __init__(self, plan, folder, tell):
        self.plan, self.tell = plan, tell
        self.exit_code = 0

    def send(self, message):
        kind, facts = message
        if kind == ENDED and facts["state"] == "stopped":
            self.exit_code = facts["exit_code"]
        self.tell(1, kind, facts)

    def work(self, workers):
        before = signal.getsignal(signal.SIGTERM)
        worker.run(self, self.plan)
        signal.signal(signal.SIGTERM, before)
        return self.exit_code


def small_sweep(*words):
    """The words of a small sweep whose study is kept in a file, which is made sooner than a database."""
    return ["sweep", "cartpole-ppo", "--name", "small", *SMALL, "--storage", "journal:small.log", *words]


def work_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sweeps of this process be carried out in a folder, and by no other process."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sweep_run, "Supervisor", HereSupervisor)
    monkeypatch.setattr(sweep_run, "publish", lambda *words: None)  # takes longer than all else
    monkeypatch.setattr(worker, "live_and_die_with", lambda parent, lifeline: None)
    monkeypatch.setattr(sys, "argv", ["respawn"])
    Path("space.toml").write_text(SPACE)
