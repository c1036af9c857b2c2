"""Does a thing help? The same run with it and without, several seeds each, and nothing else changed.

Takes an experiment's folder: every TOML file in it but plans is a variant, called by its file's name. Each is trained
with the command that a user would type, for its whole budget, whatever an evaluation says before; then judged on
episodes from seeds that neither training nor its evaluations used. Runs that were kept before are replaced variant by
variant and seed by seed. Whatever follows `--` goes to every `respawn train`.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from statistics import fmean, median
from typing import Any

from harness import RESULTS, keep, machine_name, show
from respawn.runs.metadata import describe_machine, git_commit

RESPAWN = (sys.executable, "-m", "respawn")
COMMIT = git_commit(Path(__file__).parent)
IN_A_ROW = 2
"""So many evaluations one after another must reach the mark: one alone may be luck."""


def main() -> int:
    options = _options()
    name = f"variants_{options.experiment.resolve().name.replace('-', '_')}"
    files = sorted(path for path in options.experiment.glob("*.toml") if path.stem != "plan")
    wanted = [(path, seed) for seed in options.seeds for path in files if not options.only or path.stem in options.only]
    kept = _kept(name)
    with ThreadPoolExecutor(options.workers) as pool:
        for done in as_completed(pool.submit(_learn, options, path, seed) for path, seed in wanted):
            row = done.result()
            kept[row["variant"], row["seed"]] = row
            # After each run: what was measured is not lost with whatever comes later.
            everything = [kept[key] for key in sorted(kept)]
            summary = _summary(everything)
            keep(name, __doc__ or "", {"metric": options.metric, "mark": options.mark, "summary": summary,
                                       "runs": everything})  # fmt: skip
    columns = ("variant", "seeds", "decisions to the mark", "mean over the run", "at the end", "held out", "seconds")
    show(
        f"{options.experiment.name}: {options.metric}, mark {options.mark:g}", columns, [_shown(row) for row in summary]
    )
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s EXPERIMENT [options] [-- options of respawn train]",
    )
    parser.add_argument("experiment", type=Path, help="folder with a TOML file for each variant")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--only", nargs="*", default=[], help="these variants alone")
    parser.add_argument("--metric", default="evaluation/cleared", help="what is compared, of evaluations in training")
    parser.add_argument("--mark", type=float, default=0.9, help="what must be reached, twice in a row")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where the run folders are made and stay")
    # Taken apart by hand: argparse of Python 3.12 no longer takes what follows -- behind other options.
    words = sys.argv[1:]
    extra = words[words.index("--") + 1 :] if "--" in words else []
    options = parser.parse_args(words[: len(words) - len(extra) - 1] if extra else words)
    options.extra = extra
    return options


def _learn(options: argparse.Namespace, path: Path, seed: int) -> dict[str, Any]:
    """One run, trained and judged."""
    name = f"{options.experiment.resolve().name}-{path.stem}-seed{seed}"
    where = ["--runs", str(options.runs)]
    train = ["--config", str(path), "--seed", str(seed), "--name", name, "--observers.no-tensorboard"]
    _run([*RESPAWN, "train", *train, *where, *options.extra])
    judged = json.loads(_run([*RESPAWN, "evaluate", name, *where, "--json"]))
    folder = options.runs / name
    last = _rows(folder / "updates.jsonl")[-1]
    curve = [[row["decisions"], row[options.metric]] for row in _rows(folder / "evaluations.jsonl")]
    row = {
        "variant": path.stem,
        "seed": seed,
        "options": options.extra,
        "commit": COMMIT,
        "decisions": last["decisions"],
        "train_seconds": round(last["time/total_seconds"], 1),
        "decisions_to_mark": _reached(curve, options.mark),
        "mean_over_run": fmean(value for _, value in curve),
        "at_end": curve[-1][1],
        "held_out": _held_out(judged),
        "curve": curve,
    }
    print(f"{path.stem} seed {seed}: mark at {row['decisions_to_mark']}, held out {row['held_out']}", flush=True)
    return row


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def _reached(curve: Sequence[Sequence[float]], mark: float) -> int | None:
    """At how many decisions the first of the evaluations in a row that reached the mark was; None: never."""
    for first in range(len(curve) - IN_A_ROW + 1):
        if all(value >= mark for _, value in curve[first : first + IN_A_ROW]):
            return int(curve[first][0])
    return None


def _held_out(judged: Mapping[str, Any]) -> dict[str, float]:
    """Greedy and sampled scores on fresh seeds: levels cleared of 100 each, or the mean return."""
    if "levels" not in judged:
        return {"greedy": judged["return_mean"]}
    scores = {}
    for level, score in judged["levels"].items():
        scores[f"{level} greedy"], scores[f"{level} sampled"] = score["cleared"], score["sampled"]["cleared"]
    return scores


def _summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line for each variant over its seeds: medians and the ends of the spread."""
    lines = []
    for variant in sorted({row["variant"] for row in rows}):
        own = [row for row in rows if row["variant"] == variant]
        names = own[0]["held_out"]
        lines.append(
            {
                "variant": variant,
                "seeds": [row["seed"] for row in own],
                "decisions_to_mark": [row["decisions_to_mark"] for row in own],
                **{key: _spread([row[key] for row in own]) for key in ("mean_over_run", "at_end", "train_seconds")},
                "held_out": {name: _spread([row["held_out"][name] for row in own]) for name in names},
            }
        )
    return lines


def _spread(numbers: Sequence[float]) -> dict[str, float]:
    return {"median": median(numbers), "lowest": min(numbers), "highest": max(numbers)}


def _shown(line: Mapping[str, Any]) -> tuple[Any, ...]:
    marks = ", ".join("never" if mark is None else f"{mark:,}" for mark in line["decisions_to_mark"])
    held_out = "; ".join(f"{name} {_told(spread)}" for name, spread in line["held_out"].items())
    return (
        line["variant"], len(line["seeds"]), marks, _told(line["mean_over_run"]), _told(line["at_end"]), held_out,
        _told(line["train_seconds"]),
    )  # fmt: skip


def _told(spread: Mapping[str, float]) -> str:
    return f"{spread['median']:.4g} ({spread['lowest']:.4g} to {spread['highest']:.4g})"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _kept(name: str) -> dict[tuple[str, int], dict[str, Any]]:
    path = RESULTS / machine_name(describe_machine()) / f"{name}.json"
    rows = json.loads(path.read_text())["runs"] if path.exists() else []
    return {(row["variant"], row["seed"]): row for row in rows}


if __name__ == "__main__":
    sys.exit(main())
