"""From configuration to observers."""

from dataclasses import dataclass
from typing import TextIO

from respawn.contracts.observer import Observer
from respawn.contracts.records import EpisodeReport, EvaluationReport, Event, Probe, Ruling, UpdateReport
from respawn.observers.config import ObserversConfig
from respawn.observers.console import Console
from respawn.observers.hub import ObserverHub
from respawn.observers.jsonl import JsonlStream
from respawn.observers.tensorboard import TensorBoard
from respawn.runs.layout import RunFolder


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


def build_observers(folder: RunFolder, config: ObserversConfig, console_facts: ConsoleFacts) -> ObserverHub:
    """The streams that every run has and the observers that were asked for; the event stream first, so it ends last."""
    observers: dict[str, Observer] = {
        "events": JsonlStream(folder.events, Event, truncate_on_restore=False),
        "episodes": JsonlStream(folder.episodes, EpisodeReport, truncate_on_restore=True),
        "updates": JsonlStream(folder.updates, UpdateReport, truncate_on_restore=True),
        "evaluations": JsonlStream(folder.evaluations, EvaluationReport, truncate_on_restore=True),
        "probes": JsonlStream(folder.probes, Probe, truncate_on_restore=True),
        "rulings": JsonlStream(folder.rulings, Ruling, truncate_on_restore=True),
    }
    if config.tensorboard:
        observers["tensorboard"] = TensorBoard(folder.tensorboard, config.tensorboard_seconds)
    if config.console:
        observers["console"] = Console(
            folder.name,
            console_facts.total_updates,
            console_facts.total_minutes,
            console_facts.first_update,
            console_facts.stream,
            every_seconds=config.console_seconds,
        )
    return ObserverHub(observers)
