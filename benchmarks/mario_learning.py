"""How many decisions until Mario clears a level, and how reliably does he do so then?

Trains a preset once for each level and seed, with the command that a user would type, and judges each policy on 100
episodes from seeds that nobody looked at before: greedy and sampled, with start jitter alone and with sticky actions,
beside policies that know nothing. Runs of the same preset, level and seed that were kept before are replaced. Whatever
follows `--` goes to `respawn train`; a run that had such help keeps it in its row.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from harness import RESULTS, keep, machine_name, show
from respawn.runs.metadata import describe_machine
from respawn.worlds.mario.levels import find_levels

RESPAWN = (sys.executable, "-m", "respawn")
JITTER, STICKY = 16, 0.25


def main() -> int:
    options = _options()
    levels = [str(level) for level in find_levels(options.levels)]
    wanted = [(level, seed) for level in levels for seed in options.seeds]
    name = f"{options.preset.replace('-', '_')}_learning"
    kept = _kept(name)
    with ThreadPoolExecutor(options.workers) as pool:
        for done in as_completed(pool.submit(_learn, options, level, seed) for level, seed in wanted):
            row = done.result()
            kept[row["level"], row["seed"]] = row
            # After each run: what was measured is not lost with whatever comes later.
            everything = [kept[key] for key in sorted(kept)]
            keep(name, __doc__ or "", {"start_jitter": JITTER, "sticky": STICKY, "runs": everything})
    columns = ("level", "seed", "first flag", "decisions", "seconds", "greedy", "sampled", "sticky", "always right")
    show(f"{options.preset}, of 100 episodes", columns, [_shown(kept[key]) for key in sorted(kept)])
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="mario")
    parser.add_argument("--levels", nargs="+", default=["1-1"], help="names, or all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the run folders are made and stay")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("extra", nargs="*", help="after --: options of 'respawn train'")
    return parser.parse_args()


def _learn(options: argparse.Namespace, level: str, seed: int) -> dict[str, Any]:
    """One run, trained and judged."""
    name = f"{options.preset}-{level}-seed{seed}"
    where = ["--runs", str(options.runs), "--device", options.device]
    train = ["--world.levels", level, "--seed", str(seed), "--name", name, "--observers.no-tensorboard"]
    _run([*RESPAWN, "train", options.preset, *train, *where, *options.extra])
    judge = [*RESPAWN, "evaluate", name, *where, "--start-jitter", str(JITTER), "--json"]
    calm = json.loads(_run(judge))["levels"][level]
    noisy = json.loads(_run([*judge, "--sticky", str(STICKY), "--no-null-policies"]))["levels"][level]
    row = {"level": level, "seed": seed, "options": options.extra, **_about(options.runs / name)}
    row |= {"greedy": _score(calm), "sampled": _score(calm["sampled"])}
    row |= {name: _score(score) for name, score in calm["null_policies"].items()}
    row |= {"sticky": {"greedy": _score(noisy), "sampled": _score(noisy["sampled"])}}
    cleared = f"greedy {row['greedy']['cleared']}, sampled {row['sampled']['cleared']} of 100"
    print(f"{level} seed {seed}: {cleared} after {row['decisions']:,} decisions", flush=True)
    return row


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def _about(folder: Path) -> dict[str, Any]:
    """What the run folder tells of how it was learned."""
    updates = [json.loads(line) for line in (folder / "updates.jsonl").read_text().splitlines()]
    decisions = {row["update"]: row["decisions"] for row in updates}
    episodes = (json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines())
    first = next((row["update"] for row in episodes if row["facts"]["cleared"]), None)
    judged = (json.loads(line) for line in (folder / "evaluations.jsonl").read_text().splitlines())
    status = json.loads((folder / "status.json").read_text())
    return {
        "first_flag_decisions": None if first is None else decisions[first],
        "decisions": updates[-1]["decisions"],
        "train_seconds": round(updates[-1]["time/total_seconds"], 1),
        "goal_reached": bool(status.get("goal_reached", False)),
        "curve": [[row["decisions"], row["evaluation/cleared"]] for row in judged],
    }


def _score(score: Mapping[str, Any]) -> dict[str, Any]:
    return {name: score[name] for name in ("cleared", "interval", "x_mean", "ends")}


def _shown(row: Mapping[str, Any]) -> tuple[Any, ...]:
    scores = (row["greedy"], row["sampled"], row["sticky"]["greedy"], row["always_right"])
    first = row["first_flag_decisions"]
    return (
        row["level"],
        row["seed"],
        "never" if first is None else f"{first:,}",
        f"{row['decisions']:,}",
        row["train_seconds"],
        *(score["cleared"] for score in scores),
    )


def _kept(name: str) -> dict[tuple[str, int], dict[str, Any]]:
    path = RESULTS / machine_name(describe_machine()) / f"{name}.json"
    rows = json.loads(path.read_text())["runs"] if path.exists() else []
    return {(row["level"], row["seed"]): row for row in rows}


if __name__ == "__main__":
    sys.exit(main())
