"""Putting a run together, fresh or as its newest checkpoint says, and saying what is not as it was."""

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import torch

from respawn.checkpoints.resumption import check_nothing_is_lost
from respawn.checkpoints.store import Found, read_part
from respawn.contracts.records import Event
from respawn.errors import RunFolderError
from respawn.observers.build import ConsoleFacts, Watched, build_observers
from respawn.observers.hints import Hints
from respawn.observers.hub import ObserverHub
from respawn.observers.thread_phases import ThreadPhases
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import describe_machine, read_meta, write_status
from respawn.runs.reader import last_row
from respawn.runs.streams import ROW_STREAMS
from respawn.training.assemble import assemble
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.first_weights import begin_with, find_again
from respawn.training.hint_facts import hint_facts
from respawn.training.memory_ladder import after_steps, holds_replay
from respawn.training.run import LADDER, Run
from respawn.worlds.foreign.config import ForeignConfig


def assembled(config: RunConfig, folder: RunFolder, found: Found | None) -> Run:
    """The run as it is before its first update, with all who watch it, who know which checkpoint it will take up."""
    begins_at = (0, 0) if found is None else (found.manifest.updates, found.manifest.decisions)
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    prepare_torch(device, config.threads)
    facts = ConsoleFacts(total_updates=config.last_update, total_minutes=config.minutes, first_update=begins_at[0])
    phases = ThreadPhases()
    phases.mark("assemble")
    stops = config.faults.stall == "stop"
    watched = Watched(
        phases,
        str(device),
        _end_process(folder) if stops else _only_told,
        ends_when_hung=stops,
        patience_seconds=_patience_seconds(config),
        begins_at=begins_at,
    )
    observers: ObserverHub = build_observers(folder, config.observers, facts, watched)
    try:
        run = assemble(config, folder, observers, device, phases)
    except BaseException:
        observers.close()
        raise
    try:
        if config.observers.hints:
            observers.add("hints", _hints(config, run, device))
    except BaseException:
        run.close()
        raise
    return run


def _patience_seconds(config: RunConfig) -> float:
    """How long those who watch workers and actors may take to replace one, of which nobody else need know."""
    of_world = config.world.patience_seconds if isinstance(config.world, ForeignConfig) else 0.0
    return max(config.collection.patience_seconds, of_world)


def _hints(config: RunConfig, run: Run, device: torch.device) -> Hints:
    return Hints(
        hint_facts(config, run.world, device),
        run.tell,
        cooldown_updates=config.observers.hint_cooldown_updates,
        off=config.observers.hints_off,
    )


def _only_told(sentence: str) -> None:
    """Do nothing more."""


def _end_process(folder: RunFolder) -> Callable[[str], None]:
    """End a process that hangs, as a failure: nothing that it might still do can be waited for."""

    def end(sentence: str) -> None:
        try:
            command = f"respawn resume {shlex.quote(str(folder.path))}"
            said = f"respawn: run {folder.name} was ended because {sentence}; go on with: {command}"
            with suppress(OSError):  # the terminal may be gone
                print(said, file=sys.stderr, flush=True)  # first: what hangs may be the disk
            write_status(folder, "failed", cause=sentence)
            folder.failure.write_text(f"{sentence}\n", encoding="utf-8")
        finally:
            os._exit(1)

    return end


@dataclass(frozen=True)
class Reopened:
    """How much of a checkpoint could be taken up."""

    replay_is_empty: bool = False
    episodes_begin_anew: bool = False

    @property
    def lost(self) -> str:
        """What could not, in words that end a sentence; empty: all could."""
        episodes = ", its episodes begin anew" if self.episodes_begin_anew else ""
        return episodes + (" and its replay is empty" if self.replay_is_empty else "")


def restore(run: Run, folder: RunFolder, found: Found | None, config: RunConfig) -> Reopened:
    """Take up what a checkpoint holds; all of it, unless it was made on another rung of the memory ladder."""
    if found is None:
        check_nothing_is_lost(folder)
        run.checkpointer.clean()
        # A run saves before its first update, so it was killed before it made one: nothing is lost.
        run.observers.restore({name: {"bytes": 0} for name in ROW_STREAMS})
        source = find_again(folder, config)
        if source is not None:
            begin_with(run, source)
        return Reopened()
    before, now = _as_saved(found, config).collection, after_steps(config).collection
    same_horizon = before.horizon_steps == now.horizon_steps
    same_lanes = before.num_lanes == now.num_lanes
    run.restore(found, rollouts_fit=same_horizon and same_lanes, replay_fits=same_horizon)
    run.checkpointer.clean()
    for name in found.passed_over:
        run.checkpointer.set_aside(name.partition(":")[0])
    replay_is_empty = not same_horizon and holds_replay(config)
    return Reopened(replay_is_empty=replay_is_empty, episodes_begin_anew=not (same_horizon and same_lanes))


def _as_saved(found: Found, config: RunConfig) -> RunConfig:
    """The configuration on the rung that the checkpoint was made on."""
    holds = any(file.partition(".")[0] == LADDER for file in found.manifest.files)
    taken = read_part(found.path, found.manifest, LADDER)["taken"] if holds else ()
    return after_steps(replace(config, stepped_down=tuple(taken)))


def about_damage(found: Found | None) -> list[Event]:
    """The checkpoints that could not be used."""
    reasons = () if found is None else found.passed_over
    return [Event("damaged_checkpoint", f"passed over a damaged checkpoint, {each}", "warning") for each in reasons]


def about_hanging(folder: RunFolder) -> list[Event]:
    """The stacks of a process that hung so that it could tell nobody; asked before the next one tells of anything."""
    try:
        told = (last_row(folder.events) or {}).get("time")
    except RunFolderError:  # a damaged row is no reason not to resume; 'runs inspect' names it
        told = None
    since = 0.0 if told is None else datetime.fromisoformat(told).timestamp()
    traces = sorted(folder.traces.glob("hung-*.txt")) if folder.traces.is_dir() else []
    return [
        Event(
            "hung",
            "a process before this one hung in native code, which let none of its threads run, or was suspended and "
            f"woken; where is in {path.parent.name}/{path.name}",
            "warning",
            {"trace": str(path)},
        )
        for path in traces
        if path.stat().st_size and path.stat().st_mtime > since
    ]


def about_resuming(
    run: Run, folder: RunFolder, found: Found | None, before: RunConfig, config: RunConfig
) -> list[Event]:
    """What whoever resumes a run should know."""
    events = []
    if found is None:
        events.append(Event("resumed", "no checkpoint yet: the run begins at its beginning"))
    else:
        events += about_damage(found)
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
