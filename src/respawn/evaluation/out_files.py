"""Files that films and figures are written to."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from respawn.errors import VideoError
from respawn.runs.whole_files import named_where_full


def prepare_place(path: Path, option: str = "--out") -> None:
    """Make the folder of a file, and see that the file can be written there, before anything is played for it.

    Args:
      path: of the file.
      option: by which another place can be named.
    """
    aside = _aside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.touch()
        aside.unlink()
    except OSError as error:
        raise VideoError(f"{path} cannot be written ({error.strerror}); name a file elsewhere with {option}") from error


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A place to write to, which takes the name `path` when all went well and is gone when it did not."""
    aside = _aside(path)
    try:
        with named_where_full(path):
            yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")
