"""A run folder as a school of fish would leave it, made in a moment: nothing is trained, the numbers are made up.

The rulings are not: they come from the reference run's own schedules, so they say what schedules really say.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from respawn.contracts.records import (
    Episode,
    EpisodeReport,
    EvaluationReport,
    Probe,
    Record,
    Ruling,
    UpdateReport,
)
from respawn.evaluation.fish_statistics import death_stats, survival_summary
from respawn.presets.fish_v40 import PLANNED_UPDATES, SCHEDULES
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import describe_machine
from respawn.runs.rows import to_line, to_row
from respawn.schedules.curriculum import Curriculum

NUM_SCHOOLS = 128
PROBE_EVERY = 8
PROBE_EPISODES, PROBE_FISH = 20, 96
LIMIT_STEPS = 500
BEGAN = 1_762_934_400.0
"""when the run began, seconds since 1970"""

_FORCED_RESET_STEPS, _HORIZON_STEPS = 224, 128
_DECISIONS = NUM_SCHOOLS * _HORIZON_STEPS * 20


def make_fish_run(
    runs_dir: Path, name: str = "fish-v40", *, updates: int = PLANNED_UPDATES, learns: bool = False, seed: int = 40
) -> RunFolder:
    """Write a run folder.

    Args:
      runs_dir: the folder of runs.
      name: of the run.
      updates: how far it came; every eighth is followed by a probe.
      learns: whether the policy makes up its mind and fish survive, or nothing is learned, as in the reference.
      seed: of all that is made up.
    """
    meta: dict[str, Any] = {"id": f"00000000-0000-4000-8000-{seed:012d}", "name": name, "preset": "fish-v40"}
    meta |= {
        "world": "fish (schools of 25)",
        "seed": seed,
        "created": "2025-11-12T08:00:00+00:00",
        "command": ["respawn"],
    }
    meta |= {"exact_resume": True, "exact_resume_note": "", "git_commit": None, "machine": describe_machine()}
    config = {"planned_updates": PLANNED_UPDATES, "world": {"kind": "fish", "steering": "discrete", "fish": 25}}
    folder = create(runs_dir, name, meta, config)
    streams: dict[type[Record], list[bytes]] = {
        kind: [] for kind in (UpdateReport, EpisodeReport, EvaluationReport, Probe, Ruling)
    }
    for record in _records(updates, learns, np.random.default_rng(seed)):
        streams[type(record)].append(to_line(to_row(record)))
    paths = {
        UpdateReport: folder.updates,
        EpisodeReport: folder.episodes,
        EvaluationReport: folder.evaluations,
        Probe: folder.probes,
        Ruling: folder.rulings,
    }
    for kind, path in paths.items():
        if streams[kind]:
            path.write_bytes(b"".join(streams[kind]))
    return folder


def _records(updates: int, learns: bool, random: np.random.Generator) -> Iterator[Record]:
    config = SCHEDULES.curriculum
    assert config is not None, "the reference run has one"
    curriculum = Curriculum(config, planned_updates=PLANNED_UPDATES, num_schools=NUM_SCHOOLS)
    episodes = 0
    for update in range(1, updates + 1):
        taken = _taken(update)
        ended = taken if update > 1 else 0
        episodes += ended
        held = curriculum._held_in(update)
        metrics = _metrics(update, ended > 0 or update > 2, learns, held, taken, random)
        report = UpdateReport(update, _DECISIONS * update, _DECISIONS * update, episodes, metrics)
        yield report
        for lane in range(ended // 8):  # a few are enough
            facts = {"first_death": math.nan if lane % 7 == 0 else float(random.integers(1, 90)), "survival": 0.85}
            yield EpisodeReport(update, Episode(lane, 150.0, _FORCED_RESET_STEPS, "forced reset", facts))
        yield from curriculum.observe(report)
        if update % PROBE_EVERY == 0:
            probe = Probe(update, report.decisions, probe_facts(update, learns, held, random))
            judged = EvaluationReport(update, report.decisions, _judged(probe.facts), probe)
            yield judged
            yield probe
            yield from curriculum.observe(judged)


def _taken(update: int) -> int:
    """Hard starts taken: one for each school when a phase begins and at every forced reset in it."""
    first = 1
    for length in (phase.updates for phase in SCHEDULES.curriculum.phases):  # type: ignore[union-attr]
        if update < first + length:
            steps = (update - first) * _HORIZON_STEPS
            resets = (steps + _HORIZON_STEPS) // _FORCED_RESET_STEPS - steps // _FORCED_RESET_STEPS
            return NUM_SCHOOLS * (resets + (update == first))
        first += length
    return NUM_SCHOOLS


def _metrics(
    update: int, told: bool, learns: bool, held: dict[str, Any], taken: int, random: np.random.Generator
) -> dict[str, float]:
    progress = update / PLANNED_UPDATES
    skill = 1 - math.exp(-4 * progress) if learns else 0.0
    rate = 2.5e-4 * (1 - 2.5 * progress if progress <= 0.2 else 0.25 * (1 + math.cos(math.pi * (progress - 0.2) / 0.8)))
    metrics = {
        "loss/policy": -0.002 + 0.001 * random.normal(),
        "loss/value": 40.0 * math.exp(-2 * skill) + random.normal(),
        "loss/total": 20.0 * math.exp(-2 * skill) + random.normal(),
        "policy/entropy": 1.6085 - 0.75 * skill - 0.001 * random.random(),
        "policy/kl": (0.006 * (1 - progress) if learns else 1e-3 * math.exp(-8 * progress))
        * (0.7 + 0.6 * random.random()),
        "policy/clip_fraction": 0.05 * skill,
        "value/explained_variance": 0.65 * skill + 0.04 * random.normal() if learns else -1.75 * math.exp(-update / 6),
        "knob/density_penalty": float(held["penalty"]),
        "knob/entropy_cost": 0.03 if 16 <= update <= 24 else 0.02,
        "knob/escape_boost": float(held["boost"]),
        "knob/school_size": float(held["size"]),
        "knob/learning_rate": rate,
        "knob/hard_start_share": 1.0,
        "world/hard_starts": float(taken),
        "world/forced_resets": float(taken if update > 1 else 0),
        "time/unix": BEGAN + 2.6 * update,
        "time/update_seconds": 2.6,
    }
    if not told:
        return metrics
    survival = 0.84 + 0.12 * skill + 0.01 * random.normal()
    return metrics | {
        "return/mean": 140.0 + 60 * skill + 3 * random.normal(),
        "length/mean": float(_FORCED_RESET_STEPS),
        "episode/survival": survival,
        "episode/alive": survival * held["size"],
        "episode/mean_survival": 0.5 + survival / 2,
        "episode/mean_alive": (0.5 + survival / 2) * held["size"],
        "episode/first_death": 32.0 + 40 * skill + 4 * random.normal(),
        "episode/first_death_p10": 1.0 + round(3 * skill),
        "episode/step_one_deaths": 0.45 + 0.05 * random.normal(),
        "episode/hard_start": 1.0,
    }


def probe_facts(update: int, learns: bool, held: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """A made-up probe of twenty schools."""
    lost = max(0.02, 0.27 * math.exp(-update / 12)) if learns else 0.34 - 0.11 * update / PLANNED_UPDATES
    typical = float(random.uniform(65.0, 105.0))
    deaths, step_one, pre_rolls = [], [], []
    for episode in range(PROBE_EPISODES):
        pre_rolls.append(_pre_roll(random))
        deaths.append(_death_steps(lost * (0.6 + 0.8 * random.random()), typical, random))
        for fish in (place for place, step in enumerate(deaths[-1]) if step == 1):
            step_one.append(_step_one(episode, fish, pre_rolls[-1]["final_velocity"]))
    doomed = max(len(step_one) - int(random.integers(2, 7)), 0)
    seeds = [int(seed) for seed in random.integers(0, 2**31 - 1, PROBE_EPISODES)]
    alive = [sum(step < 0 for step in steps) for steps in deaths]
    fish = PROBE_EPISODES * PROBE_FISH
    return {
        "num_fish": PROBE_FISH,
        "episodes": PROBE_EPISODES,
        "greedy": True,
        "seeds": seeds,
        "limit_steps": LIMIT_STEPS,
        "escape_boost_speed": held["boost"],
        "density_penalty_coef": held["penalty"],
        "summary": survival_summary(alive, PROBE_FISH),
        "death_stats": death_stats(deaths, LIMIT_STEPS),
        "step_one_death_count": len(step_one),
        "step_one_death_ratio": len(step_one) / fish,
        "doomed": {
            "count": doomed,
            "fraction": doomed / fish,
            "spawn_inside_fraction": 0.0215,
            "excess_count": len(step_one) - doomed,
            "excess_ratio": (len(step_one) - doomed) / fish,
        },
        "step_one_deaths": step_one,
        "records": [_record(*row) for row in zip(range(PROBE_EPISODES), deaths, alive, seeds, strict=True)],
        "pre_roll": pre_rolls,
        "worst_starts": [],
        "films": [
            {
                "video_path": f"videos/u{update:08d}_worst0.mp4",
                "seed": seeds[0],
                "episode": 0,
                "final_num_alive": alive[0],
            }
        ],
    }


def _judged(facts: Any) -> dict[str, float]:
    deaths, summary = facts["death_stats"], facts["summary"]
    return {
        "evaluation/survival_mean": summary["avg_final_survival_rate"],
        "evaluation/survival_worst": summary["min_final_survival_rate"],
        "evaluation/death_p10": deaths["p10"],
        "evaluation/early_death_100": deaths["early_death_fraction_100"],
        "evaluation/early_death_150": deaths["early_death_fraction_150"],
        "evaluation/step_one_count": float(facts["step_one_death_count"]),
        "evaluation/step_one_ratio": facts["step_one_death_ratio"],
        "evaluation/step_one_excess_ratio": facts["doomed"]["excess_ratio"],
        "evaluation/doomed_fraction": facts["doomed"]["fraction"],
    }


def _death_steps(lost: float, typical: float, random: np.random.Generator) -> list[int]:
    draw = random.random(PROBE_FISH)
    later = np.minimum(2 + random.gamma(2.4, typical, PROBE_FISH), LIMIT_STEPS).astype(int)
    return [1 if u < 0.0205 else int(step) if u < lost else -1 for u, step in zip(draw, later, strict=True)]


def _record(episode: int, deaths: Sequence[int], alive: int, seed: int) -> dict[str, Any]:
    return {
        "episode": episode,
        "avg_reward": 0.4,
        "total_reward": 200.0,
        "steps": LIMIT_STEPS,
        "final_num_alive": alive,
        "min_survival_rate": alive / PROBE_FISH,
        "death_timesteps": list(deaths),
        "seed": seed,
    }


def _step_one(episode: int, fish: int, velocity: Sequence[float]) -> dict[str, Any]:
    return {
        "episode": episode,
        "fish_idx": fish,
        "predator_index": 0,
        "fish_position": [0.3, 0.2],
        "predator_position": [0.5, 0.4],
        "predator_velocity": list(velocity),
        "timestep": 1,
    }


def _pre_roll(random: np.random.Generator) -> dict[str, Any]:
    """How a predator comes to its first step: most of them slowly, and falling upwards."""
    heading, speed = float(random.normal(80.0, 55.0)), float(abs(random.normal(1.2, 0.65)))
    final = (heading + 180.0) % 360.0 - 180.0
    begin = float(random.uniform(-180.0, 180.0))
    return {
        "spawn_radius": float(random.uniform(0.0, 1.6)),
        "spawn_angle_deg": float(random.uniform(-180.0, 180.0)),
        "initial_velocity": [1.5 * math.cos(math.radians(begin)), 1.5 * math.sin(math.radians(begin))],
        "initial_speed": 1.5,
        "initial_heading_deg": begin,
        "final_velocity": [speed * math.cos(math.radians(final)), speed * math.sin(math.radians(final))],
        "final_speed": speed,
        "final_heading_deg": final,
        "steps": 16,
        "angle_jitter_deg": [float(jitter) for jitter in random.uniform(-17.2, 17.2, 16)],
        "speed_scale": [float(scale) for scale in random.uniform(0.6, 1.4, 16)],
        "speed_target": [float(target) for target in random.uniform(0.0, 3.0, 16)],
        "heading_bias_angle": begin % 360.0,
        "velocity_override": None,
    }
