"""JSON files of a run folder: read with an error that says what is wrong, written whole or not at all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.errors import RunFolderError
from respawn.runs.whole_files import NO_ROOM, written_whole


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a run folder."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(f"{path.name} is missing from {path.parent}; is this a run folder?") from None
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read ({error}); check its permissions") from error
    except ValueError as error:  # neither JSON nor even UTF-8
        raise RunFolderError(f"{path} should hold JSON, but {error}; restore it from a copy") from error
    if not isinstance(data, dict):
        raise RunFolderError(f"{path} should hold a JSON object, but holds a {type(data).__name__}; restore it")
    return data


def write_json_atomically(path: Path, data: Mapping[str, Any]) -> None:
    """Write aside, fsync, rename: whoever reads, and whenever the power goes, sees the old file or the new one."""
    with written_whole(path) as file:
        file.write(_as_bytes(data))


def write_json_even_without_room(path: Path, data: Mapping[str, Any]) -> None:
    """The same; where the disk is full, over the old file, which has room already. Only there is it not atomic."""
    try:
        write_json_atomically(path, data)
    except OSError as error:
        if error.errno not in NO_ROOM or not path.exists():
            raise
        with path.open("r+b") as file:
            file.write(_as_bytes(data))
            file.truncate()
            file.flush()
            os.fsync(file.fileno())


def _as_bytes(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode()
