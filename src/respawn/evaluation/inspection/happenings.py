"""What a run was warned of, and what it left behind for whoever looks into it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from respawn.runs.layout import RunFolder
from respawn.runs.reader import TimedEvent

HINT = "hint"
"""The level of groups of hints; their kind is hint and the rule's name."""
OPEN_ENDED_HINTS = frozenset({"hint no-episode-ended", "hint endless-progress"})
"""These say that episodes do not end, ..."""
FORWARD_HINTS = frozenset({"hint no-progress"})
"""... and this that nothing moves forward."""
_LEVELS = ("error", "warning", HINT)


@dataclass
class Group:
    """All warnings, errors or hints of one kind."""

    kind: str
    """the event's, or hint and the rule's name"""
    level: str
    count: int
    first_time: str
    last_time: str
    message: str
    """the newest"""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """the newest's"""
    since_resumed: int = 0
    """how many of them came since the run was last resumed, by their place: clocks are set back"""


@dataclass(frozen=True)
class Resumed:
    """One time that the run was taken up again."""

    time: str
    """ISO-8601 UTC"""
    update: int | None
    """where it went on; None: at its beginning"""


@dataclass(frozen=True)
class Happenings:
    """What events say."""

    groups: tuple[Group, ...]
    """errors first, then warnings, then hints; of each the newest first"""
    resumed: tuple[Resumed, ...]
    """oldest first"""
    clock_went_back: bool = False
    """something that came after the last resume says an earlier time than it"""
    scripts: Mapping[str, int] = field(default_factory=dict)
    """how often each kind of script, such as a bootstrap, began to force actions"""

    def of_kind(self, kind: str) -> Group | None:
        """The group of a kind, if there is one."""
        return next((group for group in self.groups if group.kind == kind), None)

    def is_past(self, group: Group) -> bool:
        """Whether nothing of the kind came since the run was last resumed."""
        return bool(self.resumed) and group.since_resumed == 0


def sort_events(events: Iterable[TimedEvent]) -> Happenings:
    """Group events by kind."""
    groups: dict[str, Group] = {}
    resumed: list[Resumed] = []
    went_back = False
    scripts: Counter[str] = Counter()
    for timed in events:
        event, is_hint = timed.event, timed.event.kind == "hint"
        if event.kind == "resumed":
            update = event.facts.get("update")
            resumed.append(Resumed(timed.time, update if isinstance(update, int) else None))
            went_back = False
            for group in groups.values():
                group.since_resumed = 0
        went_back |= bool(resumed) and timed.time < resumed[-1].time  # times of one zone compare as text
        if event.kind == "script_begins":
            scripts[str(event.facts.get("reason"))] += 1
        if event.level == "info" and not is_hint:
            continue
        name = f"hint {event.facts.get('rule', '')}".strip() if is_hint else event.kind
        group = groups.setdefault(name, Group(name, HINT if is_hint else event.level, 0, timed.time, "", ""))
        groups[name] = groups.pop(name)  # as the newest, at the end
        group.count += 1
        group.since_resumed += 1
        group.last_time, group.message, group.facts = timed.time, " ".join(event.message.split()), dict(event.facts)
    ordered = sorted(reversed(groups.values()), key=lambda group: _LEVELS.index(group.level))
    return Happenings(tuple(ordered), tuple(resumed), went_back, dict(scripts))


@dataclass(frozen=True)
class Evidence:
    """Files that are there only because something happened."""

    traces: tuple[str, ...]
    """stacks of all threads, the newest first"""
    faults: tuple[str, ...]
    """batches that made numbers that are not finite, the newest first"""
    fault_sentence: str
    """what the newest of them says of itself"""
    worker_logs: tuple[str, ...]
    """what worker processes said, where they said anything, the newest first"""
    failure: str | None
    """the traceback of the last failure"""


def find_evidence(folder: RunFolder) -> Evidence:
    """Look for them."""
    faults = _newest_first(folder.faults)
    return Evidence(
        traces=_newest_first(folder.traces),
        faults=faults,
        fault_sentence=_sentence_of(Path(faults[0])) if faults else "",
        worker_logs=_newest_first(folder.workers),
        failure=str(folder.failure) if folder.failure.exists() else None,
    )


def _newest_first(directory: Path) -> tuple[str, ...]:
    """What is in a folder, but for what is empty or not whole yet."""
    if not directory.is_dir():
        return ()
    found = []
    for path in directory.iterdir():
        try:
            stat = path.stat()
        except OSError:
            continue  # it went while we looked
        if not path.name.startswith(".") and (path.is_dir() or stat.st_size):
            found.append((stat.st_mtime, str(path)))
    return tuple(path for _, path in sorted(found, reverse=True))


def _sentence_of(fault: Path) -> str:
    try:
        return str(json.loads((fault / "facts.json").read_text(encoding="utf-8"))["sentence"])
    except (OSError, ValueError, KeyError, TypeError):
        return fault.name
