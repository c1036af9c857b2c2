"""A run's whole configuration: one field per room, and what belongs to no room."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

import dacite
import tyro

from respawn.checkpoints.config import CheckpointsConfig
from respawn.collection.config import CollectionConfig
from respawn.contracts.records import Episode
from respawn.contracts.settings import check_above, check_at_least, check_between
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.evaluator import summarise
from respawn.evaluation.fish_report import EVALUATION_METRICS
from respawn.evaluation.mario_evaluator import clear_rate_metrics
from respawn.learners.build import LearnerConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.vtrace.config import VTraceConfig
from respawn.memory.replay_config import ReplayConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.training.faults_config import FaultsConfig, Rung
from respawn.training.mario_checks import check_level_gate, check_scouts
from respawn.training.misfits import told
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import WorldConfig, numeric_facts

NOT_NUMBERS = frozenset(
    {
        "updates",
        "minutes",
        "planned_updates",
        "device",
        "wants_gpu",
        "checkpoints",
        "observers",
        "faults",
        "stepped_down",
    }
)
"""Fields that a resumed run may change: when to stop, what to keep and who watches. They decide no number, or, like
the plan and the device, are changed only on purpose and said aloud."""

NOT_NUMBERS_OF_EVALUATION = {"stop_at": None, "stop_after": 1}
"""Fields of an evaluation that a resumed run may change too, by what counts in their place: when to stop."""

NOT_NUMBERS_OF_WORLDS = frozenset({"rom", "engine_threads"})

PATIENCE_OF_WORLDS = {
    "stagger_seconds": 0.0,
    "construct_seconds": 120.0,
    "reset_seconds": 60.0,
    "step_seconds": 60.0,
    "max_replacements": 16,
}
"""How patient a world is with its workers, which a resumed run may change, by what counts in their place: the defaults,
so that runs from before they might be changed are still recognised."""

NOT_NUMBERS_WITHIN = {
    "collection": ("actor_start_seconds", "rollout_seconds", "max_replacements"),
    "learner.replay": ("sampler", "storage", "fallback_ms"),
}
"""How patient one is, and who does what with the same result."""

ADDED_LATER: Mapping[str, Any] = {
    "weights_from": "",
    "recent_episodes": 100,
    "schedules.entropy_windows": [],
    "schedules.curriculum": None,
    "learner.replay": asdict(ReplayConfig()),
    "schedules.windows": [],
    "schedules.adaptive": [],
    "schedules.replay_beta": {
        "shape": "linear",
        "warmup_fraction": 0.0,
        "final_fraction": 1.0,
        "span_fraction": 1.0,
        "initial_fraction": 0.4,
        "points": [],
    },
    "schedules.*.initial_fraction": 1.0,  # after the curves that are left out whole
    "schedules.*.points": [],
    "schedules.progression": json.loads(json.dumps(asdict(ProgressionConfig()))),
    "schedules.curriculum.hard_starts.final_fraction": 1.0,
    "schedules.levels": None,
    "evaluation.scout": {
        "episodes": 0,
        "seed_base": 1_000_000_000,
        "nearest_steps": 10,
        "farthest_steps": 40,
        "greedy": False,
    },
    "collection.actors": 0,
    "collection.most_lag": None,
    "collection.order": "fixed",
    "collection.actor_threads": 1,
    "collection.actor_start_seconds": 120.0,
    "collection.rollout_seconds": 600.0,
    "collection.max_replacements": 3,
}
"""Settings that older runs do not speak of, by the value that stands for what those runs did; `*` is any name.

At that value they decide nothing, so they are left out of what a run is recognised by."""

MOST_UPDATES = 99_999_999
"""A checkpoint's name has eight digits for its update."""

_EVERY_WORLDS_METRICS = tuple(summarise([Episode(lane=0, episode_return=0.0, length=1, end="terminated")]))


