"""respawn runs export: whole streams as files for other programs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.markup import escape

from respawn.cli.arguments import RunName, RunsDirectory, parse
from respawn.cli.progress import Tell, progress_bar
from respawn.cli.result_files import run_around
from respawn.cli.tables import console, new_table, number
from respawn.errors import ConfigError, RunFolderError
from respawn.runs.export import Exported, Format, export_stream
from respawn.runs.layout import RunFolder, find
from respawn.runs.streams import STREAMS

_COMMAND = "respawn runs export"


@dataclass(frozen=True)
class ExportArguments:
    """Write a run's streams to files for other programs, archives included."""

    run: RunName
    """name of the run, or path of its folder"""
    to: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(required)")] = None
    """the folder that the files are written to; it is made where it is not there"""
    format: Format = "parquet"
    """of the files: parquet and csv have a column for each metric, jsonl the rows as they are"""
    streams: Annotated[tuple[str, ...], tyro.conf.arg(metavar="STREAM [STREAM ...]")] = ()
    """which of updates, episodes, evaluations, probes, rulings, events, heartbeats, resources; none: all"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> None:
    """Export."""
    arguments = parse(ExportArguments, words, _COMMAND)
    unknown = [name for name in arguments.streams if name not in STREAMS]
    if unknown:
        raise ConfigError(f"--streams wants some of {', '.join(STREAMS)}, and {unknown[0]!r} came; name one of those")
    if arguments.to is None:
        raise ConfigError(f"'{_COMMAND}' wants --to DIR, the folder that the files are written to; name one")
    folder = find(arguments.runs, arguments.run)
    chosen = [name for name in STREAMS if not arguments.streams or name in arguments.streams]
    _make_place(folder, arguments.to)
    exported = []
    with progress_bar() as tell:
        for done, stream in enumerate(chosen):
            told = _as_part(tell, done, len(chosen))
            exported.append(export_stream(folder, stream, arguments.to, arguments.format, told))
    if arguments.json:
        rows = [{**asdict(each), "path": str(each.path) if each.path else None} for each in exported]
        print(json.dumps({"run": folder.name, "streams": rows}, indent=2))
    else:
        _show(exported)


def _as_part(tell: Tell, done: int, of: int) -> Tell:
    """Tell of one stream as a part of all."""
    return lambda doing, share: tell(doing, (done + share) / of)


def _make_place(folder: RunFolder, to: Path) -> None:
    """Make the folder; in that of a run, streams would be replaced by the export."""
    taken = run_around(to)
    if taken is not None:
        whose = "the run's own" if taken.path == folder.path.resolve() else f"that of the run {taken.name}"
        raise ConfigError(f"--to wants a folder for the export, and {to} is {whose}, or in it; name one beside it")
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{to} cannot be made ({error.strerror}); name another folder with --to") from error


def _show(exported: list[Exported]) -> None:
    table = new_table()
    table.add_column("stream", no_wrap=True)
    for name in ("rows", "columns"):
        table.add_column(name, justify="right")
    table.add_column("file", overflow="fold")
    for each in exported:
        path = "-" if each.path is None else escape(str(each.path))
        table.add_row(each.stream, number(each.rows), number(each.columns), path)
    console().print(table)
