"""What differs between runs: settings and results."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from rich.markup import escape
from rich.table import Table

from respawn.cli.description import describe, metric_word, newest_count, return_of_late
from respawn.cli.tables import console, fitting, in_blocks, new_table, number
from respawn.errors import ConfigError
from respawn.observers.progress import score_shown
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder

_Part: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""Lines of a comparison: what it is about, and a cell for each run."""

_ABSENT = "-"
_EVALUATION = "evaluation/"
_DIGITS_OF_A_SHA = 12
"""As many as git shows: enough to see whether two are the same."""
_WIDEST_VALUES = (20, _DIGITS_OF_A_SHA)
"""What values and the names of runs are wrapped to where room is short; no number is longer."""
_LABELS = {
    "return/mean": "return",
    "time/total_seconds": "seconds",
    "weights_sha256": "weights",
}


def compare(folders: Sequence[RunFolder]) -> dict[str, Any]:
    """The settings that differ and the results of each run, by the runs' names (or paths, where names are the same)."""
    labelled = by_label(folders, "respawn runs compare")
    settings = {label: flat(read_json_object(folder.config)) for label, folder in labelled.items()}
    names = dict.fromkeys(name for run in settings.values() for name in run)
    differing = {
        name: {label: values[name] for label, values in settings.items() if name in values}
        for name in names
        if len({json.dumps(values.get(name, _ABSENT)) for values in settings.values()}) > 1
    }
    runs = {label: describe(folder) for label, folder in labelled.items()}
    judged_by = tuple(dict.fromkeys(run["best_metric"] for run in runs.values()))
    return {"settings": differing, "results": {label: _results(run, judged_by) for label, run in runs.items()}}


def by_label(folders: Sequence[RunFolder], command: str) -> dict[str, RunFolder]:
    """Different runs by their names, or by their paths where names are the same."""
    if len({folder.path.resolve() for folder in folders}) < len(folders):
        raise ConfigError(f"'{command}' wants different runs, and one came twice; leave it out")
    same_names = len({folder.name for folder in folders}) < len(folders)
    return {str(folder.path) if same_names else folder.name: folder for folder in folders}


def show_comparison(comparison: Mapping[str, Any]) -> None:
    """Show a comparison to a person: what was set above, what came of it below."""
    results: Mapping[str, Mapping[str, Any]] = comparison["results"]
    labels, target = list(results), console()
    settings = [
        (f"--{name.replace('_', '-')}", [_cell(values.get(label, _ABSENT)) for label in labels])
        for name, values in comparison["settings"].items()
    ] or [("all settings", ["the same" for _ in labels])]
    came = [
        (_result_label(name), [_result_cell(name, results[label][name]) for label in labels])
        for name in results[labels[0]]
    ]
    tables = (_side_by_side((settings, came), labels, widest) for widest in (None, *_WIDEST_VALUES))
    each = [(name, dict(zip(labels, map(escape, cells), strict=True))) for name, cells in (*settings, *came)]
    target.print(fitting(tables, in_blocks((name, cells) for name, cells in each if any(cells.values())), target))


def _side_by_side(parts: Sequence[_Part], labels: Sequence[str], widest: int | None) -> Table:
    """A column for each run, as wide as its values are, `widest` at most; None: nothing is wrapped."""
    columns = zip(*(cells for part in parts for _, cells in part), strict=True)
    widths = [None if widest is None else min(widest, max(map(len, cells))) for cells in columns]
    table = new_table()
    table.add_column("", no_wrap=True)
    for label in _wrapped(labels, widths):
        table.add_column(label, justify="right", no_wrap=True)
    for part in parts:
        table.add_section()
        for name, cells in part:
            table.add_row(escape(name), *_wrapped(cells, widths))
    return table


def _wrapped(texts: Sequence[str], widths: Sequence[int | None]) -> list[str]:
    """As markup, each in lines of its width."""
    pairs = zip(texts, widths, strict=True)
    return [escape(text if width is None else "\n".join(textwrap.wrap(text, width))) for text, width in pairs]


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level, with dots between the levels as on the command line."""
    result: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            result.update(flat(value, f"{prefix}{name}."))
        else:
            result[f"{prefix}{name}"] = value
    return result


def _results(described: Mapping[str, Any], judged_by: Sequence[str]) -> dict[str, Any]:
    """What came of a run; of its last evaluation what any of the runs compared is judged by."""
    return {
        "status": described["status"],
        "updates": newest_count(described, "updates"),
        "decisions": newest_count(described, "decisions"),
        "return/mean": return_of_late(described),
        **{name: (described["last_evaluation"] or {}).get(name) for name in judged_by},
        "time/total_seconds": (described["last_update"] or {}).get("time/total_seconds"),
        "weights_sha256": described["weights_sha256"],
    }


def _result_label(name: str) -> str:
    if name.startswith(_EVALUATION):
        return f"evaluation, {metric_word(name)}"
    return _LABELS.get(name, name)


def _result_cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name.startswith(_EVALUATION):
        return score_shown(name, float(value))
    return str(value)[:_DIGITS_OF_A_SHA] if name == "weights_sha256" else number(value)


def _cell(value: Any) -> str:
    """A setting as it would be typed."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return " ".join(str(item) for item in value) or "none"
    return number(value) if isinstance(value, bool | float) else str(value)
