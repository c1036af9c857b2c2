"""From a configuration to a run. Construction only."""

import math
from collections.abc import Callable
from dataclasses import fields, replace

import torch

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import Identity
from respawn.collection.actor import Actor
from respawn.collection.overlap import OverlapCollector
from respawn.collection.sync import SyncCollector
from respawn.contracts.clock import Clock
from respawn.contracts.collector import Collector
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import Event
from respawn.contracts.schedule import Schedule
from respawn.contracts.world import World, WorldSpec
from respawn.errors import ConfigError
from respawn.evaluation.evaluator import Evaluator
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.learners.build import build_learner
from respawn.learners.trainee import ModelWeights
from respawn.maths.seeding import derive_seed, make_generator
from respawn.models.actor_critic import ActorCritic
from respawn.models.build import build_model
from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder
from respawn.schedules.config import CurveConfig
from respawn.schedules.curriculum import Curriculum
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.curves import Curve
from respawn.schedules.director import Director
from respawn.schedules.windows import Windows
from respawn.training.cadence import Cadence
from respawn.training.config import RunConfig, config_sha256
from respawn.training.gate_start import check_gate
from respawn.training.periodic_films import PeriodicFilms
from respawn.training.reporter import Reporter
from respawn.training.run import Pending, Run
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.registry import caveats, make_world


def assemble(config: RunConfig, folder: RunFolder, observers: ObserverHub, device: torch.device) -> Run:
    """Build every part of the run that `config` describes, as it is before its first update."""
    for caveat in caveats(config.world):
        observers.receive(caveat)
    world = make_training_world(config, folder, observers.receive, device)
    spec = world.spec
    model = fresh_model(config, spec, device)
    learner = build_learner(
        config.learner, model, make_generator(config.seed, "learner", device=device), observers.receive
    )
    clock = Clock()
    knobs = (*learner.knobs, *spec.knobs)
    director = Director(knobs, _schedules(config, knobs, spec))
    evaluator = _evaluator(config, spec, folder, observers, device)
    if isinstance(evaluator, FishEvaluator):
        for explanation in check_gate(config, evaluator):
            observers.receive(explanation)
    return Run(
        lag=config.collection.lag,
        world=spec,
        clock=clock,
        collector=_collector(config, world, device),
        learner=learner,
        weights=ModelWeights(model),
        director=director,
        evaluator=evaluator,
        observers=observers,
        cadence=Cadence(
            config.evaluation,
            config.checkpoints,
            last_update=config.last_update,
            limit_seconds=None if config.minutes is None else config.minutes * 60,
        ),
        reporter=Reporter(clock, spec),
        checkpointer=Checkpointer(folder.checkpoints, config.checkpoints, identity_of(config, spec)),
        pending=Pending(device),
        films=PeriodicFilms(config, folder, fingerprint(spec), device, observers.receive),
    )


def _evaluator(
    config: RunConfig, spec: WorldSpec, folder: RunFolder, observers: ObserverHub, device: torch.device
) -> Evaluator | FishEvaluator:
    model = fresh_model(config, spec, device)
    if isinstance(config.world, FishConfig):
        return FishEvaluator(config.world, model, config.evaluation, device)
    return Evaluator(
        lambda num_lanes: make_judging_world(config, num_lanes, folder, observers.receive, device),
        model,
        config.evaluation,
        device,
    )


def make_training_world(
    config: RunConfig, folder: RunFolder, notify: Callable[[Event], None], device: torch.device
) -> World:
    """The world that the run learns in."""
    return make_world(
        config.world,
        config.collection.num_lanes,
        device=device,
        seed=derive_seed(config.seed, "world"),
        diagnostics=folder.workers,
        notify=notify,
    )


def make_judging_world(
    config: RunConfig, num_lanes: int, folder: RunFolder, notify: Callable[[Event], None], device: torch.device
) -> World:
    """A world of the same kind, apart from the one that the run learns in."""
    return make_world(
        config.world,
        num_lanes,
        device=device,
        seed=derive_seed(config.seed, "judging world"),
        diagnostics=folder.workers / "evaluation",
        notify=notify,
    )


