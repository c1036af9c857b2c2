"""From a configuration to a run. Construction only."""

import math
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial

import torch

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.checkpoints.store import Identity
from respawn.collection.overlap import OverlapCollector
from respawn.contracts.clock import Clock
from respawn.contracts.collector import Collector
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Event
from respawn.contracts.schedule import Schedule
from respawn.contracts.world import World, WorldSpec
from respawn.errors import ConfigError
from respawn.evaluation.evaluator import Evaluator
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.evaluation.mario_evaluator import MarioEvaluator
from respawn.learners.build import build_learner
from respawn.learners.trainee import ModelWeights
from respawn.learners.vtrace.config import VTraceConfig
from respawn.maths.seeding import derive_seed, make_generator
from respawn.memory.replay_room import check_room
from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder
from respawn.schedules.curriculum import Curriculum
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.director import Director
from respawn.schedules.level_gate import LevelGate
from respawn.schedules.progression import Progression
from respawn.training.actor_process import make_actor_pool
from respawn.training.cadence import Cadence
from respawn.training.cold_start import make_progression
from respawn.training.collecting import fresh_model, make_training_world, sync_collector
from respawn.training.config import RunConfig, config_sha256
from respawn.training.gate_start import check_gate
from respawn.training.knob_schedules import knob_schedules
from respawn.training.memory_ladder import RungsTaken, after_steps
from respawn.training.number_guard import NumberGuard
from respawn.training.periodic_films import PeriodicFilms
from respawn.training.reporter import Reporter
from respawn.training.run import Pending, Run
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import caveats, make_world

SHORTEST_COMMON_EPISODE = 16
"""Decisions that Mario survives even where he began shortly before a place where he dies."""


def assemble(
    config: RunConfig, folder: RunFolder, observers: ObserverHub, device: torch.device, pulse: Pulse = NO_PULSE
) -> Run:
    """Build every part of the run that `config` describes, as it is before its first update."""
    pulse.mark("assemble")
    asked, config = config, after_steps(config)
    for caveat in caveats(config.world):
        observers.receive(caveat)
    notify = partial(_tell_that_it_moves, observers, pulse)
    with ExitStack() as failing:  # threads, processes and a GPU's memory must not outlive what failed
        collector: Collector
        if config.collection.actors == 0:
            world = make_training_world(config, folder, notify, device)
            failing.callback(world.close)
            progression, spec = make_progression(config, world, observers.receive), world.spec
            collector = _collector(config, world, device, pulse)
            failing.pop_all()
            failing.callback(collector.close)  # the world with it
        else:
            pool = collector = make_actor_pool(config, folder, notify, device, pulse)
            failing.callback(pool.close)
            progression, spec = _progression_of_actors(config, folder, observers.receive), pool.spec
        run = _assembled(config, folder, observers, device, collector, spec, progression, pulse)
        # Known by what was asked for, whichever rung of the memory ladder it is on.
        run.checkpointer.identity = identity_of(asked, run.world)
        failing.pop_all()
        return run


def _tell_that_it_moves(observers: ObserverHub, pulse: Pulse, event: Event) -> None:
    """A worker or an actor that is replaced is a move too, where nothing else is seen of it for long."""
    pulse.moved()
    observers.receive(event)


def _progression_of_actors(
    config: RunConfig, folder: RunFolder, notify: Callable[[Event], None]
) -> tuple[Progression, ...]:
    """What the first actor's world says of actions, asked of one that is made for it and closed again."""
    if not config.schedules.progression.says_anything:
        return ()
    with closing(make_training_world(config, folder, notify, torch.device("cpu"), place="probing")) as world:
        return make_progression(config, world, notify)


