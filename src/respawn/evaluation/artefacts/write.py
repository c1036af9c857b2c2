"""All artefacts of a run, made anew from its folder."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from respawn.evaluation.artefacts.event_files import write_event_files
from respawn.evaluation.artefacts.probe_rows import cluster_rows, gate_rows, history_rows, pre_roll_rows
from respawn.evaluation.artefacts.probe_views import ProbeView, all_step_one_deaths, probe_views
from respawn.evaluation.artefacts.trace import schedule_trace, trace_rows, training_stats
from respawn.evaluation.out_files import prepare_place, written_aside
from respawn.evaluation.run_record import GATE, RunRecord, iso_time, read_record
from respawn.evaluation.step_one_statistics import stage_summary, worst_seeds
from respawn.runs.json_files import write_json_atomically
from respawn.runs.layout import RunFolder

FOLDER = "artefacts"
TENSORBOARD = "tb_logs"

_NO_PROBES = "no probe has been made yet"


@dataclass
class WrittenArtefacts:
    """What was written, and what was not."""

    paths: list[Path] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """by the file's name: why"""


def artefacts_folder(folder: RunFolder) -> Path:
    """Where a run's artefacts are."""
    return folder.path / FOLDER


def write_artefacts(
    folder: RunFolder, *, record: RunRecord | None = None, tell: Callable[[str, float], None] = lambda doing, part: None
) -> WrittenArtefacts:
    """Write everything that the run's rows allow, each file whole; a second time replaces, and never appends.

    The same rows make the same bytes: times in the files are those of the run's updates.

    Args:
      folder: the run, which may be going on.
      record: what was read from it, if it was already.
      tell: is told what is being done, and which part of all is done.
    """
    record = read_record(folder) if record is None else record
    written, place = WrittenArtefacts(), artefacts_folder(folder)
    if not record.updates:
        written.left_out[FOLDER] = "no update has been made yet"
        return written
    probes = probe_views(record)
    rows = trace_rows(record, probes)
    made = iso_time(record.times.get(record.updates[-1].update))
    documents = {
        "schedule_trace.json": _trace_document(record, rows, made),
        "training_stats.json": {"generated_at": made, "run_name": record.name, **training_stats(rows)},
        **(_probe_documents(record, probes, made) if probes else {}),
    }
    streams = {
        "eval_multi_history.jsonl": history_rows(record, probes),
        "penalty_stage_debug.jsonl": gate_rows(record, probes),
        "pre_roll_stats.jsonl": pre_roll_rows(record, probes),
        "step_one_clusters.jsonl": cluster_rows(record, probes),
    }
    steps = len(documents) + len(streams) + 1
    for name, document in documents.items():
        tell(f"writing {name}", len(written.paths) / steps)
        prepare_place(place / name)
        write_json_atomically(place / name, document)
        written.paths.append(place / name)
    for name, lines in streams.items():
        tell(f"writing {name}", len(written.paths) / steps)
        if lines:
            _write_lines(place / name, lines)
            written.paths.append(place / name)
        else:
            (place / name).unlink(missing_ok=True)  # of a run that was set back to before its first
            written.left_out[name] = _why_without(name, record)
    for name in () if probes else ("step_one_worst_seeds.json", "step_one_stage_summary.json", "death_stats.json"):
        (place / name).unlink(missing_ok=True)
        written.left_out[name] = _NO_PROBES
    tell(f"writing {TENSORBOARD}", 1 - 1 / steps)
    written.paths += write_event_files(place / TENSORBOARD, record, rows, probes)
    return written


def _trace_document(record: RunRecord, rows: Sequence[Mapping[str, Any]], made: str | None) -> dict[str, Any]:
    document = {"generated_at": made, "run_name": record.name, "trace": schedule_trace(rows)}
    return {**document, "tail_stage_warnings": list(record.warnings)} if record.warnings else document


def _probe_documents(record: RunRecord, probes: Sequence[ProbeView], made: str | None) -> dict[str, dict[str, Any]]:
    deaths, last = all_step_one_deaths(probes), probes[-1]
    head = {"generated_at": made, "run_name": record.name}
    return {
        "step_one_worst_seeds.json": {**head, "records": deaths, "summary": worst_seeds(deaths)},
        "step_one_stage_summary.json": {**head, "records": deaths, "stage_summary": stage_summary(deaths)},
        "death_stats.json": {
            **head,
            "iteration": last.iteration,
            "episodes": last.fact("episodes"),
            "num_fish": last.fact("num_fish"),
            **(last.death_stats or {}),
        },
    }


def _why_without(name: str, record: RunRecord) -> str:
    if name == "penalty_stage_debug.jsonl" and not record.rulings[GATE]:
        return "no penalty gate has ruled yet"
    return "no probe tells how its episodes began" if record.probes else _NO_PROBES


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    prepare_place(path)
    with written_aside(path) as aside:
        aside.write_text("".join(json.dumps(row, allow_nan=False) + "\n" for row in rows), encoding="utf-8")
