"""Judging a trained policy for fish on seeds it has never met, beside those that have learned nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError
from respawn.evaluation.fish_evaluator import SCHOOLS_AT_A_TIME, play_null_policies
from respawn.evaluation.fish_report import summarise_schools
from respawn.evaluation.schools import SchoolRecord, play_schools, reference_seeds
from respawn.evaluation.tempered import tempered_policies
from respawn.maths.seeding import derive_seed, make_generator
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.judge import check_fresh_seeds
from respawn.training.trained import Trained
from respawn.worlds.fish.config import MOST_FISH, FishConfig
from respawn.worlds.fish.world import FishWorld
from respawn.worlds.seeds import lane_seeds


@dataclass(frozen=True)
class SchoolTrials:
    """What to play."""

    episodes: int = 200
    fish: int = 96
    """in each school"""
    seed_base: int = 3_000_000
    """episode i is played from seed_base + i"""
    sampled: bool = True
    """also draw actions as in training"""
    nulls: bool = True
    """also play policies that have learned nothing"""
    temperatures: tuple[float, ...] = ()
    """also draw actions at each of these"""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        check_between("--", self, {"episodes": (1, 100_000), "fish": (1, MOST_FISH)})
        check_at_least("--", self, {"seed_base": 0})

    @property
    def seeds(self) -> range:
        """One an episode."""
        return range(self.seed_base, self.seed_base + self.episodes)


@dataclass(frozen=True)
class SchoolsJudgement:
    """What a policy's schools came to, by the names of docs/metrics.md without their group."""

    greedy: Mapping[str, float]
    sampled: Mapping[str, float] | None
    null_policies: Mapping[str, Mapping[str, float]]
    tempered: Mapping[str, Mapping[str, float]]
    """at other temperatures, by what they are called"""
    records: tuple[SchoolRecord, ...]
    """of the greedy policy, in the order of the seeds"""


def judge_fish(
    trained: Trained,
    trials: SchoolTrials,
    *,
    device_name: str = "cpu",
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> SchoolsJudgement:
    """Play the schools that `trials` asks for, in the tanks of the reference.

    Args:
      trained: the policy: a run's, or one that is shipped.
      trials: how many schools, of how many fish, from which seeds.
      device_name: where to compute.
      tell: is told what is being done, and which part of all is done.
    """
    world_config = judged_tanks(trained.config, trials.fish)
    check_held_out(trained.config, trials)
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, trained.config.threads)
    schools = min(trials.episodes, SCHOOLS_AT_A_TIME)
    world = FishWorld(world_config, schools * trials.fish, device=device)
    model = trained.model(world.spec, device)
    tell("the policy's likeliest actions", 0.0)
    records = play_schools(world, model, trials.seeds, None, device)
    sampled = None
    if trials.sampled:
        tell("the policy's drawn actions", 0.3)
        generator = make_generator(trials.seed_base, "sampled", device=device)
        sampled = _named(play_schools(world, model, trials.seeds, generator, device), world_config)
    tempered: dict[str, Mapping[str, float]] = {}
    for name, policy in tempered_policies(model, trials.temperatures).items():
        tell(f"the policy at {name}", 0.5)
        generator = make_generator(trials.seed_base, name, device=device)
        tempered[name] = _named(play_schools(world, policy, trials.seeds, generator, device), world_config)
    nulls: Mapping[str, Mapping[str, float]] = {}
    if trials.nulls:
        tell("policies that have learned nothing", 0.6)
        nulls = play_null_policies(world_config, trials.seeds, None, device)
    return SchoolsJudgement(_named(records, world_config), sampled, nulls, tempered, tuple(records))


def judged_tanks(config: RunConfig, fish: int) -> FishConfig:
    """Where a policy is judged; raises ConfigError if it is not one for fish."""
    if not isinstance(config.world, FishConfig):
        raise ConfigError(
            "only runs in the fish world are judged by schools, and this one is in another; leave --fish out"
        )
    return replace(config.world.as_judged(fish), judged_fish=fish)


def check_held_out(config: RunConfig, trials: SchoolTrials) -> None:
    """Refuse seeds that the run was judged by while it learned, or that its own schools began from."""
    world, watched = config.world, config.evaluation
    assert isinstance(world, FishConfig)
    wanted = set(trials.seeds)
    if world.judged_seeds == "consecutive":
        check_fresh_seeds(config, trials.seeds[0], trials.seeds[-1])
    elif watched.every_updates > 0:
        count = config.last_update // watched.every_updates * watched.episodes
        _refuse_shared(wanted & set(reference_seeds(watched.seed_base, 0, count)), "was judged by while it learned")
    lanes = lane_seeds(derive_seed(config.seed, "world"), config.collection.num_lanes)
    _refuse_shared(wanted & set(lanes[:: world.fish]), "learned from")


def _refuse_shared(shared: set[int], how: str) -> None:
    if shared:
        raise ConfigError(
            f"fresh seeds are wanted, and {min(shared)} is one that the run {how}; name another --seed-base"
        )


def _named(records: list[SchoolRecord], world: FishConfig) -> dict[str, float]:
    metrics = summarise_schools(records, world.limit_steps)
    return {name.removeprefix("evaluation/"): value for name, value in metrics.items()}


def describe_schools(judgement: SchoolsJudgement, trained: Trained, trials: SchoolTrials) -> dict[str, Any]:
    """A judgement as plain data."""
    return {
        "checkpoint": trained.checkpoint,
        "passed_over": list(trained.passed_over),
        "updates": trained.updates,
        "decisions": trained.decisions,
        "weights_sha256": trained.weights_sha256,
        "episodes": trials.episodes,
        "fish": trials.fish,
        "seed_base": trials.seed_base,
        "ceiling": 1.0 - judgement.greedy["doomed_fraction"],
        **{name: value for name, value in judgement.greedy.items() if name != "episodes"},
        "sampled": None if judgement.sampled is None else dict(judgement.sampled),
        "null_policies": {name: dict(numbers) for name, numbers in judgement.null_policies.items()},
        "survival": [record.survival for record in judgement.records],
    }
