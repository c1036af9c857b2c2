"""What held and what happened in each update: the rows of schedule_trace.json, the columns of training_stats.json."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from respawn.evaluation.artefacts.probe_views import ProbeView
from respawn.evaluation.run_record import CURRICULUM, HARD_STARTS, Facts, RunRecord, finite
from respawn.runs.reader import read_episodes

RECENT_EPISODES = 100
"""that the means of an update are taken over"""

_FROM_METRICS = {
    "density_penalty_coef": "knob/density_penalty",
    "entropy_coef": "knob/entropy_cost",
    "escape_boost_speed": "knob/escape_boost",
    "survival_rate": "episode/survival",
    "avg_reward": "return/mean",
    "episode_length": "length/mean",
    "avg_num_alive": "episode/mean_alive",
    "final_num_alive": "episode/alive",
    "first_death_step": "episode/first_death",
    "first_death_p10": "episode/first_death_p10",
    "prewarm_override_ratio": "episode/hard_start",
    "prewarm_override_hits": "world/hard_starts",
    "tail_forced_resets": "world/forced_resets",
    "on_policy_step_one_deaths": "episode/step_one_deaths",
    "learning_rate": "knob/learning_rate",
    "num_fish": "knob/school_size",
}
_FROM_CURRICULUM = {"curriculum_phase": "phase", "gate_stage": "gate_stage"}
_FROM_HARD_STARTS = {
    "tail_stage_index": "index",
    "tail_stage_progress": "progress",
    "tail_stage_label": "label",
    "tail_stage_type": "stage_type",
    "tail_queue_remaining": "remaining",
    "tail_queue_remaining_ratio": "remaining_ratio",
    "tail_stage_remaining_by_type": "remaining_by_type",
    "tail_queue_remaining_ratio_by_type": "remaining_ratio_by_type",
    "tail_stage_reinjections_by_type": "reinjections_by_type",
    "tail_ne_reinjections": "ne_reinjections",
    "tail_stage_warn_active": "warning_active",
    "tail_stage_warn_since": "warning_since",
    "tail_stage_warn_duration": "warning_duration",
    "tail_stage_warn_threshold": "warning_threshold",
    "tail_predicted_exhaustion": "predicted_exhaustion",
    "tail_prewarm_injections": "taken",
    "tail_prewarm_injections_total": "taken_total",
}
_ONLY_IN_STATS = ("avg_reward", "episode_length", "avg_num_alive", "final_num_alive")
_ONLY_IN_TRACE = ("step_one_deaths",)


def trace_rows(record: RunRecord, probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """One row for each update, with null for what is not known.

    `prewarm_override_ratio` is the share of recent episodes that began with a hard start, `_hits` how many such starts
    were taken in the update, `_episodes` how many episodes ended in it. Numbers of deaths in the first step are the
    probe's, and null where there was none; those of training are in `on_policy_step_one_deaths`, on average.
    """
    by_update = {probe.iteration: probe for probe in probes}
    deaths = _first_death_samples(record)
    forced = list(accumulate(value or 0.0 for value in record.series("world/forced_resets")))
    tells_forced = any("world/forced_resets" in update.metrics for update in record.updates)
    rows = []
    ended_before = 0
    for place, update in enumerate(record.updates):
        row: dict[str, Any] = {"iteration": update.update}
        row |= {name: finite(update.metrics.get(metric)) for name, metric in _FROM_METRICS.items()}
        row |= _picked(record.ruling(CURRICULUM, update.update), _FROM_CURRICULUM)
        row |= _picked(record.ruling(HARD_STARTS, update.update), _FROM_HARD_STARTS)
        row["first_death_sample_size"] = deaths.get(update.update) if deaths else None
        row["prewarm_override_episodes"] = update.episodes - ended_before
        row["tail_forced_resets_total"] = forced[place] if tells_forced else None
        row |= _from_probe(by_update.get(update.update))
        ended_before = update.episodes
        rows.append(row)
    return rows


def schedule_trace(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as schedule_trace.json has them; lists of deaths only where there are any."""
    left_out = set(_ONLY_IN_STATS)
    return [
        {name: value for name, value in row.items() if name not in left_out and (name != "step_one_deaths" or value)}
        for row in rows
    ]


def training_stats(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The rows as columns, all of one length."""
    if not rows:
        return {"iterations": []}
    names = [name for name in rows[0] if name not in ("iteration", *_ONLY_IN_TRACE, "step_one_death_count")]
    columns = {"iterations": [row["iteration"] for row in rows]} | {name: [row[name] for row in rows] for name in names}
    return columns | {"step_one_deaths": [row["step_one_death_count"] for row in rows]}


def _picked(facts: Facts, names: Mapping[str, str]) -> dict[str, Any]:
    return {ours: facts.get(theirs) for ours, theirs in names.items()}


def _from_probe(probe: ProbeView | None) -> dict[str, Any]:
    return {
        "step_one_death_ratio": None if probe is None else probe.step_one_ratio,
        "step_one_top_share": None if probe is None else probe.top_share,
        "step_one_ne_high_speed_share": None if probe is None else probe.ne_share,
        "step_one_death_count": None if probe is None else probe.step_one_count,
        "step_one_deaths": [] if probe is None else probe.step_one_deaths,
    }


def _first_death_samples(record: RunRecord) -> dict[int, int]:
    """Over how many episodes the mean first death of each update is: those of the last hundred in which one died."""
    ended: dict[int, int] = {}
    for report in read_episodes(record.folder):
        if finite(report.episode.facts.get("first_death")) is not None:
            ended[report.update] = ended.get(report.update, 0) + 1
    if not ended:
        return {}
    so_far = accumulate(ended.get(update.update, 0) for update in record.updates)
    return {row.update: min(count, RECENT_EPISODES) for row, count in zip(record.updates, so_far, strict=True)}
