"""Runs with everything on at once: replay, channels, curves, windows, scripts, a curriculum, hard starts."""

from dataclasses import replace

from tiny_runs import CORES, LEARNERS, saving_every, tiny

from respawn.collection.config import CollectionConfig
from respawn.evaluation import mario_evaluator
from respawn.evaluation.config import EvaluationConfig
from respawn.presets.mario import PRESETS
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.gate_config import DEATH_P10, SURVIVAL_MEAN, Criterion, GateConfig
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage, HarvestConfig
from respawn.schedules.level_gate import LevelsConfig
from respawn.schedules.phases import Phase
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.windows import KnobWindow
from respawn.worlds.fish.config import FishConfig

UPDATES = 40
ENTROPY = AdaptiveConfig(
    "policy/entropy", "entropy_cost", low=0.0, high=0.1, lowest=0.001, highest=0.05, window=3, cooldown_updates=4,
    anneal_lock=True,
)  # fmt: skip
RATE = AdaptiveConfig(
    "return/mean", "learning_rate", low=-99.0, high=-98.0, lowest=0.5, highest=2.0, window=4, mode="scale", step=0.2
)
CURVES = {"learning_rate": CurveConfig("cosine"), "entropy_cost": CurveConfig("linear", final_fraction=0.2)}


def open_levels_soon(monkeypatch):
    """Nobody clears a level in so few updates: let evaluations say that whatever is open was cleared."""
    opened = {"evaluation/cleared_open": 1.0, "evaluation/cleared_open_worst": 1.0}
    monkeypatch.setattr(mario_evaluator, "clear_rates", lambda *about: opened)


def mario(collection=None):
    """Levels that open, scouts, hard starts, scripts at the start of episodes and on every stall."""
    preset = PRESETS["mario-curriculum"]
    hard_starts = replace(preset.schedules.curriculum.hard_starts, share=0.7, final_fraction=0.5)
    return tiny(
        "vtrace-replay",
        updates=UPDATES,
        planned_updates=UPDATES,
        world=replace(preset.world, levels=("1-1", "1-2"), sticky=0.25, limit_steps=120, engine_threads=1),
        model=CORES["gru"],
        collection=collection or CollectionConfig(num_lanes=4, horizon_steps=16),
        evaluation=EvaluationConfig(
            every_updates=5,
            episodes=8,
            num_lanes=8,
            limit_steps=200,
            scout=replace(preset.evaluation.scout, episodes=8),
        ),
        checkpoints=saving_every(4),
        schedules=SchedulesConfig(
            **CURVES,
            reward_death=CurveConfig("piecewise", points=((0.0, 0.5), (0.5, 1.5), (0.5, 1.0), (1.0, 0.2))),
            windows=(KnobWindow("reward_distance", first=1, last=12, value=0.2),),
            adaptive=(ENTROPY, RATE),
            progression=ProgressionConfig(
                script="RIGHT+B:24,RIGHT+A+B:16",
                sequence_when="episodes",
                sequence_updates=32,
                probe_decisions=4,
                bootstrap_after=4,
                bootstrap_frames=48,
                bootstrap_times=3,
                plateau_after=7,
                plateau_script="RIGHT+A:40",
                warn_after=3,
            ),
            curriculum=replace(preset.schedules.curriculum, hard_starts=hard_starts),
            levels=LevelsConfig(lock_until=5),
        ),
    )


def fish(collection=None):
    """Phases, a penalty gate, hard starts from a file and from evaluations, scripts on every stall."""
    curriculum = CurriculumConfig(
        phases=(Phase(20, size=2, penalty=0.0), Phase(20, size=4, penalty=0.05, ramp=True)),
        gate=GateConfig(
            allowance=(1, 2),
            required_successes=1,
            freeze_updates=6,
            success=(Criterion(SURVIVAL_MEAN, at_least=0.2, window=2, rule="median"),),
            failure=(Criterion(DEATH_P10, at_least=4.0),),
        ),
        hard_starts=HardStartsConfig(
            stages=(HardStartStage(20, "v34-ne", "ne"), HardStartStage(20, None, "harvested")),
            share=0.5,
            final_fraction=0.4,
            harvest=HarvestConfig(most=5),
        ),
    )
    return tiny(
        "vtrace-replay",
        updates=UPDATES,
        planned_updates=UPDATES,
        world=FishConfig(fish=4, judged_fish=5, limit_steps=12, spawn_radius=3.0, pre_roll_steps=3),
        learner=LEARNERS["vtrace-replay"],
        collection=collection or CollectionConfig(num_lanes=12, horizon_steps=8),
        evaluation=EvaluationConfig(every_updates=4, episodes=3, num_lanes=3),
        checkpoints=saving_every(5),
        schedules=SchedulesConfig(
            **CURVES,
            adaptive=(ENTROPY, RATE),
            progression=ProgressionConfig(
                script="forward:3,left:2",
                sequence_when="episodes",
                sequence_updates=32,
                forward_action="right",
                bootstrap_after=4,
                bootstrap_frames=5,
                bootstrap_times=3,
            ),
            curriculum=curriculum,
        ),
    )