@dataclass(frozen=True)
class RunConfig:
    """A training run. `updates` and `minutes` say when to stop; they change no number that is computed before."""

    updates: int | None = None
    """stop after this many updates in all; none: at the end of the plan"""
    minutes: float | None = None
    """stop after this many minutes of training in all, if that comes first"""
    seed: int = 0
    """decides every random number of the run"""
    device: str = "auto"
    """cpu, cuda, cuda:1, …; auto: cuda where there is one"""
    threads: int = 1
    """threads that torch computes with on the CPU; 0: one per core. Part of what makes a run repeatable"""
    planned_updates: int = 150
    """length that schedules spread over; grows to --updates where that is more"""
    wants_gpu: bool = False
    """this run would take very long on a CPU: do not start it there unless asked by --device cpu"""
    recent_episodes: int = 100
    """episodes over which returns, lengths and ends in training are summed up"""
    weights_from: Annotated[str, tyro.conf.arg(metavar="RUN[@CHECKPOINT]")] = ""
    """begin with the weights of this run's newest checkpoint, or of RUN@best or RUN@u00000100, and with nothing else
    of it; 'mario' or 'fish': with those that come with respawn; empty: with fresh ones"""
    world: WorldConfig = field(default_factory=ForeignConfig)
    """where the agent lives"""
    model: ModelConfig = field(default_factory=ModelConfig)
    """what it thinks with"""
    learner: LearnerConfig = field(default_factory=PPOConfig)
    """how it learns"""
    collection: CollectionConfig = field(default_factory=CollectionConfig)
    """how experience is gathered"""
    schedules: SchedulesConfig = field(default_factory=SchedulesConfig)
    """how numbers change while it learns"""
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    """how it is judged"""
    checkpoints: CheckpointsConfig = field(default_factory=CheckpointsConfig)
    """how it is saved"""
    observers: ObserversConfig = field(default_factory=ObserversConfig)
    """who watches"""
    faults: FaultsConfig = field(default_factory=FaultsConfig)
    """what to do when something goes wrong"""
    stepped_down: Annotated[tuple[Rung, ...], tyro.conf.Suppress] = ()
    """the rungs of faults.ladder that were taken so far"""

    def __post_init__(self) -> None:
        """Refuse what no run can be."""
        check_above("--", self, {"minutes": 0})
        check_at_least("--", self, {"seed": 0})
        check_between("--", self, {"recent_episodes": (1, 1_000_000)})
        check_between(
            "--",
            self,
            {
                "updates": (1, MOST_UPDATES),
                "planned_updates": (1, MOST_UPDATES),
                "minutes": (0, 10_000_000),
                "threads": (0, 1024),  # torch crashes the process when it cannot have as many as it was promised
            },
        )
        if isinstance(self.world, FishConfig) and self.model.core != "none":
            raise ConfigError(
                f"model.core must be none in the fish world, not {self.model.core}: a fish's lane is handed to another "
                "when its school begins anew, and would remember for the one before"
            )
        self._check_best_metric()
        self._check_minibatches()
        self._check_cuda_graphs()
        self._check_replay()
        self._check_progression()
        if self.schedules.levels is not None:
            longest = max(self.planned_updates, self.last_update)
            check_level_gate(self.schedules.levels, self.world, self.evaluation, longest)
        check_scouts(self.world, self.evaluation, self.schedules)
        if self.evaluation.worst_films > 0 and not isinstance(self.world, FishConfig):
            raise ConfigError(
                "evaluation.worst-films films schools of fish, and this run is in another world; leave it out, "
                "evaluation.video-every films there"
            )

    def _check_cuda_graphs(self) -> None:
        if not self.model.cuda_graphs:
            return
        if self.collection.actors > 0:
            raise ConfigError("model.cuda-graphs and collection.actors exclude each other; leave out one of the two")
        if self.collection.lag != 0 or self.learner.optimizer.accumulation != 1:
            raise ConfigError(
                "model.cuda-graphs needs collection.lag 0 and learner.optimizer.accumulation 1, and they are "
                f"{self.collection.lag} and {self.learner.optimizer.accumulation}; change them, or leave the graphs out"
            )
        if self.learner.compile:
            raise ConfigError("model.cuda-graphs and learner.compile exclude each other; leave out one of the two")

    def _check_progression(self) -> None:
        """Refuse to force again before what was forced can have shown."""
        most_lag = self.collection.greatest_lag
        for name in ("bootstrap_after", "plateau_after"):
            after = getattr(self.schedules.progression, name)
            if 0 < after <= most_lag:
                raise ConfigError(
                    f"schedules.progression.{name.replace('_', '-')} is {after}, and what is forced shows up to "
                    f"{most_lag} updates later, so it would be forced again before that; take more updates"
                )

    def _check_replay(self) -> None:
        if not isinstance(self.learner, VTraceConfig) or not self.learner.replay.is_on:
            return
        capacity, rollout = self.learner.replay.capacity_decisions, self.collection.decisions_per_rollout
        replayed = self.learner.replay.segments * self.collection.horizon_steps
        if capacity < max(rollout, replayed):
            raise ConfigError(
                f"learner.replay.capacity-decisions must hold one rollout ({rollout:,} decisions) and one replay "
                f"({replayed:,}), and is {capacity:,}; raise it, or leave replay out with 0"
            )
        if self.model.cuda_graphs:
            raise ConfigError(
                "model.cuda-graphs does not go with learner.replay, whose gradient is added to the rollout's; "
                "leave out one of the two"
            )

    @property
    def evaluation_metrics(self) -> tuple[str, ...]:
        """The names of all that an evaluation says in this run's world."""
        if isinstance(self.world, FishConfig):
            return EVALUATION_METRICS
        levels = clear_rate_metrics(self.world) if isinstance(self.world, MarioConfig) else ()
        return (*_EVERY_WORLDS_METRICS, *(f"evaluation/{name}" for name in numeric_facts(self.world)), *levels)

    def _check_best_metric(self) -> None:
        known = self.evaluation_metrics
        if self.checkpoints.best_metric not in known:
            raise ConfigError(
                f"checkpoints.best-metric must be one of {', '.join(known)}, not '{self.checkpoints.best_metric}'"
            )

    def _check_minibatches(self) -> None:
        if not isinstance(self.learner, PPOConfig):
            return
        if self.model.core != "none" and self.learner.minibatches > self.collection.num_lanes:
            raise ConfigError(
                f"with a {self.model.core} core each minibatch takes whole lanes, so learner.minibatches "
                f"({self.learner.minibatches}) must not exceed collection.num-lanes ({self.collection.num_lanes})"
            )
        if self.learner.minibatches > self.collection.decisions_per_rollout:
            raise ConfigError(
                f"learner.minibatches ({self.learner.minibatches}) must not exceed the "
                f"{self.collection.decisions_per_rollout} decisions of a rollout (lanes times horizon steps)"
            )

    @property
    def last_update(self) -> int:
        """The update after which the run is over."""
        return self.planned_updates if self.updates is None else self.updates

    def with_limits(self, updates: int | None, minutes: float | None) -> "RunConfig":
        """The same run with other limits where given; a plan that is too short for them grows."""
        return replace(
            self,
            updates=self.updates if updates is None else updates,
            minutes=self.minutes if minutes is None else minutes,
        ).with_grown_plan()

    def with_grown_plan(self) -> "RunConfig":
        """The same run, planned for at least as many updates as it is to make.

        A plan of phases stays as long as they are: past its end the last one goes on.
        """
        curriculum = self.schedules.curriculum
        if curriculum is not None and curriculum.phases:
            return self
        return replace(self, planned_updates=max(self.planned_updates, self.updates or 0))


