"""respawn runs summary: what the numbers of runs have been of late."""

import csv
import difflib
import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.markup import escape
from rich.table import Table

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.cli.comparison import by_label
from respawn.cli.result_files import check_result_file, write_result
from respawn.cli.tables import console, fits, fitting, in_blocks, new_table, number
from respawn.errors import ConfigError
from respawn.runs.layout import RunFolder, find
from respawn.runs.summary import WATCHED, MetricSummary, StreamSummary, in_order, summarise

_SHOWN = ("last", "mean", "std", "min", "max")
"""What is dropped where room is short stands last."""
_STATISTICS = ("last", "mean", "std", "min", "max", "count", "not_finite")


@dataclass(frozen=True)
class SummaryArguments:
    """Last value, mean, spread and extremes of metrics over the newest rows.

    Of updates and of evaluations, each for itself.
    """

    names: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN [RUN ...]", help_behavior_hint="(required)")
    ] = ()
    """names of runs, or paths of their folders"""
    tail: int = 100
    """how many of the newest rows of each stream; 0: all"""
    metrics: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME [NAME ...]")] = ()
    """metrics by name, or by pattern such as 'time/*'; none: what is looked at first"""
    csv: Annotated[Path | None, tyro.conf.arg(metavar="FILE.csv")] = None
    """also write the numbers to this file, a line for each run and metric"""
    figure: Annotated[Path | None, tyro.conf.arg(metavar="FILE.png|.svg")] = None
    """also draw the metrics over all decisions, as .png or .svg"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> None:
    """Sum up."""
    arguments = parse(SummaryArguments, words, "respawn runs summary")
    check_at_least(arguments, {"tail": 0})
    if not arguments.names:
        raise ConfigError("'respawn runs summary' wants one run or more, and none came; name one")
    check_result_file("--csv", arguments.csv)
    folders = by_label([find(arguments.runs, name) for name in arguments.names], "respawn runs summary")
    if arguments.figure is not None:
        from respawn.evaluation.plots.figure import check_figure_path

        check_figure_path(arguments.figure)
    summaries = {label: summarise(folder, arguments.tail, arguments.metrics) for label, folder in folders.items()}
    _check_found(folders, summaries, arguments.metrics)
    if arguments.json:
        print(json.dumps({"tail": arguments.tail, "runs": _plain(summaries)}, indent=2))
    else:
        _show(summaries, arguments.metrics)
    if arguments.csv is not None:
        write_csv(arguments.csv, summaries)
    if arguments.figure is not None:
        _draw(folders, summaries, arguments.figure)


def write_csv(path: Path, summaries: Mapping[str, Mapping[str, StreamSummary]]) -> None:
    """Write a line for each run and metric."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "stream", "metric", "first_update", "last_update", "rows", *_STATISTICS])
    for label, streams in summaries.items():
        for stream, summary in streams.items():
            for name, metric in summary.metrics.items():
                span = (summary.first_update, summary.last_update, summary.tail_rows)
                writer.writerow([label, stream, name, *span, *(getattr(metric, each) for each in _STATISTICS)])
    write_result(path, text.getvalue())


def _check_found(
    folders: Mapping[str, RunFolder], summaries: Mapping[str, Mapping[str, StreamSummary]], asked: tuple[str, ...]
) -> None:
    """Say by which names nothing is called; refuse them where nothing is called by any.

    Some are no mistake where others are found: a run that was not judged yet has no evaluations.
    """
    found = {name for streams in summaries.values() for summary in streams.values() for name in summary.metrics}
    missed = [each for each in dict.fromkeys(asked) if not any(fnmatchcase(name, each) for name in found)]
    if not missed:
        return
    sentence = f"no row has a metric called {', '.join(missed)}; {_hint(folders, missed)}"
    if not found:
        raise ConfigError(sentence)
    print(f"respawn: {sentence}", file=sys.stderr)


def _hint(folders: Mapping[str, RunFolder], missed: Sequence[str]) -> str:
    """What may have been meant."""
    everything = {
        name for folder in folders.values() for each in summarise(folder, 1, ["*"]).values() for name in each.metrics
    }
    count = 3 if len(missed) == 1 else 1
    close = dict.fromkeys(name for each in missed for name in difflib.get_close_matches(each, everything, n=count))
    return f"did you mean {' or '.join(close)}?" if close else "--metrics '*' shows all that there are"


