"""The part of `respawn evaluate` that is for Mario: level by level, beside policies that know nothing."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from respawn.cli.policies import warn_of_damage
from respawn.cli.progress import progress_bar
from respawn.errors import ConfigError
from respawn.evaluation.levels import GREEDY, NULL_POLICIES, SAMPLED, LevelScore, held_by_always_right
from respawn.runs.metadata import describe_machine
from respawn.training.judge_levels import LevelJudgement, LevelsJudgement, LevelTrials, judge_levels
from respawn.training.trained import Trained

if TYPE_CHECKING:
    from respawn.cli.evaluate import EvaluateArguments

MASTERED = 0.8
"""A level that is cleared at least this often counts as one that the policy can do."""
LANES = 100
"""Episodes played at a time where nothing else is asked for: all of a level's at once."""


def split_levels(text: str | None) -> tuple[str, ...]:
    """The names in '1-1,1-2'; none where nothing was said."""
    names = () if text is None else tuple(name.strip() for name in text.split(",") if name.strip())
    if text is not None and not names:
        raise ConfigError(f"--levels wants names such as 1-1,1-2 or all, and '{text}' came")
    return names


def evaluate_levels(trained: Trained, arguments: "EvaluateArguments") -> dict[str, Any]:
    """Play, and answer what --json prints."""
    trials = LevelTrials(
        levels=split_levels(arguments.levels),
        episodes=arguments.episodes,
        seed_base=arguments.seed_base,
        sticky=arguments.sticky,
        start_jitter=arguments.start_jitter,
        sampled=not arguments.only_greedy,
        nulls=not (arguments.only_greedy or arguments.no_null_policies),
        lanes=arguments.lanes or LANES,
        limit_steps=arguments.limit_steps,
        rom=arguments.rom,
    )
    with progress_bar() as tell:
        judgement = judge_levels(trained, trials, device_name=arguments.device, tell=tell)
    warn_of_damage(judgement.passed_over)
    return {"run": trained.name, **describe_levels(judgement, trials)}


def describe_levels(judgement: LevelsJudgement, trials: LevelTrials) -> dict[str, Any]:
    """A judgement as plain data."""
    world = judgement.world
    rates = [level.scores[GREEDY].clear_rate for level in judgement.levels.values()]
    return {
        "checkpoint": judgement.checkpoint,
        "passed_over": list(judgement.passed_over),
        "updates": judgement.updates,
        "decisions": judgement.decisions,
        "weights_sha256": judgement.weights_sha256,
        "episodes": trials.episodes,
        "seed_base": trials.seed_base,
        "sticky": world.sticky,
        "start_jitter": world.start_jitter,
        "noop_starts": world.noop_starts,
        "frame_skip": world.frame_skip,
        "maze_ends": world.maze_ends,
        "whole_game": world.whole_game,
        "region": world.region,
        "always_right_holds": held_by_always_right(world.action_names),
        "machine": describe_machine(),
        "mastered_rate": MASTERED,
        "mastered_levels": sum(rate >= MASTERED for rate in rates),
        "clear_rate_mean": sum(rates) / len(rates),
        "levels": {name: _level(level) for name, level in judgement.levels.items()},
    }


def _level(level: LevelJudgement) -> dict[str, Any]:
    """The greedy figures themselves, and beside them the others under their names."""
    scores = {name: _plain(score) for name, score in level.scores.items()}
    nulls = {name: scores[name] for name in NULL_POLICIES if name in scores}
    return {
        **scores[GREEDY],
        "seeds": [level.seeds[0], level.seeds[-1]],
        **({SAMPLED: scores[SAMPLED]} if SAMPLED in scores else {}),
        **({"null_policies": nulls} if nulls else {}),
    }


def _plain(score: LevelScore) -> dict[str, Any]:
    return {
        **asdict(score),
        "interval": list(score.interval),
        "x_interval": score.x_interval and list(score.x_interval),
    }
