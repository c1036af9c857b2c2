"""What a checkpoint knows of a stream: how long its file was, the SHA-256 of its bytes, and which archives there were.

Whether it is all still there can be asked at any time, also while the stream grows, and asking changes nothing.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from respawn.errors import RunFolderError
from respawn.runs.rotation import ArchiveMissing, archive_numbers, open_archive

_BLOCK_BYTES = 1 << 20


class RowsLetGo(ArchiveMissing):
    """The archive that holds the rows was deleted with the oldest, as `observers.retain-archives` asks for."""


def archive_of(path: Path, state: Mapping[str, Any]) -> int | None:
    """The number of the archive that holds what was the stream's file; None: the file is still the same one.

    Raises:
      RunFolderError: archives that were there are gone, the newest ones too.
      RowsLetGo: the last archive of then is gone, from whose number those after it would go on.
    """
    numbers = archive_numbers(path)
    then, now = int(state.get("archive", 0)), max(numbers, default=0)
    if now < then:
        raise RunFolderError(
            f"{path} should have archives up to number {then}, but the last is {now}; "
            "put them back, for the rows that are missing cannot be made again"
        )
    if 0 < then < min(numbers):
        raise _let_go(path, then)
    return None if now == then else then + 1


def checked(path: Path, file: IO[bytes], state: Mapping[str, Any]) -> "hashlib._Hash":
    """The checksum of as much of a file as a checkpoint knows of; raises RunFolderError if it is not as it was.

    Args:
      path: the stream's, which errors name.
      file: holds the rows, which may be an archive's.
      state: what the checkpoint knows.
    """
    wanted = int(state["bytes"])
    with damage_told(f"an archive of {path}"):
        length = file.seek(0, os.SEEK_END)
        if length < wanted:
            raise RunFolderError(
                f"{path} should hold at least the {wanted} bytes the checkpoint knows of, but holds {length}; "
                "put the file back, for the rows that are missing cannot be made again"
            )
        sha256 = checksum(file, wanted)
    if wanted > 0 and sha256.hexdigest() != state["sha256"]:
        raise RunFolderError(
            f"{path} was changed: its first {wanted} bytes do not match their SHA-256 in the checkpoint; "
            "put the file back from a copy, or move the newest checkpoints away to go on from before the change"
        )
    return sha256


@contextmanager
def damage_told(archive: str) -> Iterator[None]:
    """While inside, an archive that is cut off, or that is none, is a RunFolderError that begins with its name."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RunFolderError(f"{archive} is damaged ({error}); put it back from a copy") from error


def checksum(file: IO[bytes], length: int) -> "hashlib._Hash":
    """The checksum of a file's first bytes, which can take in more."""
    sha256 = hashlib.sha256()
    file.seek(0)
    while length > 0 and (block := file.read(min(length, _BLOCK_BYTES))):
        sha256.update(block)
        length -= len(block)
    return sha256


def open_kept(path: Path, archive: int) -> IO[bytes]:
    """The archive that `archive_of` names; raises RowsLetGo where it was deleted on purpose."""
    try:
        return open_archive(path, archive)
    except ArchiveMissing:
        if archive >= min(archive_numbers(path), default=0):
            raise
    raise _let_go(path, archive)


def _let_go(path: Path, archive: int) -> RowsLetGo:
    return RowsLetGo(
        f"archive {archive} of {path} was deleted, as observers.retain-archives asks: its rows are gone, and a run "
        "cannot go back to them"
    )


def check_kept(path: Path, state: Mapping[str, Any]) -> None:
    """Raise RunFolderError unless what resuming from a checkpoint reads of a stream is there, as it was.

    That is the file which the stream was then. What had been set aside before is not read; `archive_problems` reads it.

    Args:
      path: the stream's.
      state: what the checkpoint knows of it.

    Raises:
      RowsLetGo: they were deleted on purpose, to keep the disk from filling.
    """
    while True:
        before = archive_numbers(path)
        try:
            return _check(path, state)
        except RunFolderError:
            if archive_numbers(path) == before:
                raise
            # Else the file became an archive while we looked, or the oldest archive was deleted: look again.


def _check(path: Path, state: Mapping[str, Any]) -> None:
    archive = archive_of(path, state)
    if archive is None:
        try:
            with path.open("rb") as file:
                checked(path, file, state)
        except FileNotFoundError:
            if int(state["bytes"]) > 0:
                raise RunFolderError(f"{path} is missing; put it back, for its rows cannot be made again") from None
        except OSError as error:
            raise RunFolderError(f"{path} cannot be read ({error.strerror}); see to its permissions") from error
        return
    with open_kept(path, archive) as rows:
        checked(path, rows, state)


def archive_problems(path: Path) -> list[str]:
    """What is wrong with a stream's archives, all of which are read: some may be damaged, or missing between others.

    A compressed archive ends with a checksum of its rows. The oldest may be gone, as `observers.retain-archives` asks.
    """
    problems = []
    numbers = archive_numbers(path)
    for number in range(numbers[0], numbers[-1] + 1) if numbers else ():
        try:
            _read_to_its_end(path, number)
        except RunFolderError as error:
            there = archive_numbers(path)
            if there and there[0] <= number <= there[-1]:  # else a run that goes on let go of it meanwhile
                problems.append(str(error))
    return problems


def _read_to_its_end(path: Path, number: int) -> None:
    name = f"archive {number} of {path}"
    try:
        with open_archive(path, number) as rows, damage_told(name):
            is_empty = not rows.read(_BLOCK_BYTES)
            while rows.read(_BLOCK_BYTES):
                pass
    except OSError as error:  # the disk itself
        raise RunFolderError(f"{name} cannot be read ({error}); put it back from a copy") from error
    if is_empty:  # a file without rows is never set aside
        raise RunFolderError(f"{name} is empty; put it back from a copy")
