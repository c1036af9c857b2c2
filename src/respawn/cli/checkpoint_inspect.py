"""respawn checkpoint inspect: what is in a checkpoint, and what resuming it takes."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.markup import escape

from respawn.cli.arguments import RunsDirectory, parse
from respawn.cli.checkpoint_names import NamedCheckpoint, find_checkpoint, is_run
from respawn.cli.checkpoint_reference import inspect_reference, is_reference
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table, number, print_facts
from respawn.errors import CheckpointError, ConfigError
from respawn.runs.sizes import size

if TYPE_CHECKING:
    from respawn.checkpoints.contents import Part
    from respawn.training.checkpoint_report import CheckpointReport

_MOST_METRICS = 6
_MOST_LOOKS = 10
"""Times that a checkpoint is looked at, where a run deletes it before that is done."""
_SIGNS = {True: "[green]yes[/]", False: "[yellow]no[/]", None: "?"}


@dataclass(frozen=True)
class InspectArguments:
    """What is in a checkpoint, and what resuming from it takes.

    Also says what a3c_world1_stage1_0002000.json is, a file of another system.
    """

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN[@NAME]|FOLDER|FILE")]
    """a run, for its newest whole checkpoint; RUN@best, RUN@u00000100 or RUN@100; a checkpoint's folder; such a file"""
    parts: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PART [PART ...]")] = ()
    """only these parts, such as weights; none: all"""
    tensors: bool = False
    """list every tensor of them: kind, shape, and how many of its numbers are not finite"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of tables"""


def main(words: list[str]) -> int:
    """Inspect; 1 where the checkpoint is damaged."""
    arguments = parse(InspectArguments, words, "respawn checkpoint inspect")
    path = Path(arguments.checkpoint)
    if not is_run(arguments.runs / arguments.checkpoint) and is_reference(path):
        if arguments.parts or arguments.tensors:
            raise ConfigError(f"--parts and --tensors are for checkpoints of ours, and {path} is none; leave them out")
        return inspect_reference(path, as_json=arguments.json)
    named, report = _looked_at(arguments)
    if arguments.json:
        print(json.dumps(as_json(named, report, tensors=arguments.tensors), indent=2))
    else:
        _show(named, report, tensors=arguments.tensors)
    return 0 if report.is_whole else 1


def _looked_at(arguments: InspectArguments) -> "tuple[NamedCheckpoint, CheckpointReport]":
    """The checkpoint, and what is in it; looked for again where a run that goes on deletes it meanwhile."""
    named = find_checkpoint(arguments.runs, arguments.checkpoint)
    # Imported only now: torch takes seconds to load, and a mistake should be told at once.
    from respawn.training.checkpoint_report import report_on

    with progress_bar() as tell:
        for _ in range(_MOST_LOOKS):
            if not named.path.exists():
                named = find_checkpoint(arguments.runs, arguments.checkpoint)
            try:
                report = report_on(named.path, named.folder, arguments.parts, tell)
            except CheckpointError:
                if named.path.exists():
                    raise
                continue
            if named.path.exists():  # else what could not be read any more looks like damage
                return named, report
    raise CheckpointError(
        f"{named.path} was deleted while it was looked at, as a run that goes on does, and so were those before it; "
        "name one that is kept, or try again"
    )


def as_json(named: NamedCheckpoint, report: "CheckpointReport", *, tensors: bool) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "checkpoint": named.path.name,
        "path": str(named.path),
        "run": None if named.folder is None else named.folder.name,
        "passed_over": list(named.passed_over),
        "damage": report.damage or None,
        "manifest": asdict(report.manifest),
        "parameters": report.parameters,
        "parts": [_part_as_json(part, tensors=tensors) for part in report.parts],
        "rung": None if report.rung is None else asdict(report.rung),
        "replay": None if report.replay is None else asdict(report.replay),
        "resuming": [asdict(need) for need in report.needs],
    }


def _part_as_json(part: "Part", *, tensors: bool) -> dict[str, Any]:
    plain = {
        "name": part.name,
        "files": part.files,
        "bytes": part.size_bytes,
        "tensors": len(part.tensors),
        "numbers": part.numbers,
        "kinds": list(part.kinds),
        "not_finite": part.not_finite,
        "not_finite_values": list(part.not_finite_values),
        "problem": part.problem or None,
    }
    return {**plain, "tensor_list": [asdict(tensor) for tensor in part.tensors]} if tensors else plain


