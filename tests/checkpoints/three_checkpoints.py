"""Three checkpoints, made by hand, what may happen to them, and looking at them."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from respawn.checkpoints.manifest import Manifest, file_sha256
from respawn.checkpoints.store import read_manifest
from respawn.checkpoints.verification import Examined, Surroundings, examine

ROWS = b'{"update": 1}\n'


class Part:
    """Remembers what it was given."""

    def __init__(self, state):
        self._state = state

    def state(self):
        return self._state

    def restore(self, state):
        self._state = state


def path_of(folder: Path, updates: int) -> Path:
    """Where the checkpoint of an update lies."""
    return folder / "checkpoints" / f"u{updates:08d}"


def examined(folder: Path, around: Surroundings) -> list[Examined]:
    """All three, oldest first."""
    return [examine(path_of(folder, updates), around) for updates in (1, 2, 3)]


def signed(path: Path, **changes: Any) -> None:
    """Give a checkpoint another manifest, whose fingerprint holds, and the SHA-256 that its files have now."""
    manifest = read_manifest(path)
    files = {name: file_sha256(path / name) for name in manifest.files}
    (path / "manifest.json").write_text(replace(manifest, files=files, **changes).to_json())


def damage_file(path: Path) -> None:
    """A file is not as it was written."""
    (path / "learner.json").write_text("{}")


def damage_manifest(path: Path) -> None:
    """Nor is the manifest."""
    (path / "manifest.json").write_text("{")


def other_schema(path: Path) -> None:
    """It is a newer program's."""
    content = {**asdict(read_manifest(path)), "schema_version": 99}
    (path / "manifest.json").write_text(Manifest(**content).to_json())
