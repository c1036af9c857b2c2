"""Beginning a new run, and taking up one that was left."""

import shutil
from dataclasses import asdict, replace
from pathlib import Path

from respawn.checkpoints.store import Found, find_newest
from respawn.contracts.records import Event
from respawn.errors import CheckpointError, ConfigError, RomError
from respawn.observers.build import ConsoleFacts, build_observers
from respawn.observers.hub import ObserverHub
from respawn.runs.json_files import write_json_atomically
from respawn.runs.layout import RunFolder, create, default_name
from respawn.runs.metadata import describe_machine, new_meta, read_meta, write_meta
from respawn.training.assemble import assemble
from respawn.training.config import RunConfig, config_to_json
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.training.drive import Outcome, drive, record_failure
from respawn.training.first_weights import begin_with, find_again, find_first_weights, origin_of
from respawn.training.goal import with_new_limits
from respawn.training.recorded import load_config
from respawn.training.run import ROW_STREAMS, Run
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import describe


def begin(config: RunConfig, *, preset: str, runs_dir: Path, name: str | None = None) -> tuple[RunFolder, Outcome]:
    """Make a run folder for `config` and train in it. An existing folder is never adopted."""
    config = settled(config)
    source = find_first_weights(config, runs_dir)
    name = name or default_name(preset, config.seed, runs_dir)
    first_of_all = not runs_dir.exists()
    meta = new_meta(name, preset, describe(config.world), config.seed)
    if source is not None:
        meta = replace(meta, weights_from=origin_of(source))
    folder = create(runs_dir, name, asdict(meta), config_to_json(config))
    with folder.lock():
        try:
            run = _assembled(config, folder, first_update=0)
        except (ConfigError, RomError, KeyboardInterrupt):
            # Nothing was learned: leave no empty run behind.
            shutil.rmtree(folder.path)
            if first_of_all:
                runs_dir.rmdir()
            raise
        except Exception as error:
            # The world failed, not the one who asked for it: its logs are in the folder, and resuming tries again.
            record_failure(folder, error)
            raise
        try:
            if source is not None:
                begin_with(run, source)
            note = _inexact_note(config, run)
            if note:
                write_meta(folder, replace(meta, exact_resume=False, exact_resume_note=note))
                run.tell(Event("inexact_resume", note, "warning"))
        except BaseException:
            run.close()
            raise
        return folder, drive(run, folder)


def settled(config: RunConfig) -> RunConfig:
    """The same run with what this machine makes of it: where it computes, and a plan as long as its limit."""
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    return replace(config, device=str(device), threads=resolve_threads(config.threads)).with_grown_plan()


def _inexact_note(config: RunConfig, run: Run) -> str:
    """Why the run cannot be taken up as if it had never been left; empty: it can."""
    if not run.world.exact_resume:
        return f"{run.world.name} cannot say its state, so its episodes begin anew when the run is resumed"
    if config.collection.actors > 0 and config.collection.order == "free":
        return (
            "collection.order free learns from whichever rollout is ready, so no run is like another; it goes on "
            "where it was when it is resumed, but not to the same numbers"
        )
    return ""


def take_up(
    folder: RunFolder,
    *,
    updates: int | None = None,
    minutes: float | None = None,
    device: str | None = None,
    rom: Path | None = None,
) -> Outcome:
    """Go on with a run from its newest whole checkpoint, to its own limits or to new ones.

    Args:
      folder: the run.
      updates: make so many in all; None: as many as before.
      minutes: train so long in all; None: as long as before.
      device: where to compute; None: where it was.
      rom: Mario: where the game lies now; None: where it lay.
    """
    with folder.lock():
        before = load_config(folder)
        found = find_newest(folder.checkpoints)
        config = with_new_limits(before, found, updates, minutes)
        config = replace(config, device=str(resolve_device(device or config.device, wants_gpu=config.wants_gpu)))
        if rom is not None:
            config = _with_rom(config, rom)
        run = _assembled(config, folder, first_update=0 if found is None else found.manifest.updates)
        try:
            _restore(run, folder, found, config)
            events = _about_resuming(run, folder, found, before, config)
            if config != before:
                write_json_atomically(folder.config, config_to_json(config))
        except BaseException:
            run.close()
            raise
        for event in events:
            run.tell(event)
        return drive(run, folder)


def _with_rom(config: RunConfig, rom: Path) -> RunConfig:
    if not isinstance(config.world, MarioConfig):
        raise ConfigError("--rom names Mario's game, and this run is of another world; leave it out")
    return replace(config, world=replace(config.world, rom=str(rom.expanduser().absolute())))


def _assembled(config: RunConfig, folder: RunFolder, first_update: int) -> Run:
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    prepare_torch(device, config.threads)
    facts = ConsoleFacts(total_updates=config.last_update, total_minutes=config.minutes, first_update=first_update)
    observers: ObserverHub = build_observers(folder, config.observers, facts)
    try:
        return assemble(config, folder, observers, device)
    except BaseException:
        observers.close()
        raise


def _restore(run: Run, folder: RunFolder, found: Found | None, config: RunConfig) -> None:
    run.checkpointer.clean()
    if found is None:
        if folder.updates.stat().st_size > 0:
            raise CheckpointError(
                f"run {folder.name} has made updates, but {folder.checkpoints} holds no checkpoint; "
                "put the checkpoints back, or start a new run"
            )
        # A run saves before its first update, so it was killed before it made one: nothing is lost.
        run.observers.restore({name: {"bytes": 0} for name in ROW_STREAMS})
        source = find_again(folder, config)
        if source is not None:
            begin_with(run, source)
        return
    run.restore(found)
    for name in found.passed_over:
        run.checkpointer.set_aside(name.partition(":")[0])


def _about_resuming(
    run: Run, folder: RunFolder, found: Found | None, before: RunConfig, config: RunConfig
) -> list[Event]:
    events = []
    if found is None:
        events.append(Event("resumed", "no checkpoint yet: the run begins at its beginning"))
    else:
        for reason in found.passed_over:
            events.append(Event("damaged_checkpoint", f"passed over a damaged checkpoint, {reason}", "warning"))
        events.append(Event("resumed", f"resumed from {found.path.name}", facts={"update": run.clock.updates}))
    if config.planned_updates != before.planned_updates:
        message = (
            f"the plan grows from {before.planned_updates} to {config.planned_updates} updates: "
            "schedules follow the new plan from here"
        )
        events.append(Event("plan_extended", message, "warning"))
    if config.evaluation.stop_at != before.evaluation.stop_at:
        events.append(Event("goal_lifted", "the goal was reached before, and stops the run no longer"))
    if config.device != before.device:
        message = f"the run moves from {before.device} to {config.device}: numbers may differ in the last digits"
        events.append(Event("device_changed", message, "warning"))
    meta = read_meta(folder)
    here = describe_machine()
    changed = [key for key in ("cpu", "torch", "numpy", "gymnasium") if here[key] != meta.machine.get(key)]
    if changed:
        differences = ", ".join(f"{key} {meta.machine.get(key)} → {here[key]}" for key in changed)
        message = f"not the machine that the run began on ({differences}): numbers may differ in the last digits"
        events.append(Event("machine_changed", message, "warning"))
    if meta.exact_resume_note:
        events.append(Event("inexact_resume", meta.exact_resume_note, "warning"))
    return events
