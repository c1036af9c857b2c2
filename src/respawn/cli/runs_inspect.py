"""respawn runs inspect: what went wrong with a run, and what to do about it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from respawn.cli.arguments import RunName, RunsDirectory, parse
from respawn.cli.begin_anew import words_to_begin_anew
from respawn.cli.tables import console, new_table, number, print_facts
from respawn.cli.wording import command_for
from respawn.evaluation.inspection.finding import Finding
from respawn.evaluation.inspection.findings import findings
from respawn.evaluation.inspection.inspect import INSPECTED_ROWS, Inspection, find_even_damaged, inspect
from respawn.evaluation.inspection.keeping import Keeping
from respawn.evaluation.inspection.life import Life
from respawn.evaluation.inspection.pace import Pace
from respawn.evaluation.inspection.spans import span
from respawn.runs.disk import room_told

_STYLES = {"bad": "red", "error": "red", "warning": "yellow", "hint": "cyan", "note": "dim"}
_MOST_GROUPS = 12
_MOST_FILES = 3
_TOLD_APART = frozenset({"disk_free_gib"})
"""What has a line of its own."""


@dataclass(frozen=True)
class InspectArguments:
    """What went wrong with a run, and what to do about it.

    It may be going on, and its files may be damaged; nothing in it is changed.
    """

    run: RunName
    """name of the run, or path of its folder"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    all: bool = False
    """look at all rows; without it archives are left out where the newest files of a stream hold 50,000 rows"""
    json: bool = False
    """print JSON instead of tables"""


def main(words: list[str]) -> None:
    """Inspect."""
    arguments = parse(InspectArguments, words, "respawn runs inspect")
    folder = find_even_damaged(arguments.runs, arguments.run)
    # Imported only now: torch takes seconds to load, and a mistake should be told at once.
    from respawn.training.surroundings import surroundings_of

    rows = None if arguments.all else INSPECTED_ROWS
    seen = inspect(folder, around=surroundings_of(folder), rows=rows)
    anew = words_to_begin_anew(folder) if seen.keeping.refusal else ""
    found = findings(seen, command_for("resume", folder), anew)
    if arguments.json:
        print(json.dumps(as_json(seen, found), indent=2))
    else:
        _show(seen, found)


def as_json(seen: Inspection, found: Sequence[Finding]) -> dict[str, Any]:
    """The inspection as plain data."""
    return {
        "name": seen.folder.name,
        "path": str(seen.folder.path),
        "findings": [asdict(finding) for finding in found],
        "life": _finite(asdict(seen.life)),
        "checkpoints": asdict(seen.keeping),
        "pace": _finite(asdict(seen.pace)),
        "resources": asdict(seen.wear),
        "events": _finite(asdict(seen.happenings)),
        "evidence": asdict(seen.evidence),
        "problems": list(seen.problems),
    }


