"""The JSON encoding of every record, in both directions: the one place that knows what a row looks like.

Numbers keep every bit (Python writes the shortest decimal that reads back the same). JSON has no word for numbers that
are not finite: a metric that is one becomes the string "nan", "inf" or "-inf"; an event's fact becomes
`{"float": "nan"}`, since a fact may also be a string.

Each row says in `row` of what kind it is, so that rows of several streams can be told apart wherever they are brought
together. Rows of older runs lack it: there the file alone says it.
"""

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast

from respawn.contracts.records import (
    Beat,
    Episode,
    EpisodeReport,
    EvaluationReport,
    Event,
    Probe,
    Record,
    ResourceReport,
    Ruling,
    UpdateReport,
)
from respawn.errors import ObserverError

Row: TypeAlias = dict[str, Any]
R = TypeVar("R", bound=Record)

ROW = "row"
"""The column that says of what kind a row is."""

KINDS: Mapping[type, str] = {
    UpdateReport: "update",
    EpisodeReport: "episode",
    EvaluationReport: "evaluation",
    Probe: "probe",
    Ruling: "ruling",
    Event: "event",
    Beat: "beat",
    ResourceReport: "resources",
}
"""What a row of each record is called."""

_OWN = frozenset({ROW, "time"})
"""Columns that no record has."""

_ENCODER = json.JSONEncoder(allow_nan=False)  # made once: making one takes as long as a short row

_LEVELS: dict[str, Literal["info", "warning", "error"]] = {"info": "info", "warning": "warning", "error": "error"}


def to_row(record: Record) -> Row:
    """A record as plain data that JSON can hold."""
    return {ROW: KINDS[type(record)], **_columns(record)}


def _columns(record: Record) -> Row:
    match record:
        case UpdateReport(update, decisions, frames, episodes, metrics):
            counters = {"update": int(update), "decisions": int(decisions)}
            return _with_metrics({**counters, "frames": int(frames), "episodes": int(episodes)}, metrics)
        case EvaluationReport(update, decisions, metrics, _):
            return _with_metrics({"update": int(update), "decisions": int(decisions)}, metrics)
        case EpisodeReport(update, Episode(lane, episode_return, length, end, facts)):
            row: Row = {"update": int(update), "lane": int(lane), "episode_return": _number(episode_return)}
            row |= {"length": int(length), "end": end}
            return {**row, "facts": _facts(facts)} if facts else row
        case Probe(update, decisions, facts):
            return {"update": int(update), "decisions": int(decisions), "facts": _plain(facts)}
        case Ruling(update, schedule, facts):
            return {"update": int(update), "schedule": schedule, "facts": _plain(facts)}
        case Beat(update, decisions, phases, is_stalled, metrics):
            counters = {"update": int(update), "decisions": int(decisions)}
            return _with_metrics({**counters, "phases": dict(phases), "is_stalled": is_stalled}, metrics)
        case ResourceReport(update, decisions, metrics):
            return _with_metrics({"update": int(update), "decisions": int(decisions)}, metrics)
        case Event(kind, message, level, facts):
            return {"kind": kind, "level": level, "message": message, "facts": _facts(facts)}


def from_row(kind: type[R], row: Mapping[str, Any]) -> R:
    """The record that `to_row` made `row` from; ValueError, KeyError or TypeError if it made no such thing."""
    called = row.get(ROW, KINDS[kind])
    if called != KINDS[kind]:
        raise ValueError(f"it is a row of kind {called!r}")
    record: Record = _DECODERS[kind](row)
    return cast(R, record)


def to_line(row: Row) -> bytes:
    """One line of a .jsonl file."""
    return _ENCODER.encode(row).encode("ascii") + b"\n"


def _with_metrics(counters: Row, metrics: Mapping[str, float]) -> Row:
    row = {**counters, **{name: _number(value) for name, value in metrics.items()}}
    if len(row) != len(counters) + len(metrics):
        raise ObserverError(f"a metric is called like one of {', '.join(counters)}; names are 'group/name'")
    return row


def _metrics(row: Mapping[str, Any], counters: Collection[str]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name not in counters and name not in _OWN}


def _number(value: float) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _facts(facts: Mapping[str, str | int | float | bool | None]) -> Row:
    return {
        name: {"float": str(value)} if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in facts.items()
    }


def _plain(facts: Any) -> Any:
    """Nested data with a null where a number is not finite: nobody is to compute with it."""
    if isinstance(facts, Mapping):
        return {str(name): _plain(fact) for name, fact in facts.items()}
    if isinstance(facts, list | tuple):
        return [_plain(fact) for fact in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def _probe(row: Mapping[str, Any]) -> Probe:
    return Probe(int(row["update"]), int(row["decisions"]), row["facts"])


def _ruling(row: Mapping[str, Any]) -> Ruling:
    return Ruling(int(row["update"]), str(row["schedule"]), row["facts"])


def _update(row: Mapping[str, Any]) -> UpdateReport:
    counters = {name: int(row[name]) for name in ("update", "decisions", "frames", "episodes")}
    return UpdateReport(**counters, metrics=_metrics(row, counters))


def _evaluation(row: Mapping[str, Any]) -> EvaluationReport:
    counters = {name: int(row[name]) for name in ("update", "decisions")}
    return EvaluationReport(counters["update"], counters["decisions"], _metrics(row, counters))


def _episode(row: Mapping[str, Any]) -> EpisodeReport:
    facts = {
        name: float(fact["float"]) if isinstance(fact, dict) else fact for name, fact in row.get("facts", {}).items()
    }
    episode = Episode(int(row["lane"]), float(row["episode_return"]), int(row["length"]), str(row["end"]), facts)
    return EpisodeReport(int(row["update"]), episode)


def _beat(row: Mapping[str, Any]) -> Beat:
    counters = {name: int(row[name]) for name in ("update", "decisions")}
    metrics = _metrics(row, {*counters, "phases", "is_stalled"})
    return Beat(**counters, phases=row["phases"], is_stalled=bool(row["is_stalled"]), metrics=metrics)


def _resources(row: Mapping[str, Any]) -> ResourceReport:
    counters = {name: int(row[name]) for name in ("update", "decisions")}
    return ResourceReport(**counters, metrics=_metrics(row, counters))


def _event(row: Mapping[str, Any]) -> Event:
    facts = {name: float(fact["float"]) if isinstance(fact, dict) else fact for name, fact in row["facts"].items()}
    return Event(kind=str(row["kind"]), message=str(row["message"]), level=_LEVELS[row["level"]], facts=facts)


_DECODERS: dict[type, Callable[[Mapping[str, Any]], Record]] = {
    UpdateReport: _update,
    EvaluationReport: _evaluation,
    EpisodeReport: _episode,
    Probe: _probe,
    Ruling: _ruling,
    Event: _event,
    Beat: _beat,
    ResourceReport: _resources,
}
