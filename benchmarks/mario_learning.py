"""How many decisions until Mario clears a level, and how reliably does he do so then?

Trains a preset once for each level and seed, or with `--together` one policy for all of the levels, with the command
that a user would type, and judges each policy on 100 episodes a level from seeds that nobody looked at before: greedy
and sampled, with start jitter alone and with sticky actions, beside policies that know nothing. Runs of the same
preset, level and seed that were kept before are replaced. Whatever follows `--` goes to `respawn train`; a run that had
such help keeps it in its row.
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
from respawn.runs.metadata import describe_machine, git_commit
from respawn.worlds.mario.levels import find_levels

RESPAWN = (sys.executable, "-m", "respawn")
JITTER, STICKY = 16, 0.25
COMMIT = git_commit(Path(__file__).parent)
"""Of the code that began. Rows keep their own, for those of one file are not all measured on one day; the oldest that
are kept have none."""


def main() -> int:
    options = _options()
    levels = [str(level) for level in find_levels(options.levels)]
    groups = [levels] if options.together else [[level] for level in levels]
    wanted = [(group, seed) for group in groups for seed in options.seeds]
    name = f"{options.preset.replace('-', '_')}_learning"
    kept = _kept(name)
    with ThreadPoolExecutor(options.workers) as pool:
        for done in as_completed(pool.submit(_learn, options, group, seed) for group, seed in wanted):
            for row in done.result():
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
    parser.add_argument("--together", action="store_true", help="one policy for all of the levels, not one for each")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the run folders are made and stay")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("extra", nargs="*", help="after --: options of 'respawn train'")
    return parser.parse_args()


def _learn(options: argparse.Namespace, levels: Sequence[str], seed: int) -> list[dict[str, Any]]:
    """One run, trained and judged: a row for each of its levels."""
    name = f"{options.preset}-{levels[0] if len(levels) == 1 else 'together'}-seed{seed}"
    where = ["--runs", str(options.runs), "--device", options.device]
    train = ["--world.levels", *levels, "--seed", str(seed), "--name", name, "--observers.no-tensorboard"]
    _run([*RESPAWN, "train", options.preset, *train, *where, *options.extra])
    judge = [*RESPAWN, "evaluate", name, *where, "--start-jitter", str(JITTER), "--json"]
    calm = json.loads(_run(judge))["levels"]
    noisy = json.loads(_run([*judge, "--sticky", str(STICKY), "--no-null-policies"]))["levels"]
    about = {"seed": seed, "options": options.extra, "commit": COMMIT, **_about(options.runs / name)}
    first_flags = _first_flags(options.runs / name)
    rows = []
    for level in levels:
        row = {"level": level, "first_flag_decisions": first_flags.get(level), **about}
        row |= {"greedy": _score(calm[level]), "sampled": _score(calm[level]["sampled"])}
        row |= {name: _score(score) for name, score in calm[level]["null_policies"].items()}
        row |= {"sticky": {"greedy": _score(noisy[level]), "sampled": _score(noisy[level]["sampled"])}}
        cleared = f"greedy {row['greedy']['cleared']}, sampled {row['sampled']['cleared']} of 100"
        print(f"{level} seed {seed}: {cleared} after {row['decisions']:,} decisions", flush=True)
        rows.append(row)
    return rows


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def _about(folder: Path) -> dict[str, Any]:
    """What the run folder tells of how it was learned."""
    last = _rows(folder / "updates.jsonl")[-1]
    status = json.loads((folder / "status.json").read_text())
    judged = _rows(folder / "evaluations.jsonl")
    return {
        "decisions": last["decisions"],
        "train_seconds": round(last["time/total_seconds"], 1),
        "goal_reached": bool(status.get("goal_reached", False)),
        "curve": [[row["decisions"], row["evaluation/cleared"]] for row in judged],
    }


def _first_flags(folder: Path) -> dict[str, int]:
    """How many decisions it had taken when a level was first cleared, by level; those never cleared are not there."""
    decisions = {row["update"]: row["decisions"] for row in _rows(folder / "updates.jsonl")}
    cleared = [row for row in _rows(folder / "episodes.jsonl") if row["facts"]["cleared"]]
    return {row["facts"]["level"]: decisions[row["update"]] for row in reversed(cleared)}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


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
