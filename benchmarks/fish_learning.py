"""How near does a preset for fish come to what can survive, how soon, and does every seed get there?"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import keep, show
from respawn.evaluation.learning_health import entropy_limit, learning_health
from respawn.observers.config import ObserversConfig
from respawn.presets import find_preset
from respawn.runs.reader import read_updates
from respawn.training.config import config_to_json
from respawn.training.judge_fish import SchoolTrials, describe_schools, judge_fish
from respawn.training.launch import begin
from respawn.training.trained import load_run

HELD_OUT = SchoolTrials(episodes=200, fish=96, seed_base=9_000_000)
"""Seeds that nothing was tuned on: settings were chosen on schools from 500,000 on."""
GOALS = {"survival_mean": 0.980, "death_p10": 500.0, "survival_worst": 0.90}
MOST = {"survival_gap": 0.005, "early_death_100": 0.03}


def train_and_judge(preset: str, seed: int) -> dict[str, Any]:
    """One run in a folder that is thrown away, and what its last policy comes to."""
    quiet = ObserversConfig(console=False, tensorboard=False, figures=False)
    config = replace(find_preset(preset), seed=seed, observers=quiet)
    with tempfile.TemporaryDirectory() as place:
        folder, outcome = begin(config, preset=preset, runs_dir=Path(place))
        updates = list(read_updates(folder))
        trained = load_run(folder)
        found = describe_schools(judge_fish(trained, HELD_OUT), trained, HELD_OUT)
    health = learning_health(updates, limit=entropy_limit(config_to_json(config)))
    found.pop("survival")
    return {
        "preset": preset,
        "seed": seed,
        "decisions": outcome.decisions,
        "training_seconds": round(updates[-1].metrics["time/total_seconds"], 1),
        "learning": health["learning"],
        **found,
    }


def reached(run: dict[str, Any]) -> bool:
    """Whether a run is as good as it should be."""
    enough = all(run[name] >= least for name, least in GOALS.items())
    return enough and all(run[name] <= most for name, most in MOST.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="fish")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    runs = []
    for seed in arguments.seeds:
        runs.append(train_and_judge(arguments.preset, seed))
        print(f"seed {seed}: {runs[-1]['survival_mean']:.4f} of {runs[-1]['ceiling']:.4f}", flush=True)
    names = ("seed", "training_seconds", "survival_mean", *MOST, "survival_worst", "death_p10")
    show(f"{arguments.preset}, 200 held-out schools of 96", names, [[run[name] for name in names] for run in runs])
    nulls = {name: round(numbers["survival_mean"], 4) for name, numbers in runs[0]["null_policies"].items()}
    print(f"beside: {nulls}")
    all_reached = all(reached(run) for run in runs)
    name = f"{arguments.preset.replace('-', '_')}_learning"
    keep(name, __doc__ or "", {"goals": {**GOALS, **MOST}, "reached": all_reached, "runs": runs})
    print("yes" if all_reached else "no")
    return 0 if all_reached else 1


if __name__ == "__main__":
    sys.exit(main())