def config_to_json(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain data."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return plain


def config_from_json(data: dict[str, Any]) -> RunConfig:
    """The configuration that `config_to_json` wrote; raises ConfigError naming what does not fit."""
    settings = dacite.Config(strict=True, type_hooks={float: _as_float}, cast=[tuple])
    try:
        return dacite.from_dict(RunConfig, data, settings)
    except (dacite.DaciteError, TypeError, ValueError) as error:
        misfit = told(error, RunConfig, settings)
        raise ConfigError(f"config.json does not fit this version of respawn: {misfit}") from error


def _as_float(value: Any) -> Any:
    """JSON may say 1 where a float belongs; a string that looks like a number is still a string."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def config_sha256(config: RunConfig) -> str:
    """A fingerprint of the settings that decide numbers."""
    as_read_back = config_to_json(config_from_json(config_to_json(config)))  # a 1 where a float belongs becomes 1.0
    return hashlib.sha256(json.dumps(deciding_numbers(as_read_back), sort_keys=True).encode()).hexdigest()


def unsaid_settings(config: RunConfig, said: Mapping[str, Any]) -> list[str]:
    """The settings that decide numbers of which plain data, that `config` was read from, said nothing."""
    numbers = deciding_numbers(config_to_json(config))
    for room, names in (("evaluation", NOT_NUMBERS_OF_EVALUATION), ("world", PATIENCE_OF_WORLDS)):
        for name in names:
            numbers[room].pop(name, None)
    return _missing(numbers, said)


def deciding_numbers(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as plain data, without the settings that decide no number."""
    numbers = deepcopy({name: value for name, value in plain.items() if name not in NOT_NUMBERS})
    numbers["evaluation"] = {**numbers["evaluation"], **NOT_NUMBERS_OF_EVALUATION}
    for films in ("video_every", "worst_films"):  # nor does a film
        numbers["evaluation"].pop(films)
    for path, unsaid in ADDED_LATER.items():
        numbers = _without(numbers, path.split("."), unsaid)
    for path, names in NOT_NUMBERS_WITHIN.items():
        room = numbers
        for name in path.split("."):
            room = room.get(name, {})
        for name in names:
            room.pop(name, None)
    # Nor where the game lies (which game it is, is checked when it is opened), nor how many threads run it.
    numbers["world"] = {
        name: PATIENCE_OF_WORLDS.get(name, value)
        for name, value in numbers["world"].items()
        if name not in NOT_NUMBERS_OF_WORLDS
    }
    return numbers


def _without(tree: Mapping[str, Any], path: Sequence[str], unsaid: Any) -> dict[str, Any]:
    """A copy without what `path` leads to, wherever that has the value `unsaid`."""
    name, *deeper = path
    left = {}
    for key, value in tree.items():
        fits = name in ("*", key)
        if fits and deeper and isinstance(value, dict):
            left[key] = _without(value, deeper, unsaid)
        elif not (fits and not deeper and value == unsaid):
            left[key] = value
    return left


def _missing(wanted: Mapping[str, Any], said: Mapping[str, Any], prefix: str = "") -> list[str]:
    missing = []
    for name, value in wanted.items():
        if name not in said:
            missing.append(f"{prefix}{name}")
        elif isinstance(value, dict) and isinstance(said[name], dict):
            missing += _missing(value, said[name], f"{prefix}{name}.")
    return missing
