"""respawn runs compare: what differs between runs."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import RunsDirectory, parse
from respawn.cli.comparison import by_label, compare, show_comparison
from respawn.cli.result_files import check_result_file, write_result
from respawn.errors import ConfigError
from respawn.runs.layout import find

_COMMAND = "respawn runs compare"
_TRAINING = "return/mean"


@dataclass(frozen=True)
class CompareArguments:
    """What differs between runs: settings and results."""

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="RUN RUN [RUN ...]", help_behavior_hint="(required)"),
    ] = ()
    """names of two or more runs, or paths of their folders"""
    csv: Annotated[Path | None, tyro.conf.arg(metavar="FILE.csv")] = None
    """also write the table to this file, with a column for each run and nothing shortened"""
    figure: Annotated[Path | None, tyro.conf.arg(metavar="FILE.png|.svg")] = None
    """also draw the runs' learning curves into one picture, as .png or .svg"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> None:
    """Compare."""
    arguments = parse(CompareArguments, words, _COMMAND)
    if len(arguments.names) < 2:
        came = f"only '{arguments.names[0]}'" if arguments.names else "nothing"
        raise ConfigError(f"'{_COMMAND}' wants two or more runs, and {came} came; name another")
    check_result_file("--csv", arguments.csv)
    folders = [find(arguments.runs, name) for name in arguments.names]
    if arguments.figure is not None:
        from respawn.evaluation.plots.figure import check_figure_path

        check_figure_path(arguments.figure)
    comparison = compare(folders)
    if arguments.json:
        print(json.dumps(comparison, indent=2))
    else:
        show_comparison(comparison)
    if arguments.csv is not None:
        write_result(arguments.csv, as_csv(comparison))
    if arguments.figure is not None:
        # Imported only now: matplotlib takes a second to load.
        from respawn.evaluation.plots.side_by_side import draw_side_by_side

        judged = [name for name in next(iter(comparison["results"].values())) if name.startswith("evaluation/")]
        draw_side_by_side(by_label(folders, _COMMAND), [*judged, _TRAINING], arguments.figure, "how the runs learned")


def as_csv(comparison: Mapping[str, Any]) -> str:
    """The comparison as lines: settings that differ, then results; a cell that holds more than a word is JSON."""
    results: Mapping[str, Mapping[str, Any]] = comparison["results"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["what", "name", *results])
    for name, values in comparison["settings"].items():
        writer.writerow(["setting", name, *(_cell(values[label]) if label in values else "" for label in results)])
    for name in next(iter(results.values())):
        writer.writerow(["result", name, *(_cell(results[label][name]) for label in results)])
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)
