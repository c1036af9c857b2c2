"""What a bench leaves behind: CSV for programs, and a Markdown table that names the machine it was measured on."""

import csv
import functools
import io
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import tyro

from respawn.cli.result_files import check_result_file, write_result
from respawn.errors import ConfigError

Rows = Sequence[Mapping[str, Any]]
FileOption: TypeAlias = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]

HEADINGS = {
    "of": "of",
    "mode": "mode",
    "lag": "lag",
    "actors": "actors",
    "num_envs": "lanes",
    "rollout": "steps",
    "threads": "threads",
    "steps_per_sec_mean": "decisions/s",
    "frames_per_sec": "frames/s",
    "updates_per_sec_mean": "updates/s",
    "collect_share": "collect",
    "learn_share": "learn",
    "idle_share": "idle",
    "gpu_util_mean_window": "GPU",
    "replay_fill_final": "replay",
    "spread": "spread",
    "ratio": "ratio",
    "others_cores": "others",
    "error": "error",
}
"""Of a table for people, in their order."""
_WORDS = ("of", "mode", "error")
_SHARES = ("collect_share", "learn_share", "idle_share", "spread", "replay_fill_final")
_COUNTS = ("steps_per_sec_mean", "frames_per_sec")


@dataclass(frozen=True)
class ResultFiles:
    """The files that were asked for, written anew whenever more is known. Refuses those that could not be written.

    Args:
      csv: for programs; None: none.
      markdown: for people; None: none.
      title: what is measured.
      notes: sentences to go under the table.
    """

    csv: Path | None
    markdown: Path | None
    title: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse, before anything is measured for them."""
        for option, path in (("--csv", self.csv), ("--markdown", self.markdown)):
            check_result_file(option, path)
        if self.csv is not None and self.markdown is not None and self.csv.resolve() == self.markdown.resolve():
            raise ConfigError(f"--csv and --markdown want a file each, and both are {self.csv}; name another")

    @property
    def paths(self) -> list[Path]:
        """All of them."""
        return [path for path in (self.csv, self.markdown) if path is not None]

    def write(self, rows: Rows) -> dict[Path, OSError]:
        """All rows; whoever reads meanwhile finds the file before or after, and nothing in between.

        Answers with the files that could not be written: a full disk is no reason to lose what is measured.
        """
        unwritten = {}
        for path in self.paths:
            text = csv_text(rows) if path == self.csv else markdown_text(self.title, rows, self.notes)
            try:
                write_result(path, text)
            except OSError as error:
                unwritten[path] = error
        return unwritten


def csv_text(rows: Rows) -> str:
    """All rows, and all columns that benches share; what is not known is empty."""
    from respawn.training.bench_summary import COLUMNS

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_exact(row.get(name)) for name in COLUMNS])
    return text.getvalue()


def markdown_text(title: str, rows: Rows, notes: Sequence[str] = ()) -> str:
    """A table for people, and what is needed to measure it again.

    Args:
      title: what was measured.
      rows: all of them.
      notes: sentences to go under the table.
    """
    columns = used_columns(rows)
    lines = [f"# {title}", "", *_about(), ""]
    lines += [_line(HEADINGS[name] for name in columns), _line("---" if name in _WORDS else "---:" for name in columns)]
    lines += [_line(shown(name, row.get(name)) for name in columns) for row in rows]
    for note in (*notes, *others_told(rows)):
        lines += ["", note]
    return "\n".join(lines) + "\n"


def used_columns(rows: Rows) -> list[str]:
    """Those of HEADINGS of which some row knows something."""
    return [name for name in HEADINGS if any(row.get(name) not in (None, "") for row in rows)]


def others_told(rows: Rows) -> list[str]:
    """A sentence, where others were at work meanwhile."""
    from respawn.training.bench_watch import QUIET_CORES

    most = max((row.get("others_cores") or 0.0 for row in rows), default=0.0)
    if most <= QUIET_CORES:
        return []
    return [
        f"Measured beside other work: others kept up to {most:.1f} cores busy meanwhile. All took turns and met it "
        "alike, but rates would be higher without it, and whoever uses several cores would gain most."
    ]


@functools.cache
def provenance() -> dict[str, Any]:
    """Where, by what and from which commit something is measured by this process, as plain data."""
    from respawn.runs.metadata import describe_machine, git_commit

    machine = describe_machine()
    del machine["host"], machine["os"]  # nothing depends on the one, and little on the other
    return {
        "machine": machine,
        "command": called_by(sys.argv),
        "commit": git_commit(Path(__file__).parent) or git_commit(Path.cwd()),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _about() -> list[str]:
    """The machine, the versions, the command, the commit and the date, a line each."""
    known = provenance()
    machine = known["machine"]
    hardware = [*machine["gpus"], machine["cpu"], f"{machine['cores']} cores", f"{machine['memory_gib']:g} GiB"]
    versions = [f"Python {machine['python']}", *(f"{name} {machine[name]}" for name in ("torch", "numpy"))]
    return [
        f"- machine: {', '.join(hardware)}",
        f"- versions: {', '.join(versions)}",
        f"- command: `{known['command']}`",
        f"- commit: {known['commit'] or 'unknown'}",
        f"- date: {known['date']}",
    ]


def called_by(words: Sequence[str]) -> str:
    """A command line as it would be typed to measure again: without where the results went.

    Args:
      words: of a process, its program first.
    """
    kept = ["respawn"]
    is_place = False
    for word in words[1:]:
        name, equals, _ = word.partition("=")
        if name in ("--csv", "--markdown"):
            is_place = not equals
        elif is_place:
            is_place = False
        elif word != "--json":
            kept.append(word)
    return shlex.join(kept)


def shown(name: str, value: Any) -> str:
    """A value for people."""
    if value is None or value == "":
        return ""
    if name in _SHARES:
        return f"{100 * value:.0f} %"
    if name == "gpu_util_mean_window":
        return f"{value:.0f} %"
    if name in _COUNTS:
        return f"{value:,.0f}"
    if name == "ratio":
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    if name == "others_cores":
        return f"{value:.1f}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value).replace("|", "/") if isinstance(value, str) else f"{value:,}"


def _exact(value: Any) -> Any:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
