"""Does a sweep find settings that are better than most, and than the preset's, and how much of that is luck?

Two small studies: CartPole with V-trace over six settings, and Mario 1-1 over four. The value is what the sweep chose
by; 'fresh' is the same policy on 100 seeds that nothing was chosen by; 'other seeds' are new runs with the best
settings and with the preset's own, as long as a trial and valued as one.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean, median
from typing import Any

from harness import keep, show
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_evaluations
from respawn.sweeps.score import LAST_EVALUATIONS

STUDIES: dict[str, tuple[list[str], str]] = {
    "cartpole-vtrace": (
        ["--trials", "16", "--updates", "400", "--evaluation.every-updates", "50"],
        """
        learner.optimizer.learning_rate = { low = 3e-4, high = 3e-2, log = true }
        learner.entropy_cost = { low = 1e-3, high = 5e-2, log = true }
        learner.trace_decay = { low = 0.8, high = 1.0 }
        learner.rho_clip = { low = 0.5, high = 2.0, log = true }
        collection.horizon_steps = [8, 16, 32]
        model.hidden_sizes = [[32, 32], [64, 64], [128, 128]]
        """,
    ),
    "mario": (
        ["--trials", "8", "--updates", "50", "--evaluation.every-updates", "10"],
        """
        learner.optimizer.learning_rate = { low = 1e-4, high = 5e-3, log = true }
        learner.entropy_cost = { low = 4e-3, high = 1e-1, log = true }
        learner.clip = { low = 0.1, high = 0.4 }
        model.hidden_sizes = [[64, 64], [128, 128], [256, 256]]
        """,
    ),
}


OTHER_SEEDS = (101, 102, 103)
"""Of runs; trials have the seeds from 0."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aside", type=Path, default=Path("local/sweep_study"), help="where runs and studies are kept")
    parser.add_argument("--only", choices=list(STUDIES), default=None, help="one study alone")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    arguments.aside.mkdir(parents=True, exist_ok=True)
    for preset in STUDIES if arguments.only is None else [arguments.only]:
        summary = _study(preset, arguments.aside, arguments.workers)
        results = _told(summary) | {"other_seeds": _on_other_seeds(preset, summary, arguments.aside)}
        columns = ("trial", "state", "value", "decisions")
        rows = [[trial[column] for column in columns] for trial in results["trials"]]
        show(f"{preset}: {results['objective']}", columns, [["" if cell is None else cell for cell in r] for r in rows])
        for fresh in results["fresh_seeds"]:
            print(f"trial {fresh['number']}: {fresh['value']:.4g} on {fresh['episodes']} fresh seeds")
        for whose, values in results["other_seeds"].items():
            print(f"{whose} settings, seeds {OTHER_SEEDS}: {', '.join(f'{value:.4g}' for value in values)}")
        keep(f"sweep_{preset.replace('-', '_')}", __doc__ or "", results)
    return 0


def _study(preset: str, aside: Path, workers: int) -> dict[str, Any]:
    """Carry out a study, or go on with it where it was left."""
    options, space = STUDIES[preset]
    file = aside / f"{preset}.toml"
    file.write_text("\n".join(line.strip() for line in space.strip().splitlines()) + "\n")
    command = [
        *(sys.executable, "-m", "respawn", "sweep", preset, *options, "--space", str(file), "--json"),
        *("--workers", str(workers), "--sweeps", str(aside / "sweeps"), "--runs", str(aside / "runs")),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def _on_other_seeds(preset: str, summary: dict[str, Any], aside: Path) -> dict[str, list[float]]:
    """What the best settings, and the preset's, come to where they were not chosen: the mean of three evaluations."""
    options, _ = STUDIES[preset]
    ways = {
        "best": ["--config", str(aside / "sweeps" / preset / "best.toml")],
        "preset": [preset, *options[2:]],  # without the number of trials
    }
    values: dict[str, list[float]] = {}
    for whose, words in ways.items():
        for seed in OTHER_SEEDS:
            folder = RunFolder(aside / "runs" / f"{preset}-{whose}-s{seed}")
            if not folder.path.exists() or read_status(folder).status != "finished":
                shutil.rmtree(folder.path, ignore_errors=True)
                _train([*words, "--seed", str(seed)], folder)
            judged = [report.metrics[summary["objective"]] for report in read_evaluations(folder)]
            values.setdefault(whose, []).append(fmean(judged[-LAST_EVALUATIONS:]))
    return values


def _train(words: list[str], folder: RunFolder) -> None:
    """A run as long as a trial, with its schedules as long as it is."""
    if "--updates" in words:
        words[words.index("--updates")] = "--planned-updates"
    command = [sys.executable, "-m", "respawn", "train", *words, "--name", folder.name]
    subprocess.run([*command, "--runs", str(folder.path.parent)], stdout=subprocess.DEVNULL, check=True)


def _told(summary: dict[str, Any]) -> dict[str, Any]:
    """What is worth keeping."""
    kept = ("study", "objective", "direction", "score", "space", "decisions_per_trial", "counts", "best", "fresh_seeds")
    values = [trial["value"] for trial in summary["trials"] if trial["state"] == "complete"]
    columns = ("trial", "state", "value", "updates", "decisions", "settings")
    return {
        **{name: summary[name] for name in kept},
        "best_value": max(values, default=None),
        "median_value": median(values) if values else None,
        "trials": [{column: trial[column] for column in columns} for trial in summary["trials"]],
    }


if __name__ == "__main__":
    sys.exit(main())