def fresh_model(config: RunConfig, spec: WorldSpec, device: torch.device) -> ActorCritic:
    """The model with its first weights."""
    return build_model(spec, config.model, seed=derive_seed(config.seed, "model"), device=device)


def identity_of(config: RunConfig, spec: WorldSpec) -> Identity:
    """What a checkpoint must be of, to be of use to this run."""
    return Identity(config_sha256(config), fingerprint(spec))


def fingerprint(spec: WorldSpec) -> str:
    """What a world's checkpoints must agree on: its name, what is seen and what is done there."""
    observation = f"{spec.observation.dtype} {list(spec.observation.shape)}"
    return f"{spec.name} (sees {observation}, does {spec.actions})"


def _collector(config: RunConfig, world: World, device: torch.device) -> Collector:
    num_lanes = world.spec.num_lanes
    actor = Actor(
        fresh_model(config, world.spec, device), num_lanes, make_generator(config.seed, "actor", device=device)
    )
    collector = SyncCollector(
        world,
        actor,
        horizon_steps=config.collection.horizon_steps,
        device=device,
    )
    return OverlapCollector(collector) if config.collection.lag == 1 and config.collection.threaded else collector


def _schedules(config: RunConfig, knobs: tuple[KnobSpec, ...], world: WorldSpec) -> list[Schedule]:
    settings = {knob.name: knob.default for knob in knobs}
    given = config.schedules
    values = {field.name: getattr(given, field.name) for field in fields(given)}
    # A curve that bends nothing needs no knob; one that does, and finds none, is refused by the director.
    curves = {
        name: curve
        for name, curve in values.items()
        if isinstance(curve, CurveConfig) and (name in settings or curve != CurveConfig())
    }
    schedules: list[Schedule] = []
    if given.entropy_windows:
        curves.pop("entropy_cost", None)
        schedules.append(Windows("entropy_cost", settings.get("entropy_cost", 0.0), given.entropy_windows))
    schedules += [Curve(name, settings.get(name, 0.0), curve, config.planned_updates) for name, curve in curves.items()]
    if given.curriculum is not None and given.curriculum.says_anything:
        _check_phases(given.curriculum, knobs)
        num_schools = world.num_lanes // world.lanes_per_episode
        curriculum = _with_enough_starts(given.curriculum, config)
        schedules.append(Curriculum(curriculum, planned_updates=config.planned_updates, num_schools=num_schools))
    return schedules


def _check_phases(curriculum: CurriculumConfig, knobs: tuple[KnobSpec, ...]) -> None:
    """Refuse what a later phase asks for and the world cannot give now, not when that phase begins."""
    ranges = {knob.name: (knob.low, knob.high) for knob in knobs}
    for number, phase in enumerate(curriculum.phases, start=1):
        asked = {
            curriculum.size_knob: phase.size,
            curriculum.penalty_knob: phase.penalty,
            curriculum.boost_knob: phase.boost,
        }
        for name, value in asked.items():
            low, high = ranges.get(name, (-math.inf, math.inf))
            if value is not None and not low <= value <= high:
                raise ConfigError(
                    f"phase {number} of the curriculum sets {name} to {value:g}, and this world takes {low:g} to "
                    f"{high:g}; change the phase or the world"
                )


def _with_enough_starts(curriculum: CurriculumConfig, config: RunConfig) -> CurriculumConfig:
    """The same, with as many hard starts laid out as schools may take before the schedule hears of it."""
    hard_starts, world = curriculum.hard_starts, config.world
    if hard_starts is None or not isinstance(world, FishConfig):
        return curriculum
    shortest = world.forced_reset_steps or world.limit_steps
    # One more than fit, for schools that begin early; and with lag 1 the rollout before is not counted yet.
    needed = (config.collection.lag + 1) * (math.ceil(config.collection.horizon_steps / shortest) + 1)
    offered = max(hard_starts.offered_per_school, needed)
    return replace(curriculum, hard_starts=replace(hard_starts, offered_per_school=offered))
