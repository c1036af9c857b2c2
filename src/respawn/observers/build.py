"""From configuration to observers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from respawn.contracts.observer import Observer
from respawn.observers.config import ObserversConfig
from respawn.observers.console import Console
from respawn.observers.heartbeat import Alarms, Heartbeat, HeartbeatLimits
from respawn.observers.hub import ObserverHub
from respawn.observers.jsonl import JsonlStream
from respawn.observers.latest import Latest
from respawn.observers.resources import Resources
from respawn.observers.slow_steps import SlowStepLimits, SlowSteps
from respawn.observers.tensorboard import TensorBoard
from respawn.observers.thread_phases import ThreadPhases
from respawn.observers.told_beside import told_beside
from respawn.observers.wandb import WandB, import_wandb
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.runs.streams import ROW_STREAMS, STREAMS


@dataclass(frozen=True, slots=True)
class ConsoleFacts:
    """What the console must know about the plan of the run."""

    total_updates: int | None
    """None: no limit of updates"""
    total_minutes: float | None
    """None: no limit of time"""
    first_update: int = 0
    """how many updates were made before this process took the run up"""
    stream: TextIO | None = None
    """None: standard output"""


@dataclass(frozen=True, slots=True)
class Watched:
    """What those must know who watch the process itself."""

    phases: ThreadPhases
    """what its threads say they are doing"""
    device: str
    """that it computes on"""
    on_stall: Callable[[str], None] = lambda sentence: None
    """is called when nothing moves any more"""
    ends_when_hung: bool = False
    """whether the process ends where not even that can be called"""
    patience_seconds: float = 0.0
    """somebody else sees to what stands still within that time, as to actors and workers that hang: no alarm before"""
    begins_at: tuple[int, int] = (0, 0)
    """update and decisions of the checkpoint that it takes the run up from"""


def build_observers(
    folder: RunFolder, config: ObserversConfig, console_facts: ConsoleFacts, watched: Watched | None = None
) -> ObserverHub:
    """The streams that every run has and the observers that were asked for; the event stream first, so it ends last.

    Without `watched` the process is not: no heartbeat, no resources. Where one cannot be built, those that were are
    closed again: some have threads.
    """
    with ExitStack() as undo:
        mirror = _mirror(folder, config) if config.wandb_project else None  # refused before a file is made
        if mirror is not None:
            undo.callback(mirror.close)
        hub = ObserverHub({})
        undo.callback(hub.close)
        for name in ("events", "episodes", "updates", "evaluations", "probes", "rulings"):
            hub.add(name, _stream(folder, config, name))
        for name, observer in _asked_for(folder, config, console_facts):
            hub.add(name, observer)
        if mirror is not None:
            hub.add("wandb", mirror)
        if watched is not None:
            _watch(hub, folder, config, watched)
        undo.pop_all()
    return hub


def _mirror(folder: RunFolder, config: ObserversConfig) -> WandB:
    wandb, meta = import_wandb(), read_meta(folder)
    return WandB(wandb, folder.path, config.wandb_project, meta.name, meta.id, config.tensorboard_seconds)


def _stream(folder: RunFolder, config: ObserversConfig, name: str) -> JsonlStream:
    """The stream of that name; those that tell how it went are history, which resuming only adds to."""
    return JsonlStream(
        STREAMS[name].path_in(folder),
        STREAMS[name].record,
        truncate_on_restore=name in ROW_STREAMS,
        rotate_bytes=config.rotate_bytes,
        retain_archives=config.retain_archives,
    )


def _asked_for(
    folder: RunFolder, config: ObserversConfig, console_facts: ConsoleFacts
) -> Iterator[tuple[str, Observer]]:
    if config.latest_seconds > 0:
        yield "latest", Latest(folder.latest, config.latest_seconds)
    if config.tensorboard:
        yield "tensorboard", TensorBoard(folder.tensorboard, config.tensorboard_seconds)
    if config.console:
        console = Console(
            folder.name,
            console_facts.total_updates,
            console_facts.total_minutes,
            console_facts.first_update,
            console_facts.stream,
            every_seconds=config.console_seconds,
        )
        yield "console", console


def _stall_seconds(config: ObserversConfig, watched: Watched) -> float:
    return max(config.stall_seconds, watched.patience_seconds) if config.stall_seconds > 0 else 0.0


def _watch(hub: ObserverHub, folder: RunFolder, config: ObserversConfig, watched: Watched) -> None:
    if config.resource_seconds > 0:
        hub.add("resource_stream", _stream(folder, config, "resources"))
        resources = Resources(
            folder.path,
            watched.device,
            hub.receive,
            every_seconds=config.resource_seconds,
            window_samples=config.resource_window,
            begins_at=watched.begins_at,
        )
        hub.add("resources", resources)
    if config.heartbeat_seconds > 0:
        tell = told_beside(hub.receive)
        slow = SlowStepLimits(config.slow_step_seconds, config.slow_step_count, config.slow_step_window_seconds)
        with ExitStack() as undo:
            stream = _stream(folder, config, "heartbeats")
            undo.callback(stream.close)
            heartbeat = Heartbeat(
                stream,
                watched.phases,
                SlowSteps(slow, folder.traces, tell),
                folder.traces,
                tell,
                HeartbeatLimits(config.heartbeat_seconds, _stall_seconds(config, watched), watched.ends_when_hung),
                Alarms(partial(hub.note_failure, "heartbeat", "write"), watched.on_stall),
                watched.begins_at,
            )
            undo.pop_all()
        hub.add("heartbeat", heartbeat)
