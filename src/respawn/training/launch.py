"""Beginning a new run, and taking up one that was left."""

import gc
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import torch

from respawn.checkpoints.checkpointer import put_back
from respawn.checkpoints.store import find_newest
from respawn.contracts.records import Event
from respawn.errors import CheckpointError, ConfigError, RomError, RunFolderError
from respawn.learners.out_of_memory import in_short
from respawn.observers.hub import ObserverFailure
from respawn.runs.json_files import write_json_atomically
from respawn.runs.layout import RunFolder, create, default_name
from respawn.runs.metadata import new_meta, read_meta, write_meta
from respawn.training.config import RunConfig, config_to_json
from respawn.training.device import resolve_device, resolve_threads
from respawn.training.drive import Outcome, StopWhen, drive
from respawn.training.failures import ASSEMBLING, STEPPING, failure_recorded, interruption_recorded, record_alone
from respawn.training.first_weights import begin_with, find_first_weights, origin_of
from respawn.training.goal import with_new_limits
from respawn.training.memory_ladder import Shortage, describe_step
from respawn.training.recorded import load_config
from respawn.training.reopening import about_damage, about_hanging, about_resuming, assembled, restore
from respawn.training.run import Run
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import describe

REFUSED_AT_THE_START = (ConfigError, RomError)
"""Errors that leave no run behind."""
REFUSED_LATER = (ConfigError, RomError, CheckpointError, RunFolderError)
"""Errors that leave a run as it was."""


def begin(
    config: RunConfig, *, preset: str, runs_dir: Path, name: str | None = None, stop_when: StopWhen | None = None
) -> tuple[RunFolder, Outcome]:
    """Make a run folder for `config` and train in it. An existing folder is never adopted.

    Args:
      config: what to train.
      preset: what it was made from.
      runs_dir: the folder that holds the runs.
      name: what to call it; None: preset, seed and time.
      stop_when: see `drive`.
    """
    config = settled(config)
    source = find_first_weights(config, runs_dir)
    name = name or default_name(preset, config.seed, runs_dir)
    first_of_all = not runs_dir.exists()
    meta = new_meta(name, preset, describe(config.world), config.seed)
    if source is not None:
        meta = replace(meta, weights_from=origin_of(source))
    folder = create(runs_dir, name, asdict(meta), config_to_json(config))

    def make(config: RunConfig) -> Run:
        try:
            with failure_recorded(folder, REFUSED_AT_THE_START):
                run = assembled(config, folder, None)
                if source is not None:
                    with _closed_if_it_fails(run):
                        begin_with(run, source)
        except (*REFUSED_AT_THE_START, KeyboardInterrupt):
            # Nothing was learned: leave no empty run behind.
            shutil.rmtree(folder.path)
            if first_of_all:
                with suppress(OSError):  # others have begun runs there meanwhile
                    runs_dir.rmdir()
            raise
        with _closed_if_it_fails(run):
            _note_if_inexact(folder, config, run)
        return run

    with folder.lock():
        return folder, _train(config, folder, make, stop_when)


def settled(config: RunConfig) -> RunConfig:
    """The same run with what this machine makes of it: where it computes, and a plan as long as its limit."""
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    return replace(config, device=str(device), threads=resolve_threads(config.threads)).with_grown_plan()


