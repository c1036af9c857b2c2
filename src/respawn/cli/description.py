"""What there is to know about a run, read from its folder."""

from collections.abc import Mapping
from typing import Any

from respawn.checkpoints.resumption import check_nothing_is_lost
from respawn.checkpoints.store import Found, find_newest, saved
from respawn.cli.tables import number, print_facts
from respawn.cli.wording import command_for, command_to_go_on
from respawn.errors import RespawnError
from respawn.observers.progress import score_shown
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import RunStatus, read_meta, read_status
from respawn.runs.reader import last_row

_RETURN = "evaluation/return_mean"


def describe(folder: RunFolder) -> dict[str, Any]:
    """What there is to know about a run; the numbers of its newest whole checkpoint are null where it has none."""
    meta, status = read_meta(folder), read_status(folder)
    found, obstacle = _newest(folder)
    checkpoints = [path.name for path in saved(folder.checkpoints)]
    manifest = found.manifest if found is not None else None
    return {
        "name": folder.name,
        "path": str(folder.path),
        "status": status.status,
        "problem": status.problem or None,
        "status_note": _status_note(folder, status),
        "preset": meta.preset,
        "world": meta.world,
        "seed": meta.seed,
        "created": meta.created,
        "updates": manifest.updates if manifest else None,
        "decisions": manifest.decisions if manifest else None,
        "weights_sha256": manifest.weights_sha256 if manifest else None,
        "weights_from": meta.weights_from,
        "checkpoint": found.path.name if found else None,
        "checkpoints": checkpoints,
        "damaged": list(found.passed_over) if found else [obstacle] if checkpoints else [],
        "exact_resume": meta.exact_resume,
        "exact_resume_note": meta.exact_resume_note,
        "last_update": last_row(folder.updates),
        "last_evaluation": last_row(folder.evaluations),
        "best_metric": _best_metric(folder),
        "cause": status.facts.get("cause"),
        "obstacle": obstacle or None,
        "go_on": None if obstacle else _go_on(folder, status, manifest.updates if manifest else 0),
    }


def _newest(folder: RunFolder) -> tuple[Found | None, str]:
    """The newest whole checkpoint, and why the run cannot be resumed for lack of one; empty: it can."""
    try:
        found = find_newest(folder.checkpoints)
        if found is None:
            check_nothing_is_lost(folder)
    except RespawnError as error:
        return None, str(error)
    return found, ""


def return_of_late(described: Mapping[str, Any]) -> float | None:
    """The mean return of the last episodes in training."""
    row: Mapping[str, Any] = described["last_update"] or {}
    return row.get("return/mean")


def evaluation_of_late(described: Mapping[str, Any]) -> str:
    """What the run is judged by, named, in its last evaluation: cleared 95 %, return 500; empty before the first."""
    name = described["best_metric"]
    value = (described["last_evaluation"] or {}).get(name)
    return "" if value is None else f"{metric_word(name)} {score_shown(name, float(value))}"


def metric_word(name: str) -> str:
    """An evaluation's metric in a word, as 'return' for evaluation/return_mean."""
    return name.removeprefix("evaluation/").removesuffix("_mean")


def newest_count(described: Mapping[str, Any], count: str) -> int | None:
    """How many updates or decisions were made: by the newest row, which a run that goes on writes before it saves."""
    row: Mapping[str, Any] = described["last_update"] or {}
    newest: int | None = row.get({"updates": "update"}.get(count, count), described[count])
    return newest


def print_description(described: Mapping[str, Any]) -> None:
    """Show a run to a person."""
    progress = f"{number(described['updates'])} updates, {number(described['decisions'])} decisions"
    going_on = "bit for bit" if described["exact_resume"] else f"not exactly: {described['exact_resume_note']}"
    obstacle = described["obstacle"]
    facts = {
        "status": described["status"] + (f": {described['status_note']}" if described["status_note"] else ""),
        "preset, seed": f"{described['preset']}, {described['seed']}",
        "world": described["world"],
        "created": described["created"],
        "begun with": _begun_with(described["weights_from"]),
        "saved": progress if described["checkpoint"] else "nothing that is whole" if obstacle else "nothing yet",
        "weights": described["weights_sha256"] or "",
        "checkpoints": ", ".join(described["checkpoints"]),
        "damaged": "" if obstacle else "; ".join(described["damaged"]),
        "return": _at(number(return_of_late(described)), described["last_update"], "in training"),
        "evaluation": _at(evaluation_of_late(described), described["last_evaluation"], "when judged"),
        "resumes": going_on,
        "folder": described["path"],
        "go on": described["go_on"] or (f"not by resuming: {obstacle}" if obstacle else ""),
    }
    print_facts(described["name"], facts)


def _begun_with(origin: Mapping[str, Any] | None) -> str:
    """Whose weights it began with; empty: fresh ones."""
    return "" if origin is None else f"weights of {origin['run']} at update {number(origin['updates'])}"


def _at(value: str, row: Mapping[str, Any] | None, when: str) -> str:
    return "" if not value or row is None else f"{value} {when} at update {number(row.get('update'))}"


def _best_metric(folder: RunFolder) -> str:
    """The metric of evaluations that the run's best checkpoint is chosen by; the return where it does not say."""
    checkpoints = read_json_object(folder.config).get("checkpoints")
    return str(checkpoints.get("best_metric", _RETURN)) if isinstance(checkpoints, dict) else _RETURN


def _go_on(folder: RunFolder, status: RunStatus, updates: int) -> str | None:
    if status.status == "running":
        return None
    return command_to_go_on(folder, updates) if status.status == "finished" else command_for("resume", folder)


def _status_note(folder: RunFolder, status: RunStatus) -> str:
    """What a status means for whoever reads it; empty where the word says all."""
    facts = status.facts
    if status.problem:
        return status.problem
    if status.status == "running" and "pid" in facts:
        return f"by process {facts['pid']} on {facts.get('host', 'this machine')}"
    if status.status == "killed":
        return "its process is gone without having ended the run; nothing before the newest checkpoint is lost"
    if status.status == "failed":
        cause = " ".join(str(facts.get("cause", "the cause is not recorded")).split())
        return f"{cause}; the traceback is in {folder.failure}"
    if status.status == "stopped" and "cause" in facts:
        return f"{facts['cause']}; nothing before the newest checkpoint is lost"
    return ""
