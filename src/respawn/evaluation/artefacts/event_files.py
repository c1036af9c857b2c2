"""TensorBoard's files with the reference's tags, so that its dashboards show our runs too.

They are made anew each time from the run's rows, in one file each; nothing of torch is needed for it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from respawn.evaluation.artefacts.probe_views import ProbeView
from respawn.evaluation.out_files import prepare_place, written_aside
from respawn.evaluation.run_record import RunRecord, finite

TRAINING, PROBES = "PPO_1", "multi_eval_probes"
_FILE = "events.out.tfevents.0.respawn"

_FROM_METRICS = (
    ("rollout", "ep_len_mean", "length/mean", 1.0),
    ("rollout", "ep_rew_mean", "return/mean", 1.0),
    ("train", "approx_kl", "policy/kl", 1.0),
    ("train", "clip_fraction", "policy/clip_fraction", 1.0),
    ("train", "entropy_loss", "policy/entropy", -1.0),  # the reference logs what it minimises
    ("train", "explained_variance", "value/explained_variance", 1.0),
    ("train", "learning_rate", "knob/learning_rate", 1.0),
    ("train", "loss", "loss/total", 1.0),
    ("train", "policy_gradient_loss", "loss/policy", 1.0),
    ("train", "value_loss", "loss/value", 1.0),
)
_RENAMED = {"survival_rate": "avg_survival_rate"}
_OF_OTHER_GROUPS = ("iteration", "avg_reward", "episode_length", "learning_rate")
_BY_TYPE = {"tail_queue_remaining_ratio_by_type": "tail_queue_remaining_ratio"}
_PROBE_BY_TYPE = ("step_one_top_share", "step_one_ne_high_speed_share")

Scalars = Mapping[str, float]


def write_event_files(
    folder: Path, record: RunRecord, rows: Sequence[Mapping[str, Any]], probes: Sequence[ProbeView]
) -> list[Path]:
    """Write tb_logs; answers the files.

    Args:
      folder: where to.
      record: the run.
      rows: one for each update, as `trace_rows` makes them.
      probes: the run's.
    """
    training = folder / TRAINING / _FILE
    _write(training, list(_training_points(record, rows)))
    if not probes:
        return [training]
    judged = folder / PROBES / _FILE
    times = record.times
    _write(judged, [(probe.iteration, times.get(probe.iteration, 0.0), _probe_scalars(probe)) for probe in probes])
    return [training, judged]


def slug(kind: str) -> str:
    """A kind of hard starts as part of a tag."""
    return re.sub(r"[^a-z0-9_-]", "_", kind.lower())


def _training_points(record: RunRecord, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, float, Scalars]]:
    before = 0
    for update, row in zip(record.updates, rows, strict=True):
        told = {
            _tag(group, name): sign * value
            for group, name, metric, sign in _FROM_METRICS
            if (value := finite(update.metrics.get(metric))) is not None
        }
        seconds = finite(update.metrics.get("time/update_seconds"))
        if seconds:
            told[_tag("time", "fps")] = (update.decisions - before) / seconds
        before = update.decisions
        yield update.decisions, record.times.get(update.update, 0.0), told | _custom(row)


def _custom(row: Mapping[str, Any]) -> dict[str, float]:
    scalars = {}
    for name, value in row.items():
        number = float(value) if isinstance(value, bool) else finite(value)
        if number is not None and name not in _OF_OTHER_GROUPS:
            scalars[_tag("custom", _RENAMED.get(name, name))] = number
        if name in _BY_TYPE:
            for kind, part in (value or {}).items():
                scalars[_tag("custom", f"{_BY_TYPE[name]}_{slug(kind)}")] = float(part)
    kind = row.get("tail_stage_type")
    for name in _PROBE_BY_TYPE:
        if kind and row.get(name) is not None:
            scalars[_tag("custom", f"{name}_{slug(kind)}")] = float(row[name])
    return scalars


def _probe_scalars(probe: ProbeView) -> dict[str, float]:
    groups = {
        "multi_eval": {**(probe.summary or {}), "step_one_ne_high_speed_share": probe.ne_share},
        "multi_eval_death": probe.death_stats or {},
    }
    return {
        _tag(group, name): number
        for group, facts in groups.items()
        for name, value in facts.items()
        if (number := finite(value)) is not None
    }


def _tag(group: str, name: str) -> str:
    return f"{group}/{name}"


def _write(path: Path, points: Sequence[tuple[int, float, Scalars]]) -> None:
    """One whole file; an older one is replaced, so a run that is drawn twice has each point once."""
    prepare_place(path)
    began = points[0][1] if points else 0.0
    with written_aside(path) as aside, aside.open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=began, file_version="brain.Event:2").SerializeToString())
        for step, seconds, scalars in points:
            values = [
                Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items() if math.isfinite(value)
            ]
            writer.write(Event(wall_time=seconds, step=step, summary=Summary(value=values)).SerializeToString())
        writer.flush()
