"""What was found in each probe: the lines of the files that have one for each."""

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from respawn.evaluation.artefacts.probe_views import ProbeView
from respawn.evaluation.fish_statistics import pre_roll_summary
from respawn.evaluation.run_record import CURRICULUM, GATE, GATE_GROUNDS, HARD_STARTS, RunRecord, finite


def death_histogram_path(run: str, iteration: int) -> PurePosixPath:
    """Where a probe's histogram of deaths is, from the run's folder."""
    return PurePosixPath("plots") / f"{run}_multi_eval_hist" / f"{run}_iter{iteration:03d}_death_hist.png"


def history_rows(record: RunRecord, probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """The lines of eval_multi_history.jsonl. Paths are told from the run's folder."""
    rows = []
    before = 0
    for probe in probes:
        rows.append(_history_row(record, probe, before))
        before = probe.iteration
    return rows


def gate_rows(record: RunRecord, probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """The lines of penalty_stage_debug.jsonl: what the gate decided, and on what."""
    by_update = {probe.iteration: probe for probe in probes}
    return [
        {
            "iteration": update,
            "timestamp": record.time_of(update),
            "event": dict(facts),
            "summary": by_update[update].summary if update in by_update else None,
            "death_stats": by_update[update].death_stats if update in by_update else None,
            "criteria": dict(record.ruling(GATE_GROUNDS, update)) or None,
        }
        for update, facts in sorted(record.rulings[GATE].items())
    ]


def pre_roll_rows(record: RunRecord, probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """The lines of pre_roll_stats.jsonl, for probes that tell how their episodes began."""
    return [
        {
            "iteration": probe.iteration,
            "timestamp": record.time_of(probe.iteration),
            "samples": probe.listed("pre_roll"),
            "summary": pre_roll_summary(probe.listed("pre_roll")),
        }
        for probe in probes
        if probe.listed("pre_roll")
    ]


def cluster_rows(record: RunRecord, probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """The lines of step_one_clusters.jsonl."""
    return [
        {
            "iteration": probe.iteration,
            "timestamp": record.time_of(probe.iteration),
            "clusters": probe.clusters,
            "tail_stage_label": record.ruling(HARD_STARTS, probe.iteration).get("label"),
            "tail_stage_type": probe.stage_type,
        }
        for probe in probes
    ]


def _history_row(record: RunRecord, probe: ProbeView, before: int) -> dict[str, Any]:
    hard_starts = record.ruling(HARD_STARTS, probe.iteration)
    curriculum = record.ruling(CURRICULUM, probe.iteration)
    penalty, boost = probe.fact("density_penalty_coef"), probe.fact("escape_boost_speed")
    histogram = death_histogram_path(record.name, probe.iteration)
    pre_rolls = probe.listed("pre_roll")
    row = {
        "iteration": probe.iteration,
        "timestamp": record.time_of(probe.iteration),
        "summary": probe.summary,
        "death_stats": probe.death_stats,
        "density_penalty_coef": finite(curriculum.get("penalty") if penalty is None else penalty),
        "escape_boost_speed": finite(curriculum.get("boost") if boost is None else boost),
        "step_one_death_count": probe.step_one_count,
        "step_one_death_ratio": probe.step_one_ratio,
        "doomed": probe.fact("doomed"),
        "episode_seeds": probe.listed("seeds"),
        "multi_eval_num_fish": probe.fact("num_fish"),
        "multi_eval_episodes": probe.fact("episodes"),
        "greedy": probe.fact("greedy"),
        "tail_stage_label": hard_starts.get("label"),
        "tail_stage_type": probe.stage_type,
        "tail_stage_remaining_by_type": hard_starts.get("remaining_by_type"),
        "tail_stage_warn_active": hard_starts.get("warning_active"),
        "tail_stage_warn_since": hard_starts.get("warning_since"),
        "death_hist_path": str(histogram) if (record.folder.path / histogram).is_file() else None,
        "step_one_deaths": probe.step_one_deaths,
        "step_one_clusters": probe.clusters,
        "step_one_ne_high_speed_share": probe.ne_share,
        "pre_roll_stats_summary": pre_roll_summary(pre_rolls) if pre_rolls else None,
        "penalty_gate": dict(record.ruling(GATE, probe.iteration)) or None,
        "tail_replays": _replays(record, probe),
    }
    told = _warnings_between(record, before, probe.iteration)
    return {**row, "tail_stage_warning_events": told} if told else row


def _warnings_between(record: RunRecord, before: int, now: int) -> list[dict[str, Any]]:
    """Warnings that began since the probe before, as they stood when this one was made."""
    told = []
    for warning in record.warnings:
        if not before < warning["iteration"] <= now:
            continue
        ended = warning.get("resolved_iteration")
        later = ended is not None and ended > now
        unknown_yet = ("resolved_iteration", "duration_iterations", "clear_ratio") if later else ()
        told.append({name: None if name in unknown_yet else fact for name, fact in warning.items()})
    return told


def _replays(record: RunRecord, probe: ProbeView) -> list[dict[str, Any]]:
    """The films of a probe: those that it names, and those that lie in media/, for they are made after its row."""
    named = [_replay(film, record.folder.path) for film in probe.listed("films")]
    episodes = {row.get("episode"): row for row in probe.listed("records")}
    start = f"{record.name}_iter{probe.iteration:03}_tail_rank"
    for path in sorted((record.folder.path / "media").glob(f"{glob.escape(start)}*_ep*.mp4")):
        number = path.stem.rpartition("_ep")[2]
        episode = episodes.get(int(number), {}) if number.isdigit() else {}
        facts = {name: episode.get(name) for name in ("seed", "episode", "final_num_alive")}
        named.append({"video_path": f"media/{path.name}", **facts})
    return named


def _replay(film: Mapping[str, Any], run: Path) -> dict[str, Any]:
    return {**film, "video_path": _from_run(film.get("video_path"), run)}


def _from_run(path: Any, run: Path) -> str | None:
    """A path as seen from the run's folder; one that leads elsewhere keeps only its name."""
    if not isinstance(path, str) or not path:
        return None
    if not Path(path).is_absolute() and not PureWindowsPath(path).is_absolute():
        return PurePosixPath(path).as_posix()
    try:
        return Path(path).relative_to(run.absolute()).as_posix()
    except ValueError:
        return PureWindowsPath(path).name
