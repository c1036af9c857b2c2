"""Write the tables of docs/results.md, of docs/collection.md's matrix and of decision 12 anew from the kept results.

No number is copied by hand.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from harness import RESULTS
from respawn.worlds.mario.levels import ALL_LEVELS

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (DOCS / "results.md", DOCS / "collection.md", DOCS / "decisions" / "0012-threads-that-sleep.md")
REFERENCE = (
    ("the reference, a GPU", "8 x 64", "overlap", "79.6", "0.155", "", "94 %", "6 %", "", "7 to 9 %", ""),
    ("", "10 x 64", "overlap", "78.1", "0.122", "", "91 %", "9 %", "", "7 to 9 %", ""),
)
"""What the system that this one replaces wrote into its logs, over 4,000 and 1,600 updates."""
ENOUGH = 80
"""Cleared of 100 greedy episodes: what counts as a level that is cleared."""


def main() -> int:
    pages = {path: path.read_text() for path in PAGES}
    for name, table in _tables().items():
        begin, end = f"<!-- table {name} -->", "<!-- end -->"
        pattern = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
        path = next((path for path, text in pages.items() if pattern.search(text)), None)
        if path is None:
            print(f"no page has a place for '{name}': put {begin} and, under it, {end} into one", file=sys.stderr)
            return 1
        pages[path] = pattern.sub(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", pages[path])
    for path, text in pages.items():
        path.write_text(text)
    return 0


def _tables() -> dict[str, str]:
    found = {}
    for path in sorted(RESULTS.glob("*/mario*_learning.json")):
        kept = json.loads(path.read_text())
        runs = kept["runs"]
        preset = path.stem.removesuffix("_learning").replace("_", "-")
        seeds = [run for run in runs if run["level"] == "1-1"]
        if preset == "mario":
            found["mario 1-1"] = _table(seeds)
            found["mario levels"] = _levels_table(runs)
        else:
            found[preset] = _table(runs)
    for path in RESULTS.glob("*/train_speed.json"):
        found["train speed"] = _speed_table(json.loads(path.read_text()))
    for path in RESULTS.glob("*/busy_neighbour.json"):
        found["busy neighbour"] = _busy_table(json.loads(path.read_text()))
    matrices = {path: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*/overlap_matrix_*.json"))}
    if matrices:
        found["collecting"] = _collecting_table(matrices)
    return found


def _table(runs: Sequence[Mapping[str, Any]]) -> str:
    head = "| level | seed | first flag at | decisions | seconds | greedy | sampled | sticky 0.25, greedy | … sampled |"
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    for run in runs:
        scores = (run["greedy"], run["sampled"], run["sticky"]["greedy"], run["sticky"]["sampled"])
        cells = [run["level"], run["seed"], _count(run["first_flag_decisions"]), _count(run["decisions"])]
        lines.append(_line([*cells, f"{run['train_seconds']:.0f}", *(score["cleared"] for score in scores)]))
    return "\n".join(lines)


def _levels_table(runs: Sequence[Mapping[str, Any]]) -> str:
    first = min((run["seed"] for run in runs), default=0)
    by_level = {run["level"]: run for run in runs if run["seed"] == first}
    lines = [
        "| level | greedy | 95 % interval | sampled | sticky 0.25 | decisions | mean x | other ends | help |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for level in map(str, ALL_LEVELS):
        if level not in by_level:
            lines.append(_line([level, "not tried", *[""] * 7]))
            continue
        run = by_level[level]
        greedy = run["greedy"]
        low, high = (f"{100 * bound:.0f}" for bound in greedy["interval"])
        others = ", ".join(f"{end} {count}" for end, count in greedy["ends"].items() if end not in ("flag", "won"))
        cleared = f"**{greedy['cleared']}**" if greedy["cleared"] >= ENOUGH else greedy["cleared"]
        cells = [level, cleared, f"{low} to {high}", run["sampled"]["cleared"], run["sticky"]["greedy"]["cleared"]]
        lines.append(_line([*cells, _count(run["decisions"]), f"{greedy['x_mean']:.0f}", others, _help(run)]))
    enough = sum(run["greedy"]["cleared"] >= ENOUGH for run in by_level.values())
    return "\n".join([*lines, "", f"{enough} of {len(by_level)} levels tried are cleared in at least {ENOUGH} of 100."])


def _speed_table(measured: Mapping[str, Any]) -> str:
    ours = {**measured, "ratio": 1.0}
    peers = measured["peers"]
    rows = {
        f"`{measured['preset']}`": ours,
        "Stable-Baselines3, environments by `make_vec_env`": peers["sb3"],
        "Stable-Baselines3 on our vector environment": peers["sb3_vector"],
    }
    lines = ["| trained by | decisions a second | spread | threads | ours to this |", "|---|---|---|---|---|"]
    for label, row in rows.items():
        pace, least, most = (
            f"{rate:,.0f}" for rate in (row["decisions_per_second"], row["spread"]["min"], row["spread"]["max"])
        )
        lines.append(_line([label, pace, f"{least} to {most}", row["threads"], f"{row['ratio']:.2f}"]))
    return "\n".join(lines)


def _busy_table(measured: Mapping[str, Any]) -> str:
    lines = ["| | quiet | beside one busy process | beside two |", "|---|---|---|---|"]
    for way, paces in measured["decisions_per_second"].items():
        cells = [f"{median(found):,.0f} ({min(found):,.0f} to {max(found):,.0f})" for found in paces.values()]
        lines.append(_line([way, *cells]))
    return "\n".join(lines)


def _collecting_table(matrices: Mapping[Path, Mapping[str, Any]]) -> str:
    """Of each kept matrix the cells with the most steps, beside what the reference system was seen to do."""
    lines = [
        "| preset, machine | size | way | decisions/s | updates/s | ratio | collects | learns | idle | GPU | others |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(_line(cells) for cells in REFERENCE),
    ]
    for path, kept in matrices.items():
        most = max(cell["horizon_steps"] for cell in kept["cells"])
        for cell in kept["cells"]:
            if cell["horizon_steps"] != most:
                continue
            where = f"`{kept['preset']}`, {path.parent.name}"
            for row in cell["rows"]:
                lines.append(_line([where, f"{cell['lanes']} x {most}", *_way_cells(row)]))
                where = ""
    return "\n".join(lines)


def _way_cells(row: Mapping[str, Any]) -> list[str]:
    way = {"sync": "in turn", "actors": f"actors: {row['actors']}"}.get(row["mode"], row["mode"])
    if row["error"]:
        return [way, row["error"], *[""] * 7]
    gpu = row["gpu_util_mean_window"]
    shares = [f"{100 * row[name]:.0f} %" for name in ("collect_share", "learn_share", "idle_share")]
    return [
        way,
        f"{row['steps_per_sec_mean']:,.0f}",
        f"{row['updates_per_sec_mean']:.2f}",
        f"{row['ratio']:.2f}",
        *shares,
        "" if gpu is None else f"{gpu:.0f} %",
        f"{row['others_cores']:.1f}",
    ]


def _help(run: Mapping[str, Any]) -> str:
    """The options that change the game or the rewards; how long a run may take is no help."""
    settings = " ".join(run["options"]).split("--")
    return ", ".join(f"`--{setting.strip()}`" for setting in settings if setting.startswith("world."))


def _count(number: int | None) -> str:
    return "never" if number is None else f"{number:,}"


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
