"""A sweep whose processes are killed at any moment comes to what it would have come to."""

import json
import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from respawn_process import start, wait_until

from respawn.checkpoints.store import find_newest
from respawn.runs.layout import RunFolder
from respawn.runs.reader import last_row

SPACE = "learner.clip = { low = 0.1, high = 0.4 }\nmodel.hidden_sizes = [[8], [16]]\n"
LONG = {"updates": 1_000, "evaluation.every-updates": 50, "checkpoints.every-updates": 200}
"""A trial then lasts several seconds, so that there is something left of a study when a second process has started."""


class Place:
    """Where a study and its runs are, and what its trials have of their own."""

    def __init__(self, folder: Path, trials: int = 4, **changes: int) -> None:
        self.folder = folder
        self.trials = trials
        self.changes = changes
        folder.mkdir()
        (folder / "space.toml").write_text(SPACE)

    def sweep(self, *words: str) -> "subprocess.Popen[str]":
        small = {
            "updates": 40, "evaluation.every-updates": 4, "evaluation.episodes": 2, "evaluation.num-lanes": 2,
            "evaluation.limit-steps": 50, "collection.horizon-steps": 16, "collection.num-lanes": 2,
            "learner.epochs": 1, "learner.minibatches": 1, "checkpoints.every-updates": 8, "final-episodes": 3,
            "trials": self.trials, "name": "small", "space": self.folder / "space.toml",
            "sweeps": self.folder / "sweeps", "runs": self.folder / "runs", **self.changes,
        }  # fmt: skip
        options = [word for name, value in small.items() for word in (f"--{name}", str(value))]
        return start("sweep", "cartpole-ppo", *options, "--device", "cpu", "--observers.no-tensorboard", *words)

    def judged(self, trial: int) -> int:
        row = last_row(RunFolder(self.folder / "runs" / f"small-t{trial:04d}").evaluations)
        return 0 if row is None else int(row["update"])

    def come_to(self) -> tuple[list[float], list[str]]:
        """What the trials came to, and what their weights are."""
        summary = json.loads((self.folder / "sweeps" / "small" / "summary.json").read_text())
        assert summary["counts"]["complete"] == self.trials
        found = [find_newest(self.folder / "runs" / trial["run"] / "checkpoints") for trial in summary["trials"]]
        weights = [one.manifest.weights_sha256 for one in found if one is not None]
        assert weights == [trial["weights_sha256"] for trial in summary["trials"]]
        return [trial["value"] for trial in summary["trials"]], weights


def ended(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_and_their_parent_may_be_killed(tmp_path):
    undisturbed, killed = Place(tmp_path / "undisturbed"), Place(tmp_path / "killed")
    ended(undisturbed.sweep())

    first = killed.sweep("--workers", "2")
    wait_until(lambda: killed.judged(0) >= 12, first)
    workers = psutil.Process(first.pid).children()
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    wait_until(lambda: len(psutil.Process(first.pid).children()) == 2 and not workers[0].is_running(), first)
    workers = psutil.Process(first.pid).children()
    first.kill()
    first.wait()
    psutil.wait_procs(workers, timeout=30)
    assert not any(worker.is_running() for worker in workers), "no worker outlives its parent"

    out = ended(killed.sweep("--workers", "2"))
    assert "goes on where it was left" in out
    assert killed.come_to() == undisturbed.come_to()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_sweeps_share_one_study(tmp_path):
    alone, shared = Place(tmp_path / "alone", **LONG), Place(tmp_path / "shared", **LONG)
    ended(alone.sweep())
    first = shared.sweep()
    wait_until(lambda: shared.judged(0) > 0, first)
    second = shared.sweep()
    said = [ended(process) for process in (second, first)]
    assert all("begins:" in one for one in said), "each had its part"
    assert all(f"({number + 1} of 4) complete" in "".join(said) for number in range(4))
    assert shared.come_to() == alone.come_to()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_interrupt_saves_all_workers(tmp_path):
    # Neither trial may end while the other is on its way to its first evaluation.
    place = Place(tmp_path / "stopped", trials=2, **{**LONG, "updates": 4_000})
    process = place.sweep("--workers", "2")
    wait_until(lambda: place.judged(0) > 0 and place.judged(1) > 0, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130 and err == ""
    assert out.count("is stopped and saved: run small-t000") == 2
    assert out.splitlines()[-1] == "Stopped, and saved: the same command goes on where it was."
    ended(place.sweep("--workers", "2"))
    place.come_to()
