"""The page at the front of a checkpoint: what it is of, how far it had come, and the fingerprint of every file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from respawn.errors import CheckpointAccessError, CheckpointError

SCHEMA_VERSION = 1
"""Raised whenever an older program could misread a newer checkpoint."""


@dataclass(frozen=True)
class Manifest:
    """All there is to know about a checkpoint before reading it."""

    schema_version: int
    respawn_version: str
    saved_at: str
    """ISO 8601, UTC"""
    updates: int
    decisions: int
    config_sha256: str
    """of the settings that decide numbers"""
    world: str
    """what was trained in, and the shapes of what is seen and done there"""
    weights_sha256: str
    metrics: Mapping[str, float]
    """of the evaluation made at this very update, if one was made"""
    files: Mapping[str, str]
    """SHA-256 of each file by name"""

    def to_json(self) -> str:
        """The manifest as text, with its own fingerprint."""
        content = asdict(self)
        return json.dumps({**content, "manifest_sha256": _fingerprint(content)}, indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """The manifest again; raises CheckpointError if it was changed or is of another schema."""
        try:
            content: dict[str, Any] = json.loads(text)
            claimed = content.pop("manifest_sha256")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise CheckpointError(f"manifest.json cannot be read ({error})") from error
        if _fingerprint(content) != claimed:
            raise CheckpointError("manifest.json does not match its own fingerprint")
        if content["schema_version"] != SCHEMA_VERSION:
            raise CheckpointAccessError(
                f"it is of schema {content['schema_version']} and this program reads schema {SCHEMA_VERSION}; "
                f"use respawn {content['respawn_version']}"
            )
        return cls(**content)


def file_sha256(path: Path) -> str:
    """A fingerprint of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fingerprint(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