def _assembled(
    config: RunConfig,
    folder: RunFolder,
    observers: ObserverHub,
    device: torch.device,
    collector: Collector,
    spec: WorldSpec,
    progression: tuple[Progression, ...],
    pulse: Pulse,
) -> Run:
    model = fresh_model(config, spec, device)
    if isinstance(config.learner, VTraceConfig) and config.learner.replay.is_on:
        horizon, memory = config.collection.horizon_steps, model.initial_memory(spec.num_lanes)
        check_room(config.learner.replay, spec, horizon, memory, device)
    learner = build_learner(
        config.learner, model, make_generator(config.seed, "learner", device=device), observers.receive
    )
    clock = Clock()
    knobs = (*learner.knobs, *spec.knobs)
    director = Director(knobs, [*_schedules(config, knobs, spec), *progression])
    evaluator = _evaluator(config, spec, folder, observers, device, pulse)
    if isinstance(evaluator, FishEvaluator):
        for explanation in check_gate(config, evaluator):
            observers.receive(explanation)
    return Run(
        lag=min(config.collection.greatest_lag, 1),
        world=spec,
        clock=clock,
        collector=collector,
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
        reporter=Reporter(clock, spec, config.recent_episodes, collects_beside=config.collection.goes_on_beside),
        checkpointer=Checkpointer(folder.checkpoints, config.checkpoints, identity_of(config, spec)),
        pending=Pending(device),
        films=PeriodicFilms(config, folder, fingerprint(spec), device, observers.receive),
        rungs_taken=RungsTaken(config.stepped_down),
        guard=NumberGuard(config.faults, folder.faults, observers.receive),
        pulse=pulse,
    )


def _evaluator(
    config: RunConfig,
    spec: WorldSpec,
    folder: RunFolder,
    observers: ObserverHub,
    device: torch.device,
    pulse: Pulse,
) -> Evaluator | FishEvaluator:
    model = fresh_model(config, spec, device)
    if isinstance(config.world, FishConfig):
        return FishEvaluator(config.world, model, config.evaluation, device, pulse)

    def make(num_lanes: int) -> World:
        return make_judging_world(config, num_lanes, folder, partial(_tell_that_it_moves, observers, pulse), device)

    if isinstance(config.world, MarioConfig):
        return MarioEvaluator(config.world, make, model, config.evaluation, device, pulse)
    return Evaluator(make, model, config.evaluation, device, pulse)


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


def identity_of(config: RunConfig, spec: WorldSpec) -> Identity:
    """What a checkpoint must be of, to be of use to this run."""
    return Identity(config_sha256(config), fingerprint(spec))


def fingerprint(spec: WorldSpec) -> str:
    """What a world's checkpoints must agree on: its name, what is seen and what is done there."""
    observation = f"{spec.observation.dtype} {list(spec.observation.shape)}"
    return f"{spec.name} (sees {observation}, does {spec.actions})"


def _collector(config: RunConfig, world: World, device: torch.device, pulse: Pulse) -> Collector:
    """Gathers in this process: in its own thread where that overlaps with learning."""
    collector = sync_collector(config, world, device, pulse=pulse)
    return OverlapCollector(collector, pulse) if config.collection.goes_on_beside else collector


def _schedules(config: RunConfig, knobs: tuple[KnobSpec, ...], world: WorldSpec) -> list[Schedule]:
    given = config.schedules
    schedules = knob_schedules(config, knobs)
    if given.curriculum is not None and given.curriculum.says_anything:
        _check_phases(given.curriculum, knobs)
        num_schools = config.collection.num_worlds * world.num_lanes // world.lanes_per_episode
        curriculum = _with_enough_starts(given.curriculum, config)
        schedules.append(Curriculum(curriculum, planned_updates=config.planned_updates, num_schools=num_schools))
    if given.levels is not None and isinstance(config.world, MarioConfig):
        schedules.append(LevelGate(given.levels.for_levels(len(config.world.start_levels))))
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
    if hard_starts is None or not isinstance(world, FishConfig | MarioConfig):
        return curriculum
    if isinstance(world, MarioConfig):
        shortest = SHORTEST_COMMON_EPISODE
    else:
        shortest = world.forced_reset_steps or world.limit_steps
    # One more than fit, for schools that begin early; and with lag 1 the rollout before is not counted yet.
    needed = (config.collection.greatest_lag + 1) * (math.ceil(config.collection.horizon_steps / shortest) + 1)
    offered = max(hard_starts.offered_per_school, needed)
    return replace(curriculum, hard_starts=replace(hard_starts, offered_per_school=offered))
