"""What a curriculum in Mario's levels must agree with elsewhere in a run's settings; refused with a sentence if not."""

from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.mario_evaluator import levels_not_judged
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.hard_start_config import HardStartsConfig
from respawn.schedules.level_gate import LevelsConfig
from respawn.schedules.start_files import read_start_file
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.hard_starts import read_start


def check_level_gate(gate: LevelsConfig, world: object, evaluation: EvaluationConfig, planned_updates: int) -> None:
    """Refuse levels that nobody could open.

    Args:
      gate: what is to open them.
      world: of the run.
      evaluation: what it goes by.
      planned_updates: how long the run may be.
    """
    if not isinstance(world, MarioConfig) or world.whole_game:
        raise ConfigError(
            "schedules.levels opens the levels of world.levels in Mario, and there are none here; leave it out"
        )
    every = evaluation.every_updates
    if every == 0:
        raise ConfigError("schedules.levels moves on evaluations, and there are none: set evaluation.every-updates")
    gate.for_levels(len(world.start_levels))
    missed = levels_not_judged(world, evaluation)
    if missed:
        raise ConfigError(
            f"schedules.levels goes by every level's clear rate, and the {evaluation.episodes} "
            f"evaluation.episodes are too few to play {', '.join(missed)}; raise them"
        )
    if 0 < gate.freeze_updates <= every:
        raise ConfigError(
            f"schedules.levels.freeze-updates ({gate.freeze_updates}) end by the next evaluation, {every} updates "
            "later, and are never felt; take more or none"
        )
    counting = planned_updates // every - gate.lock_until // every
    if counting < gate.required_successes:
        raise ConfigError(
            f"schedules.levels.required-successes is {gate.required_successes}, and of the plan's evaluations "
            f"{max(counting, 0)} come after update {gate.lock_until} (lock-until), so nothing would ever open; lower "
            "it, or plan more updates"
        )


def check_scouts(world: object, evaluation: EvaluationConfig, schedules: SchedulesConfig) -> None:
    """Refuse scouts whose finds nobody takes, and hard starts that nobody finds."""
    curriculum, scout = schedules.curriculum, evaluation.scout
    hard_starts = None if curriculum is None else curriculum.hard_starts
    harvests = hard_starts is not None and any(stage.file is None for stage in hard_starts.stages)
    if scout.episodes and (not isinstance(world, MarioConfig) or world.whole_game or not harvests):
        raise ConfigError(
            "evaluation.scout.episodes finds hard starts in Mario's levels for a stage of "
            "schedules.curriculum.hard_starts without a file, and there is none here; leave it out, or add one"
        )
    if not isinstance(world, MarioConfig) or hard_starts is None:
        return
    if harvests and not scout.episodes:
        raise ConfigError(
            "a stage of schedules.curriculum.hard_starts has no file and waits for a harvest, and nobody harvests: "
            "set evaluation.scout.episodes"
        )
    longest = min(world.limit_steps or evaluation.limit_steps, evaluation.limit_steps)
    if scout.episodes and scout.nearest_steps >= longest:
        raise ConfigError(
            f"evaluation.scout.nearest-steps is {scout.nearest_steps}, and no scout's episode is longer than {longest} "
            "decisions, so no start would ever be found; lower it"
        )
    _check_files(hard_starts, world)


def _check_files(hard_starts: HardStartsConfig, world: MarioConfig) -> None:
    """Refuse starts of another world now, not when an episode is to begin with one."""
    for number, stage in enumerate(hard_starts.stages, start=1):
        if stage.velocity_scale != 1.0:
            raise ConfigError(
                f"stage {number} of the hard starts has a velocity-scale, and Mario's starts have no velocity; "
                "leave it out"
            )
        for start in () if stage.file is None else read_start_file(stage.file):
            read_start(start.state, world)
