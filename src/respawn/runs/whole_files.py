"""Files of any kind that are whole or not there at all."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_OF_WRITING = (*NO_ROOM, errno.EFBIG)
"""What nothing but a write is refused with; other errors may be of what is read meanwhile."""


@contextlib.contextmanager
def named_where_full(path: Path) -> Iterator[None]:
    """Say which file it was that there was no room for: of a file that is open the system does not tell."""
    try:
        yield
    except OSError as error:
        if error.errno in _OF_WRITING and error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when all went well and is gone when it did not.

    Written aside, synced, renamed: whoever reads, and whenever the power goes, sees the old file or the new one.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with named_where_full(path), aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a file by one that holds this text, and make its folder where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write(text.encode())


def fsync_directory(directory: Path) -> None:
    """Make a rename last; on systems where a directory cannot be opened there is nothing to do."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