def _plain(summaries: Mapping[str, Mapping[str, StreamSummary]]) -> dict[str, Any]:
    """As JSON has it: a number that is not finite is a word, as in the streams themselves."""
    plain: dict[str, Any] = {
        label: {stream: asdict(summary) for stream, summary in streams.items()} for label, streams in summaries.items()
    }
    for streams in plain.values():
        for summary in streams.values():
            for metric in summary["metrics"].values():
                if not math.isfinite(metric["last"]):
                    metric["last"] = str(metric["last"])
    return plain


def _show(summaries: Mapping[str, Mapping[str, StreamSummary]], asked: Sequence[str]) -> None:
    for stream in WATCHED:
        of_runs = {label: streams[stream] for label, streams in summaries.items()}
        told = [f"{label}: {_told(summary)}" for label, summary in of_runs.items()]
        title = f"{stream}, {told[0].partition(': ')[2]}" if len(told) == 1 else f"{stream} ({'; '.join(told)})"
        console().print(title, style="bold", markup=False)
        names = dict.fromkeys(name for summary in of_runs.values() for name in summary.metrics)
        if len(of_runs) == 1 and names:
            _show_one(*of_runs.values())
        elif names:
            _show_several(of_runs, in_order(names, asked or WATCHED[stream]))
        print()


def _told(summary: StreamSummary) -> str:
    if not summary.tail_rows:
        return "no rows"
    if summary.tail_rows == 1:
        return f"row of update {summary.last_update}"
    return f"{summary.tail_rows:,} rows, updates {summary.first_update} to {summary.last_update}"


def _show_one(summary: StreamSummary) -> None:
    """A line for each metric; where room is short, without the extremes, then without the spread."""
    target = console()
    tables = (_by_metric(summary, _SHOWN[:count]) for count in (5, 3, 2))
    target.print(fitting(tables, in_blocks(_in_short(summary).items()), target))


def _by_metric(summary: StreamSummary, columns: Sequence[str]) -> Table:
    table = new_table()
    table.add_column("metric", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for name, metric in summary.metrics.items():
        table.add_row(escape(name) + _flaw(metric), *(number(getattr(metric, column)) for column in columns))
    return table


def _in_short(summary: StreamSummary) -> dict[str, dict[str, str]]:
    return {
        name + _flaw(metric): {"last": number(metric.last), "mean ± std": _spread(metric)}
        for name, metric in summary.metrics.items()
    }


def _show_several(of_runs: Mapping[str, StreamSummary], names: Sequence[str]) -> None:
    """Runs side by side, or where that is too wide, each by itself: nobody sees of whom numbers without a name are."""
    target = console()
    table = _side_by_side(of_runs, names)
    if fits(table, target):
        target.print(table)
        return
    for label, summary in of_runs.items():
        if summary.metrics:
            target.print(f"\n{label}", markup=False)
            _show_one(summary)


def _side_by_side(of_runs: Mapping[str, StreamSummary], names: Sequence[str]) -> Table:
    table = new_table()
    table.add_column("metric", no_wrap=True)
    for label in of_runs:
        table.add_column(f"{escape(label)}: last", justify="right", no_wrap=True)
        table.add_column("mean ± std", justify="right", no_wrap=True)
    for name in names:
        cells = []
        for summary in of_runs.values():
            metric = summary.metrics.get(name)
            cells += ["", ""] if metric is None else [number(metric.last) + _flaw(metric), _spread(metric)]
        table.add_row(escape(name), *cells)
    return table


def _spread(metric: MetricSummary) -> str:
    return "" if metric.mean is None else f"{number(metric.mean)} ± {number(metric.std)}"


def _flaw(metric: MetricSummary) -> str:
    """Said where numbers were left out of the rest, because nobody can compute with them."""
    return f" ({metric.not_finite} not finite)" if metric.not_finite else ""


def _draw(folders: Mapping[str, RunFolder], summaries: Mapping[str, Mapping[str, StreamSummary]], path: Path) -> None:
    # Imported only now: matplotlib takes a second to load.
    from respawn.evaluation.plots.side_by_side import draw_side_by_side

    names = dict.fromkeys(
        name for stream in reversed(WATCHED) for streams in summaries.values() for name in streams[stream].metrics
    )
    draw_side_by_side(folders, list(names), path, "what the numbers were")
