"""JSON files of a run folder: read with an error that says what is wrong, written whole or not at all."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.errors import RunFolderError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


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
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def write_json_even_without_room(path: Path, data: Mapping[str, Any]) -> None:
    """The same; where the disk is full, over the old file, which has room already. Only there is it not atomic."""
    try:
        write_json_atomically(path, data)
    except OSError as error:
        if error.errno not in NO_ROOM or not path.exists():
            raise
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
        with path.open("r+b") as file:
            file.write(text.encode())
            file.truncate()
            file.flush()
            os.fsync(file.fileno())


def fsync_directory(directory: Path) -> None:
    """Make a rename last; on systems where a directory cannot be opened there is nothing to do."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
