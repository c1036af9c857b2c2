"""Judging a trained policy level by level, in the Mario world."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from respawn.contracts.policy import Policy
from respawn.contracts.records import Episode
from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError
from respawn.evaluation.levels import (
    GREEDY,
    SAMPLED,
    SEEDS_A_LEVEL,
    LevelScore,
    level_seeds,
    null_policies,
    play_level,
    score_level,
)
from respawn.evaluation.tempered import tempered_policies
from respawn.models.actor_critic import ActorCritic
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.judge import check_fresh_seeds
from respawn.training.trained import Trained
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.levels import find_levels
from respawn.worlds.registry import make_world


@dataclass(frozen=True)
class LevelTrials:
    """What to play in each level."""

    levels: tuple[str, ...] = ()
    """names, or 'all'; empty: those that the run learned in"""
    episodes: int = 100
    seed_base: int = 3_000_000
    """level by level, SEEDS_A_LEVEL apart; see `level_seeds`"""
    sticky: float | None = None
    """None: as the run has it"""
    start_jitter: int | None = None
    """None: as the run has it"""
    sampled: bool = True
    """also draw actions as in training"""
    nulls: bool = True
    """also play policies that know nothing"""
    temperatures: tuple[float, ...] = ()
    """also draw actions at each of these"""
    lanes: int = 100
    limit_steps: int = 10_000
    rom: Path | None = None
    """None: as the run has it"""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        check_between("--", self, {"episodes": (1, SEEDS_A_LEVEL), "sticky": (0.0, 0.99), "start_jitter": (0, 240)})
        check_at_least("--", self, {"seed_base": 0, "lanes": 1, "limit_steps": 1})


@dataclass(frozen=True)
class LevelJudgement:
    """What was reached in one level: first by the policy's likeliest actions, then by whoever else was asked for."""

    seeds: range
    scores: Mapping[str, LevelScore]
    """by the names in evaluation/levels.py, greedy, sampled, always_right, random, and those of temperatures"""
    episodes: Mapping[str, tuple[Episode, ...]]


@dataclass(frozen=True)
class LevelsJudgement:
    """What a policy reached in some levels, and which policy it was."""

    checkpoint: str
    updates: int
    decisions: int
    weights_sha256: str
    passed_over: tuple[str, ...]
    """newer checkpoints that are damaged, and how"""
    world: MarioConfig
    """where it was judged, all levels together"""
    levels: Mapping[str, LevelJudgement]


def judge_levels(
    trained: Trained,
    trials: LevelTrials,
    *,
    device_name: str = "cpu",
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> LevelsJudgement:
    """Play the episodes that `trials` asks for.

    Args:
      trained: the policy: a run's, or one that is shipped.
      trials: how many episodes in which levels.
      device_name: where to compute.
      tell: is told what is being done, and which part of all is done.
    """
    config = trained.config
    world_config = _judged_world(trained, trials)
    levels = [str(level) for level in world_config.start_levels]
    _check_seeds(config, trials, levels)
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, config.threads)
    model: ActorCritic | None = None
    judged: dict[str, LevelJudgement] = {}
    for number, level in enumerate(levels):
        tell(f"level {level}", number / len(levels))
        here = replace(world_config, levels=(level,))
        world = make_world(here, min(trials.lanes, trials.episodes), device=device, seed=0)
        try:
            if model is None:
                model = trained.model(world.spec, device)
            seeds = level_seeds(level, trials.seed_base, trials.episodes)
            policies = _policies(model, world_config, trials)
            played = play_level(world, policies, seeds, limit_steps=trials.limit_steps, device=device)
        finally:
            world.close()
        scores = {name: score_level(episodes) for name, episodes in played.items()}
        judged[level] = LevelJudgement(seeds, scores, {name: tuple(episodes) for name, episodes in played.items()})
    return _judgement(trained, world_config, judged)


def _judged_world(trained: Trained, trials: LevelTrials) -> MarioConfig:
    world = trained.config.world
    if not isinstance(world, MarioConfig):
        raise ConfigError(f"only Mario has levels to be judged in, and {trained.origin} is of another world")
    return replace(
        world,
        levels=tuple(str(level) for level in find_levels(trials.levels or world.levels)),
        sticky=world.sticky if trials.sticky is None else trials.sticky,
        start_jitter=world.start_jitter if trials.start_jitter is None else trials.start_jitter,
        rom=world.rom if trials.rom is None else str(trials.rom),
        engine_threads=0,  # changes no result
    )


def _check_seeds(config: RunConfig, trials: LevelTrials, levels: list[str]) -> None:
    for level in levels:
        seeds = level_seeds(level, trials.seed_base, trials.episodes)
        check_fresh_seeds(config, seeds[0], seeds[-1], f", for level {level}")


def _policies(model: ActorCritic, world: MarioConfig, trials: LevelTrials) -> dict[str, Policy]:
    return {
        GREEDY: model,
        **({SAMPLED: model} if trials.sampled else {}),
        **tempered_policies(model, trials.temperatures),
        **(null_policies(world.action_names) if trials.nulls else {}),
    }


def _judgement(trained: Trained, world: MarioConfig, levels: Mapping[str, LevelJudgement]) -> LevelsJudgement:
    return LevelsJudgement(
        checkpoint=trained.checkpoint,
        updates=trained.updates,
        decisions=trained.decisions,
        weights_sha256=trained.weights_sha256,
        passed_over=trained.passed_over,
        world=world,
        levels=levels,
    )
