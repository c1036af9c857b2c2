"""Writing checkpoints: aside, synced, then renamed into place."""

import errno
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from respawn import __version__
from respawn.checkpoints.codec import encode, tensors_sha256
from respawn.checkpoints.config import CheckpointsConfig
from respawn.checkpoints.manifest import SCHEMA_VERSION, Manifest, file_sha256
from respawn.checkpoints.retention import to_delete
from respawn.checkpoints.store import SUPERSEDED, WEIGHTS, Identity, read_manifest, saved
from respawn.contracts.clock import Clock
from respawn.contracts.saveable import Saveable
from respawn.errors import CheckpointError, CheckpointWriteError

_WRITING, _DELETING = ".writing-", ".deleting-"
"""How the names begin of what is no checkpoint: not yet, and not any more."""


class Checkpointer:
    """Saves and finds the checkpoints of one run, each a folder named after its update."""

    def __init__(self, folder: Path, config: CheckpointsConfig, identity: Identity) -> None:
        self._folder = folder
        self._config = config
        self.identity = identity

    def save(self, parts: Mapping[str, Saveable], clock: Clock, metrics: Mapping[str, float]) -> Path:
        """Write all parts; either the whole checkpoint appears under its name or nothing does."""
        final = self._folder / f"u{clock.updates:08d}"
        aside = self._folder / f"{_WRITING}{final.name}-{os.getpid()}"
        # Asked before anything is written, so that a part that fails is not taken for a disk that does.
        states = {name: part.state() for name, part in parts.items()}
        try:
            self._folder.mkdir(exist_ok=True)
            aside.mkdir()
            files: dict[str, str] = {}
            for name, state in states.items():
                for suffix, content in encode(state).items():
                    _write(aside / f"{name}{suffix}", content)
                    files[f"{name}{suffix}"] = file_sha256(aside / f"{name}{suffix}")
            manifest = Manifest(
                schema_version=SCHEMA_VERSION,
                respawn_version=__version__,
                saved_at=datetime.now(UTC).isoformat(),
                updates=clock.updates,
                decisions=clock.decisions,
                config_sha256=self.identity.config_sha256,
                world=self.identity.world,
                weights_sha256=tensors_sha256(states[WEIGHTS]),
                metrics=dict(metrics),
                files=files,
            )
            _write(aside / "manifest.json", manifest.to_json().encode())
            _sync_folder(aside)
            _put_in_place(aside, final)
            _sync_folder(self._folder)
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            kept = ", ".join(path.name for path in saved(self._folder)[-1:]) or "none"
            raise CheckpointWriteError(
                f"the checkpoint of update {clock.updates} could not be written to {self._folder} "
                f"({error.strerror or error}); the newest whole one is {kept}: {_remedy(error)}, then resume the run"
            ) from error
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        self._retain()
        return final

    def _retain(self) -> None:
        manifests: dict[str, Manifest] = {}
        for path in saved(self._folder):
            try:
                manifests[path.name] = read_manifest(path)
            except CheckpointError:
                continue  # a damaged one is evidence: it is named when the run is resumed, and never deleted
        for name in to_delete(manifests, self._config):
            doomed = self._folder / f"{_DELETING}{name}"
            try:
                (self._folder / name).rename(doomed)
            except OSError as error:
                raise CheckpointWriteError(
                    f"the old checkpoint {self._folder / name} could not be removed ({error.strerror or error}); "
                    f"the new one is whole: {_remedy(error)}, then resume the run"
                ) from error
            shutil.rmtree(doomed, ignore_errors=True)

    def set_aside(self, name: str) -> None:
        """Rename a damaged checkpoint, so that it stays as evidence and never again stands in the way."""
        damaged, number = self._folder / f"damaged-{name}", 1
        while damaged.exists():
            number += 1
            damaged = self._folder / f"damaged-{name}-{number}"
        (self._folder / name).rename(damaged)

    def clean(self) -> None:
        """Remove what a process that was killed left half-written or half-deleted."""
        put_back(self._folder)
        for prefix in (_WRITING, _DELETING, SUPERSEDED):
            for leftover in self._folder.glob(f"{prefix}*"):
                shutil.rmtree(leftover, ignore_errors=True)


def put_back(folder: Path) -> None:
    """Bring back a checkpoint that was to be replaced by a process that was killed before it was."""
    for superseded in folder.glob(f"{SUPERSEDED}*"):
        final = folder / superseded.name.removeprefix(SUPERSEDED)
        if not final.exists():
            superseded.rename(final)


def _remedy(error: OSError) -> str:
    """What to do about a disk that refuses."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "see that the folder may be written to"
    return "see to the disk"


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(aside: Path, final: Path) -> None:
    """Give it its name. Two folders cannot change places at once, so until it has it the other one is kept."""
    superseded = final.with_name(f"{SUPERSEDED}{final.name}")
    try:
        if final.exists():  # where its evaluation failed, or a run was resumed from an older one
            shutil.rmtree(superseded, ignore_errors=True)
            final.rename(superseded)
        aside.rename(final)
    except BaseException:
        put_back(final.parent)
        raise
    shutil.rmtree(superseded, ignore_errors=True)
