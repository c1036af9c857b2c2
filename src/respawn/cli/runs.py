"""respawn runs list|show|compare."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from respawn.checkpoints.store import find_newest, saved
from respawn.cli.arguments import parse
from respawn.errors import CheckpointError, ConfigError
from respawn.runs.layout import RunFolder, find, list_runs
from respawn.runs.metadata import read_meta, read_status
from respawn.runs.reader import last_row
from respawn.training.config import config_to_json
from respawn.training.launch import load_config

USAGE = """usage: respawn runs {list,show,compare} [...]

  list              every run under --runs, the newest first
  show RUN          one run: what it is, how far it came, what can be resumed
  compare RUN RUN   what differs between runs: settings and results

'respawn runs list --help' and so on say more."""


@dataclass(frozen=True)
class ListArguments:
    """Every run, the newest first."""

    runs: Path = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


@dataclass(frozen=True)
class ShowArguments:
    """One run: what it is, how far it came, what can be resumed."""

    run: Annotated[str, tyro.conf.Positional]
    """name of the run, or path of its folder"""
    runs: Path = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


@dataclass(frozen=True)
class CompareArguments:
    """What differs between runs: settings and results."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional]
    """names of two or more runs"""
    runs: Path = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Read run folders."""
    commands: dict[str, Callable[[list[str]], None]] = {"list": _list, "show": _show, "compare": _compare}
    if words and words[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if not words or words[0] not in commands:
        came = f"not '{words[0]}'" if words else "and nothing came"
        raise ConfigError(f"'respawn runs' wants one of {', '.join(commands)}, {came}; see 'respawn runs --help'")
    commands[words[0]](words[1:])
    return 0


def describe(folder: RunFolder) -> dict[str, Any]:
    """What there is to know about a run; the numbers of its newest whole checkpoint are null where it has none."""
    meta, status = read_meta(folder), read_status(folder)
    damage = None
    try:
        found = find_newest(folder.checkpoints)
    except CheckpointError as error:
        found, damage = None, str(error)
    manifest = found.manifest if found is not None else None
    return {
        "name": folder.name,
        "path": str(folder.path),
        "status": status.status,
        "preset": meta.preset,
        "world": meta.world,
        "seed": meta.seed,
        "created": meta.created,
        "updates": manifest.updates if manifest else None,
        "decisions": manifest.decisions if manifest else None,
        "weights_sha256": manifest.weights_sha256 if manifest else None,
        "checkpoint": found.path.name if found else None,
        "checkpoints": [path.name for path in saved(folder.checkpoints)],
        "damaged": [damage] if damage else list(found.passed_over) if found else [],
        "exact_resume": meta.exact_resume,
        "exact_resume_note": meta.exact_resume_note,
        "last_update": last_row(folder.updates),
        "last_evaluation": last_row(folder.evaluations),
        "cause": status.facts.get("cause"),
    }


def _list(words: list[str]) -> None:
    arguments = parse(ListArguments, words, "respawn runs list")
    listed = list_runs(arguments.runs)
    rows: list[dict[str, Any]] = [
        {"name": run.folder.name, "status": "broken", "problem": run.problem} if run.problem else describe(run.folder)
        for run in listed
    ]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    if not rows:
        print(f"There are no runs in {arguments.runs}. Begin one with: respawn train cartpole-ppo")
        return
    table = Table("run", "status", "world", "updates", "decisions", "return", "evaluation")
    for row in rows:
        if row["status"] == "broken":
            table.add_row(row["name"], "[red]broken[/]", str(row["problem"]))
            continue
        table.add_row(
            row["name"],
            row["status"],
            str(row["world"]),
            _number(row["updates"]),
            _number(row["decisions"]),
            _metric(row["last_update"], "return/mean"),
            _metric(row["last_evaluation"], "evaluation/return_mean"),
        )
    Console().print(table)


def _show(words: list[str]) -> None:
    arguments = parse(ShowArguments, words, "respawn runs show")
    described = describe(find(arguments.runs, arguments.run))
    if arguments.json:
        print(json.dumps(described, indent=2))
        return
    table = Table(title=described["name"], show_header=False)
    lines = {
        "status": described["status"] + (f": {described['cause']}" if described["cause"] else ""),
        "preset, seed": f"{described['preset']}, {described['seed']}",
        "world": described["world"],
        "created": described["created"],
        "newest checkpoint": described["checkpoint"] or "none yet",
        "updates, decisions": f"{_number(described['updates'])}, {_number(described['decisions'])}",
        "weights": described["weights_sha256"] or "",
        "all checkpoints": ", ".join(described["checkpoints"]),
        "damaged": "; ".join(described["damaged"]),
        "resume": described["exact_resume_note"] or "exact, bit for bit",
        "return of late": _metric(described["last_update"], "return/mean"),
        "last evaluation": _metric(described["last_evaluation"], "evaluation/return_mean"),
        "folder": described["path"],
    }
    for label, value in lines.items():
        if value:
            table.add_row(label, value)
    Console().print(table)


def _compare(words: list[str]) -> None:
    arguments = parse(CompareArguments, words, "respawn runs compare")
    if len(arguments.names) < 2:
        raise ConfigError(f"'respawn runs compare' wants two or more runs, and {len(arguments.names)} came")
    folders = [find(arguments.runs, name) for name in arguments.names]
    settings = {folder.name: flat(config_to_json(load_config(folder))) for folder in folders}
    names = sorted({name for run in settings.values() for name in run})
    differing = {
        name: {run: values.get(name) for run, values in settings.items()}
        for name in names
        if len({json.dumps(values.get(name)) for values in settings.values()}) > 1
    }
    results = {folder.name: _results(folder) for folder in folders}
    if arguments.json:
        print(json.dumps({"settings": differing, "results": results}, indent=2))
        return
    table = Table("", *results)
    for name, values in differing.items():
        table.add_row(name, *(str(values[run]) for run in results))
    table.add_section()
    for name in next(iter(results.values())):
        table.add_row(name, *(_number(results[run][name]) for run in results))
    Console().print(table)


def _results(folder: RunFolder) -> dict[str, Any]:
    described = describe(folder)
    update, evaluation = described["last_update"] or {}, described["last_evaluation"] or {}
    return {
        "status": described["status"],
        "updates": described["updates"],
        "decisions": described["decisions"],
        "return/mean": update.get("return/mean"),
        "evaluation/return_mean": evaluation.get("evaluation/return_mean"),
        "time/total_seconds": update.get("time/total_seconds"),
        "weights_sha256": described["weights_sha256"],
    }


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level, named as on the command line."""
    result: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            result.update(flat(value, f"{prefix}{name}."))
        else:
            result[f"{prefix}{name}"] = value
    return result


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def _metric(row: Mapping[str, Any] | None, name: str) -> str:
    return "" if row is None else _number(row.get(name))