def _note_if_inexact(folder: RunFolder, config: RunConfig, run: Run) -> None:
    """Say in meta.json, once, that the run cannot be taken up as if it had never been left, where that is so."""
    meta, note = read_meta(folder), _inexact_note(config, run)
    if note and meta.exact_resume:
        write_meta(folder, replace(meta, exact_resume=False, exact_resume_note=note))
        run.tell(Event("inexact_resume", note, "warning"))


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
    stop_when: StopWhen | None = None,
) -> Outcome:
    """Go on with a run from its newest whole checkpoint, to its own limits or to new ones.

    Args:
      folder: the run.
      updates: make so many in all; None: as many as before.
      minutes: train so long in all; None: as long as before.
      device: where to compute; None: where it was.
      rom: Mario: where the game lies now; None: where it lay.
      stop_when: see `drive`.
    """
    with folder.lock():
        before = load_config(folder)
        put_back(folder.checkpoints)
        found = find_newest(folder.checkpoints)
        hung = about_hanging(folder)
        config = with_new_limits(before, found, updates, minutes)
        config = replace(config, device=str(resolve_device(device or config.device, wants_gpu=config.wants_gpu)))
        if rom is not None:
            config = _with_rom(config, rom)

        def make(config: RunConfig) -> Run:
            with failure_recorded(folder, REFUSED_LATER):
                run = assembled(config, folder, found)
                with _closed_if_it_fails(run):
                    reopened = restore(run, folder, found, config)
            with _closed_if_it_fails(run):
                events = [*hung, *about_resuming(run, folder, found, before, config)]
                if reopened.lost:
                    message = f"resumed on another rung of the memory ladder than it was saved on{reopened.lost}"
                    events.append(Event("rung_changed", message, "warning"))
                if config != before:
                    write_json_atomically(folder.config, config_to_json(config))
            for event in events:
                run.tell(event)
            return run

        return _train(config, folder, make, stop_when)


def _with_rom(config: RunConfig, rom: Path) -> RunConfig:
    if not isinstance(config.world, MarioConfig):
        raise ConfigError("--rom names Mario's game, and this run is of another world; leave it out")
    return replace(config, world=replace(config.world, rom=str(rom.expanduser().absolute())))


@contextmanager
def _closed_if_it_fails(run: Run) -> Iterator[None]:
    try:
        yield
    except BaseException:
        run.close()
        raise


def _train(
    config: RunConfig, folder: RunFolder, make: Callable[[RunConfig], Run], stop_when: StopWhen | None
) -> Outcome:
    """Train what `make` makes; where a GPU's memory does not suffice, again, one rung further down the ladder."""
    with interruption_recorded(folder, ASSEMBLING):
        return _train_down(config, folder, make, stop_when)


def _train_down(
    config: RunConfig, folder: RunFolder, make: Callable[[RunConfig], Run], stop_when: StopWhen | None
) -> Outcome:
    failures: tuple[ObserverFailure, ...] = ()
    while True:
        shortage = Shortage(config, failures)
        try:
            return drive(make(config), folder, shortage, stop_when)
        except Exception as error:
            if shortage.lower is None or not shortage.is_survivable(error):
                explained = shortage.explained(error)
                if explained is error:
                    raise
                record_alone(folder, explained)  # it was not even put together: nobody else could
                raise explained from error
            cause, failures = in_short(error), shortage.observer_failures
        # Only here are the error's frames gone, and with them what they held in memory.
        make = _one_rung_down(folder, cause)
        config = shortage.lower


def _one_rung_down(folder: RunFolder, cause: str) -> Callable[[RunConfig], Run]:
    """How the run is made again from its newest checkpoint, smaller."""

    def make(config: RunConfig) -> Run:
        with interruption_recorded(folder, STEPPING), failure_recorded(folder):
            return remake(config)

    def remake(config: RunConfig) -> Run:
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        # Not the last one tried: that one may have failed before anybody could be told of its rung.
        told = load_config(folder)
        found = find_newest(folder.checkpoints)
        updates = 0 if found is None else found.manifest.updates
        run = assembled(config, folder, found)
        with _closed_if_it_fails(run):
            reopened = restore(run, folder, found, config)
            for event in about_damage(found):
                run.tell(event)
            _note_if_inexact(folder, config, run)
            message = f"the memory did not suffice ({cause}): stepped down, {describe_step(told, config)}; "
            message += f"the run goes on from update {updates}{reopened.lost}"
            facts = {"rung": config.stepped_down[-1], "rungs_taken": len(config.stepped_down), "update": updates}
            run.tell(Event("stepped_down", message, "warning", facts))
            # After everybody knows: killed before this line, the run finds the rung again by itself.
            write_json_atomically(folder.config, config_to_json(config))
        return run

    return make
