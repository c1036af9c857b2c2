"""Actors of a run: how they are started, and what each builds in its own process."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from respawn.collection.actor_crew import KIND
from respawn.collection.actor_pool import ActorPool
from respawn.collection.actor_service import SharedFiles, serve
from respawn.collection.slots import SlotLayout, lay_out
from respawn.collection.sync import SyncCollector
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Event
from respawn.errors import ConfigError
from respawn.processes.child import ChildProcess, Family
from respawn.processes.lifeline import live_and_die_with
from respawn.processes.limits import allowed_cores, usable_cores
from respawn.processes.marks import Marks, marks_path, output_path
from respawn.runs.layout import RunFolder
from respawn.training.collecting import fresh_model, make_training_world, sync_collector
from respawn.training.config import RunConfig, config_from_json, config_to_json
from respawn.training.device import prepare_torch
from respawn.worlds.mario.config import MarioConfig

MOST_ACTORS_A_CORE = 8
"""More than that would keep each other from ever starting."""


@dataclass(frozen=True)
class ActorPlan:
    """All that an actor is told when it starts."""

    number: int
    config: dict[str, Any]
    """of the run, as plain data"""
    folder: Path
    """of the run; empty paths of worlds are looked for as the run itself would"""
    files: SharedFiles
    family: Family


def make_actor_pool(
    config: RunConfig,
    folder: RunFolder,
    notify: Callable[[Event], None],
    device: torch.device,
    pulse: Pulse = NO_PULSE,
) -> ActorPool:
    """Start the actors of a run."""
    _check_cores(config.collection.actors, notify)
    diagnostics = folder.workers / "actors"
    return ActorPool(
        config.collection,
        partial(_launch, config, folder, diagnostics),
        diagnostics=diagnostics,
        notify=notify,
        device=device,
        pulse=pulse,
    )


def _check_cores(actors: int, notify: Callable[[Event], None]) -> None:
    """Warn of actors that take turns; refuse so many that the machine would do nothing else."""
    cores, allowed = usable_cores(), allowed_cores()
    if actors > MOST_ACTORS_A_CORE * allowed:  # not by a container's quota: a run that went on within it goes on
        raise ConfigError(
            f"collection.actors is {actors}, and there are {allowed} cores here, so that they would keep each other "
            f"from ever starting; use at most {MOST_ACTORS_A_CORE * allowed}, and as many as there are cores to be fast"
        )
    if actors > cores:
        message = (
            f"{actors} actors want a core each, and there are {cores}: they take turns, and fewer would be as fast"
        )
        notify(Event("actors_take_turns", message, "warning", {"actors": actors, "cores": cores}))


def _launch(config: RunConfig, folder: RunFolder, diagnostics: Path, number: int, files: SharedFiles) -> ChildProcess:
    def plan(family: Family) -> ActorPlan:
        return ActorPlan(number, config_to_json(config), folder.path, files, family)

    return ChildProcess(
        "respawn.training.actor_process",
        plan,
        output=output_path(diagnostics, number, KIND),
        threads=config.collection.actor_threads,
        descriptors=(*files.slots, files.mailbox),
    )


def run(connection: "Connection[Any, Any]", plan: ActorPlan) -> None:
    """Be an actor until told to close, or until the parent is gone."""
    live_and_die_with(plan.family.parent, plan.family.lifeline)
    folder = RunFolder(plan.folder)
    marks = Marks(marks_path(folder.workers / "actors", plan.number, KIND), plan.number, KIND)

    def build() -> tuple[SyncCollector, SlotLayout]:
        config = config_from_json(plan.config)
        return build_actor(config, folder, plan.number, lambda event: connection.send(("event", event)))

    serve(connection, plan.files, marks, build)


def build_actor(
    config: RunConfig, folder: RunFolder, number: int, notify: Callable[[Event], None]
) -> tuple[SyncCollector, SlotLayout]:
    """The collector of one actor, on the CPU, and what its slots are like."""
    threads, device = config.collection.actor_threads, torch.device("cpu")
    prepare_torch(device, threads)
    if isinstance(config.world, MarioConfig) and config.world.engine_threads == 0:
        config = replace(config, world=replace(config.world, engine_threads=threads))
    world = make_training_world(config, folder, notify, device, number)
    model = fresh_model(config, world.spec, device)
    layout = lay_out(
        world.spec, config.collection.horizon_steps, model.initial_memory(world.spec.num_lanes), model.state_dict()
    )
    return sync_collector(config, world, device, number), layout