def _finite(value: Any) -> Any:
    """The same without numbers that JSON has no word for."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    is_odd = isinstance(value, float) and (value != value or abs(value) == float("inf"))
    return str(value) if is_odd else value


def _show(seen: Inspection, found: Sequence[Finding]) -> None:
    target = console()
    target.print(f"{seen.folder.name}: {seen.life.status}", style="bold", markup=False)
    for finding in found:
        style = _STYLES[finding.severity]
        target.print(f"[{style}]{finding.severity:<8}[/]{escape(finding.sentence)}", soft_wrap=True)
        target.print(f"        → {finding.action}", soft_wrap=True, markup=False)
    print()
    print_facts("what was looked at", _facts(seen))
    _show_groups(seen)


def _facts(seen: Inspection) -> dict[str, str]:
    pace, keeping, evidence = seen.pace, seen.keeping, seen.evidence
    return {
        "process": _process(seen.life),
        "last signs": _signs(seen),
        "doing": _doing(seen.life),
        "at": f"update {number(seen.life.last_update)}, {number(seen.life.last_decisions)} decisions"
        if seen.life.last_update is not None
        else "no update yet",
        "speed": _speed(seen),
        "time goes to": ", ".join(f"{name} {share:.0%}" for name, share in pace.shares.items()),
        "learning": _learning(seen),
        "checkpoints": _checkpoints(keeping),
        "resources": _resources(seen),
        "disk": f"{room_told(seen.wear.disk_free_gib)} free ({seen.wear.disk_free_share:.0%})",
        "resumed": _resumed(seen),
        "scripts": ", ".join(f"{reason} {_times(count)}" for reason, count in seen.happenings.scripts.items()),
        "traces": _files(evidence.traces),
        "faults": _files(evidence.faults),
        "failure": evidence.failure or "",
        "folder": str(seen.folder.path),
    }


def _process(life: Life) -> str:
    if not life.is_alive:
        return ""
    state = f", {life.process_state}" if life.process_state else ""
    return "unknown" if life.pid is None else f"{life.pid} on {life.host}{state}"


def _resumed(seen: Inspection) -> str:
    resumed = seen.happenings.resumed
    if not resumed:
        return ""
    where = f" at update {number(resumed[-1].update)}" if resumed[-1].update is not None else ""
    return _times(len(resumed)) + (", last" if len(resumed) > 1 else "") + where


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _doing(life: Life) -> str:
    """As of the last beat: what is shorter is nowhere written down."""
    if not life.is_alive or life.beat is None:
        return ""
    phases = "; ".join(f"{thread}: {phase}" for thread, phase in life.beat.phases.items())
    return f"{phases} ({span(life.ages_seconds['beat'] or 0.0)} ago)" if phases else ""


def _signs(seen: Inspection) -> str:
    ages = {**seen.life.ages_seconds, "checkpoint": seen.keeping.newest_age_seconds}
    return ", ".join(f"{name} {span(age)} ago" for name, age in ages.items() if age is not None)


def _speed(seen: Inspection) -> str:
    pace = seen.pace
    if pace.now_per_second is None:
        return ""
    before = f", {pace.before_per_second:,.0f} before" if pace.before_per_second is not None else ""
    return f"{pace.now_per_second:,.0f} decisions a second now{before}"


def _learning(seen: Inspection) -> str:
    pace = seen.pace
    said = []
    if pace.first_episode_update is not None:
        said.append(f"first episode ended {_when(pace.first_episode_update, pace)}")
    if pace.first_progress_update is not None:
        of_late = f"{pace.progress_metric}, {number(pace.progress_now)} of late"
        said.append(f"first progress {_when(pace.first_progress_update, pace)} ({of_late})")
    if pace.return_now is not None and pace.return_best is not None:
        said.append(f"return {number(pace.return_now)} now, {number(pace.return_best)} at best")
    return ", ".join(said)


def _when(update: int, pace: Pace) -> str:
    """Of what the oldest row that was looked at says, nobody knows how much older it is."""
    is_known = update == 1 or update != pace.first_row_update
    return f"{'in' if is_known else 'by'} update {number(update)}"


def _checkpoints(keeping: Keeping) -> str:
    newest = f", the newest {keeping.whole[-1]}" if keeping.whole else ""
    others = {"damaged": [*keeping.damaged, *keeping.set_aside], "unusable": list(keeping.unusable)}
    return f"{len(keeping.whole)} whole{newest}" + "".join(
        f"; {what}: {', '.join(names)}" for what, names in others.items() if names
    )


def _resources(seen: Inspection) -> str:
    trends = [(name, trend) for name, trend in seen.wear.trends.items() if name not in _TOLD_APART]
    told = ", ".join(f"{name.replace('_', ' ')} {t.first:,.4g} → {t.last:,.4g}" for name, t in trends)
    return f"{told} (in {span(3600 * seen.wear.hours)})" if told else ""


def _files(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _MOST_FILES} more" if len(paths) > _MOST_FILES else ""
    return ", ".join(paths[:_MOST_FILES]) + more


def _show_groups(seen: Inspection) -> None:
    groups = [group for group in seen.happenings.groups if group.kind != seen.life.status]
    if not groups:
        return
    table = new_table()
    for name in ("event", "level", "last"):
        table.add_column(name, no_wrap=True)
    table.add_column("times", justify="right")
    table.add_column("newest message", overflow="fold")
    for group in groups[:_MOST_GROUPS]:
        style = _STYLES.get(group.level, "default")
        last = group.last_time[:19].replace("T", " ")
        table.add_row(
            escape(group.kind),
            f"[{style}]{escape(group.level)}[/]",
            escape(last),
            number(group.count),
            escape(group.message),
        )
    print()
    console().print(table)
    if len(groups) > _MOST_GROUPS:
        command = f"{command_for('runs', seen.folder, 'inspect')} --json"
        print(f"and {len(groups) - _MOST_GROUPS} more kinds: {command}")