def _show(named: NamedCheckpoint, report: "CheckpointReport", *, tensors: bool) -> None:
    for reason in named.passed_over:
        print(f"A damaged checkpoint was passed over: {reason}")
    print_facts(named.title, _facts(named, report))
    print()
    _show_parts(report)
    if tensors:
        print()
        _show_tensors(report)
    if report.needs:
        print()
        _show_needs(report)


def _facts(named: NamedCheckpoint, report: "CheckpointReport") -> dict[str, str]:
    manifest = report.manifest
    return {
        "update": f"{number(manifest.updates)}, after {number(manifest.decisions)} decisions",
        "saved": f"{manifest.saved_at[:19].replace('T', ' ')} UTC by respawn {manifest.respawn_version}",
        "world": manifest.world,
        "settings": f"{manifest.config_sha256} (SHA-256)",
        "weights": f"{manifest.weights_sha256} (SHA-256)",
        "parameters": number(report.parameters),
        "evaluation": _evaluation(report),
        "finite": _finite(report),
        "memory ladder": _ladder(report),
        "replay": _replay(report),
        "files": report.damage or f"{len(manifest.files)}, as they were written",
        "folder": str(named.path),
    }


def _evaluation(report: "CheckpointReport") -> str:
    metrics = {name: value for name, value in report.manifest.metrics.items() if name.startswith("evaluation/")}
    if report.best_metric in metrics:  # what the run is judged by comes first
        metrics = {report.best_metric: metrics[report.best_metric], **metrics}
    told = [f"{name.partition('/')[2]} {number(value)}" for name, value in list(metrics.items())[:_MOST_METRICS]]
    more = f", and {len(metrics) - _MOST_METRICS} more in --json" if len(metrics) > _MOST_METRICS else ""
    return ", ".join(told) + more if told else "none was made at this update"


def _finite(report: "CheckpointReport") -> str:
    odd = {part.name: part.not_finite for part in report.parts if part.not_finite}
    values = [f"{part.name}: {value}" for part in report.parts for value in part.not_finite_values]
    if not odd:
        numbers, tensors = sum(part.numbers for part in report.parts), sum(len(part.tensors) for part in report.parts)
        outside = f"; outside of them not {', '.join(values)}" if values else ""
        return f"all {number(numbers)} numbers of {number(tensors)} tensors{outside}"
    told = ", ".join(f"{number(count)} in {name}" for name, count in odd.items())
    return f"no: {told} are not" + (f", nor are {', '.join(values)}" if values else "")


def _ladder(report: "CheckpointReport") -> str:
    rung = report.rung
    if rung is None:
        return ""
    where = f"stepped down: {', '.join(rung.taken)}" if rung.taken else "no step down"
    return where if rung.num_lanes is None else f"{where}, {rung.num_lanes:,} lanes of {rung.horizon_steps:,} steps"


def _replay(report: "CheckpointReport") -> str:
    fill = report.replay
    if fill is None:
        return ""
    share = f" ({100 * fill.segments / fill.capacity:.1f} %)" if fill.capacity else ""
    kept = f"{fill.segments:,} of {fill.capacity:,} segments{share} of {fill.steps:,} steps"
    return f"{kept}; {fill.pushed_decisions:,} decisions were put in so far"


def _show_parts(report: "CheckpointReport") -> None:
    table = new_table()
    table.add_column("part", no_wrap=True)
    for name in ("files", "size", "tensors", "numbers"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kinds", overflow="fold")
    for part in report.parts:
        kinds = f"[red]{escape(part.problem)}[/]" if part.problem else ", ".join(part.kinds)
        counts = (number(len(part.tensors)), number(part.numbers)) if part.tensors else ("", "")
        table.add_row(escape(part.name), str(len(part.files)), size(part.size_bytes), *counts, kinds)
    console().print(table)


def _show_tensors(report: "CheckpointReport") -> None:
    table = new_table()
    table.add_column("tensor", overflow="fold")
    table.add_column("kind", no_wrap=True)
    for name in ("shape", "numbers", "not finite"):
        table.add_column(name, justify="right", no_wrap=True)
    for part in report.parts:
        if part.tensors:
            table.add_row(f"[dim]{escape(part.name)}[/]")
        for tensor in part.tensors:
            odd = f"[red]{number(tensor.not_finite)}[/]" if tensor.not_finite else ""
            shape = escape(str(list(tensor.shape)))
            table.add_row(escape(tensor.name), tensor.kind, shape, number(tensor.numbers), odd)
    console().print(table)


def _show_needs(report: "CheckpointReport") -> None:
    table = new_table()
    table.add_column("to resume", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("which", overflow="fold")
    for need in report.needs:
        table.add_row(need.what, _SIGNS[need.is_met], escape(need.said))
    console().print(table)
