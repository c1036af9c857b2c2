"""All that there is to tell of one checkpoint, gathered."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from respawn.checkpoints.contents import Part, look_into, part_names
from respawn.checkpoints.manifest import Manifest
from respawn.checkpoints.store import WEIGHTS, read_manifest, verify
from respawn.errors import CheckpointError, RunFolderError
from respawn.runs.layout import RunFolder
from respawn.training.checkpoint_facts import Need, ReplayFill, Rung, needs_of, replay_fill_of, rung_of
from respawn.training.config import RunConfig
from respawn.training.recorded import load_config

T = TypeVar("T")


@dataclass(frozen=True)
class CheckpointReport:
    """What is in a checkpoint, and what it means."""

    manifest: Manifest
    damage: str
    """what is wrong with its files; empty: they are as they were written"""
    parts: tuple[Part, ...]
    """those that were asked for"""
    rung: Rung | None
    """None: it cannot be read"""
    replay: ReplayFill | None
    """None: nothing is kept for replay"""
    needs: tuple[Need, ...]
    """what resuming takes; none where it lies in no run"""
    best_metric: str
    """what the run is judged by; empty: that is not known"""

    @property
    def is_whole(self) -> bool:
        """Whether all of it that was looked at can be used."""
        return not self.damage and not any(part.problem for part in self.parts)

    @property
    def parameters(self) -> int | None:
        """The numbers of the model; None where its weights were not looked at."""
        return next((part.numbers for part in self.parts if part.name == WEIGHTS and not part.problem), None)


def report_on(
    path: Path,
    folder: RunFolder | None,
    only: Collection[str] = (),
    tell: Callable[[str, float], None] = lambda doing, share: None,
) -> CheckpointReport:
    """Look at a checkpoint; raises CheckpointError where its manifest cannot be read, or it lacks a part asked for.

    Args:
      path: its folder.
      folder: the run that it is of; None: it lies in none.
      only: the parts to look into; none: all.
      tell: is told which part is being looked at, and how much of all has been.
    """
    try:
        manifest = read_manifest(path)
    except CheckpointError as error:
        raise CheckpointError(f"checkpoint {path} cannot be looked into: {error}") from error
    names = part_names(manifest)
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise CheckpointError(f"checkpoint {path} has no part {', '.join(unknown)}; it has {', '.join(names)}")
    tell("every file against its SHA-256", 0.0)
    damage = _damage(path)
    wanted = [name for name in names if not only or name in only]
    parts = tuple(
        look_into(path, manifest, name, lambda share, name=name, done=done: tell(name, (done + share) / len(wanted)))  # type: ignore[misc]
        for done, name in enumerate(wanted)
    )
    config = _config(folder)
    return CheckpointReport(
        manifest=manifest,
        damage=damage,
        parts=parts,
        rung=_if_readable(lambda: rung_of(path, manifest, config)),
        replay=_if_readable(lambda: replay_fill_of(path, manifest)),
        needs=() if folder is None else tuple(needs_of(folder, path, manifest)),
        best_metric="" if config is None else config.checkpoints.best_metric,
    )


def _damage(path: Path) -> str:
    try:
        verify(path)
    except CheckpointError as error:
        return str(error)
    return ""


def _config(folder: RunFolder | None) -> RunConfig | None:
    try:
        return None if folder is None else load_config(folder)
    except RunFolderError:  # what is wrong with it is among what resuming takes
        return None


def _if_readable(question: Callable[[], T]) -> T | None:
    """An answer; None where the part that it needs is damaged, which is told with the parts."""
    try:
        return question()
    except CheckpointError:
        return None
