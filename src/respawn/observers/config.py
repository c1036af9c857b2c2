"""Which observers watch a run, and how often they speak. The .jsonl streams are always written."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from respawn.contracts.settings import check_at_least, check_between


@dataclass(frozen=True)
class ObserversConfig:
    """Who watches."""

    console: bool = True
    """show progress: a live display on a terminal, plain lines elsewhere"""
    console_seconds: float = 5.0
    """seconds between plain lines where the output is not a terminal; 0: every update"""
    tensorboard: bool = True
    """write TensorBoard curves beside the .jsonl files"""
    tensorboard_seconds: float = 1.0
    """seconds between two updates that go to TensorBoard; 0: all; updates.jsonl has them all either way"""
    wandb_project: str = ""
    """mirror the curves to this project of Weights & Biases (needs 'respawn[wandb]'); empty: do not"""

    hints: bool = True
    """say what looks wrong and what to do about it; docs/hints.md lists all hints"""
    hint_cooldown_updates: int = 200
    """updates before the same hint is given again, and ten minutes at least; 0: at every look"""
    hints_off: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...")] = ()
    """hints that are not to be given, by name"""

    heartbeat_seconds: float = 30.0
    """seconds between two signs of life in heartbeats.jsonl; 0: none, and no watch for stalls and slow steps"""
    stall_seconds: float = 300.0
    """raise an alarm, and keep all threads' stacks, when nothing has moved for so long; 0: never; time limits of actors
    and of workers come first"""
    slow_step_seconds: float = 15.0
    """a step of a world that takes longer is told of; 0: none is"""
    slow_step_count: int = 5
    """so many slow steps within the window leave a trace of where they are slow"""
    slow_step_window_seconds: float = 120.0
    """the window"""
    resource_seconds: float = 10.0
    """seconds between two samples of memory, processor, disk and GPU in resources.jsonl; 0: none"""
    resource_window: int = 100
    """samples that the sliding means in resources.jsonl are taken over"""
    latest_seconds: float = 10.0
    """seconds between two snapshots of the newest row, latest.parquet; 0: none"""

    rotate_mib: float = 64.0
    """set a stream's file aside, compressed, before it becomes larger; 0: never"""
    retain_archives: int = 0
    """how many of those to keep of each stream; 0: all"""

    figures: bool = True
    """fish: draw all figures and write all artefacts when the run ends; 'respawn plot' does it at any time"""

    def __post_init__(self) -> None:
        """Refuse what is no span of time, and no number of things."""
        spans = ("console", "tensorboard", "heartbeat", "stall", "slow_step", "resource", "latest")
        check_between("observers.", self, {f"{name}_seconds": (0, 1_000_000) for name in spans})
        check_between("observers.", self, {"slow_step_window_seconds": (0.001, 1_000_000)})
        check_at_least("observers.", self, {"rotate_mib": 0, "retain_archives": 0, "hint_cooldown_updates": 0})
        check_at_least("observers.", self, {"slow_step_count": 1, "resource_window": 1})

    @property
    def rotate_bytes(self) -> int:
        """The largest that a stream's file becomes; 0: as large as it likes."""
        return int(self.rotate_mib * 2**20)
