"""One policy played several ways on the same seeds: greedily, drawn, at other temperatures; beside pure chance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from statistics import stdev
from typing import Any, Literal, TypeAlias

from respawn.contracts.policy import Policy
from respawn.contracts.records import Episode
from respawn.contracts.settings import check_at_least, check_between
from respawn.evaluation.episodes import play_episodes
from respawn.evaluation.evaluator import summarise
from respawn.evaluation.levels import GREEDY, RANDOM, SAMPLED, SEEDS_A_LEVEL, score_level
from respawn.evaluation.null_policies import random_policy
from respawn.evaluation.tempered import check_temperatures, tempered_policies
from respawn.maths.seeding import make_generator
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.judge import check_fresh_seeds
from respawn.training.judge_fish import SchoolTrials, judge_fish
from respawn.training.judge_levels import LevelTrials, judge_levels
from respawn.training.trained import Trained
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import make_world

SEED_BASE = 4_000_000
"""Not the seeds of `respawn evaluate`: whoever chooses a way here by looking can still judge it there."""
LANES = 50

Measure: TypeAlias = Literal["cleared", "survival", "return"]
Tell: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True)
class WaysOrder:
    """What to play."""

    episodes: int = 100
    """each way; Mario: in each level"""
    temperatures: tuple[float, ...] = (0.5, 2.0)
    seed_base: int = SEED_BASE
    limit_steps: int = 10_000
    fish: int = SchoolTrials.fish

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        check_temperatures(self.temperatures)
        check_between("--", self, {"episodes": (1, SEEDS_A_LEVEL)})
        check_at_least("--", self, {"seed_base": 0, "limit_steps": 1, "fish": 1})


@dataclass(frozen=True)
class Compared:
    """What each way came to."""

    measure: Measure
    """what success is in this world"""
    ways: Mapping[str, Mapping[str, Any]]
    """numbers by the name of the way: greedy, sampled, those of temperatures, and policies that know nothing"""
    seeds: Mapping[str, tuple[int, int]]
    """the first and the last that were played, by level; under an empty name in worlds that have none"""
    levels: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Mario: the same numbers for each level"""


def compare_ways(
    trained: Trained,
    config: RunConfig,
    order: WaysOrder,
    *,
    device_name: str = "cpu",
    tell: Tell = lambda doing, part: None,
) -> Compared:
    """Play the same seeds in every way, in a world of the kind that the policy learned in.

    Args:
      trained: the policy.
      config: its own, or one with another world; see `with_world`.
      order: how many episodes, at which temperatures.
      device_name: where to compute.
      tell: is told what is being done, and which part of all is done.

    Raises:
      ConfigError: some of the seeds are among those that the run was judged by while it learned.
    """
    there = replace(trained, config=config)
    if isinstance(config.world, MarioConfig):
        return _levels(there, order, device_name, tell)
    if isinstance(config.world, FishConfig):
        return _schools(there, order, device_name, tell)
    return _returns(there, order, device_name, tell)


def _levels(trained: Trained, order: WaysOrder, device_name: str, tell: Tell) -> Compared:
    trials = LevelTrials(
        episodes=order.episodes,
        seed_base=order.seed_base,
        temperatures=order.temperatures,
        limit_steps=order.limit_steps,
    )
    judged = judge_levels(trained, trials, device_name=device_name, tell=tell).levels
    names = list(next(iter(judged.values())).episodes)
    return Compared(
        measure="cleared",
        ways={name: _score(list(chain(*(level.episodes[name] for level in judged.values())))) for name in names},
        seeds={name: (level.seeds[0], level.seeds[-1]) for name, level in judged.items()},
        levels={name: {way: _score(level.episodes[way]) for way in names} for name, level in judged.items()},
    )


def _score(episodes: Sequence[Episode]) -> dict[str, Any]:
    """A level's score, and how much returns differ."""
    returns = [episode.episode_return for episode in episodes]
    return {**asdict(score_level(episodes)), "return_std": stdev(returns) if len(returns) > 1 else 0.0}


def _schools(trained: Trained, order: WaysOrder, device_name: str, tell: Tell) -> Compared:
    trials = SchoolTrials(
        episodes=order.episodes, fish=order.fish, seed_base=order.seed_base, temperatures=order.temperatures
    )
    judged = judge_fish(trained, trials, device_name=device_name, tell=tell)
    assert judged.sampled is not None
    own = {GREEDY: judged.greedy, SAMPLED: judged.sampled}
    return Compared(
        measure="survival",
        ways={**own, **judged.tempered, **judged.null_policies},
        seeds={"": (trials.seeds[0], trials.seeds[-1])},
        levels={},
    )


def _returns(trained: Trained, order: WaysOrder, device_name: str, tell: Tell) -> Compared:
    config = trained.config
    seeds = range(order.seed_base, order.seed_base + order.episodes)
    check_fresh_seeds(config, seeds[0], seeds[-1])
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, config.threads)
    diagnostics = None if trained.folder is None else trained.folder.workers / "evaluation"
    world = make_world(
        config.world, min(LANES, order.episodes), device=device, seed=order.seed_base, diagnostics=diagnostics
    )
    ways: dict[str, Mapping[str, Any]] = {}
    try:
        model = trained.model(world.spec, device)
        policies: dict[str, Policy] = {
            GREEDY: model,
            SAMPLED: model,
            **tempered_policies(model, order.temperatures),
            RANDOM: random_policy(world.spec.actions),
        }
        for number, (name, policy) in enumerate(policies.items()):
            tell(name, number / len(policies))
            generator = None if name == GREEDY else make_generator(order.seed_base, "way", name, device=device)
            episodes = play_episodes(world, policy, seeds, generator, order.limit_steps, device)
            ways[name] = {metric.removeprefix("evaluation/"): value for metric, value in summarise(episodes).items()}
    finally:
        world.close()
    return Compared(measure="return", ways=ways, seeds={"": (seeds[0], seeds[-1])}, levels={})
