"""Streams that grew too large: set aside under a number, compressed, and found again.

The archives of `updates.jsonl` are `updates.jsonl.000001.gz`, `updates.jsonl.000002.gz` and so on, the oldest first.
For a moment, and where a process was killed in that moment, the newest may not be compressed yet and lacks the `.gz`.
Each row is in exactly one file at any time.
"""

import gzip
import os
import re
import shutil
from pathlib import Path
from typing import IO, cast

from respawn.errors import RunFolderError
from respawn.runs.whole_files import fsync_directory, written_whole

_BLOCK_BYTES = 1 << 20
_DIGITS = 6
_QUICK = 1  # rows compress tenfold at any level, and training waits meanwhile


class ArchiveMissing(RunFolderError):
    """An archive that should be there is not."""


def archive_numbers(path: Path) -> list[int]:
    """The numbers of a stream's archives, the oldest first."""
    name = re.compile(re.escape(path.name) + rf"\.(\d{{{_DIGITS}}})(\.gz)?")
    if not path.parent.is_dir():
        return []
    found = (name.fullmatch(each) for each in os.listdir(path.parent))
    return sorted({int(match[1]) for match in found if match is not None})


def open_archive(path: Path, number: int) -> IO[bytes]:
    """An archive of the stream at `path`, to read its rows."""
    compressed, plain = _compressed(path, number), _plain(path, number)
    for attempt in (compressed, plain, compressed):  # it may be compressed between two looks
        try:
            return _opened(attempt)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise RunFolderError(f"{attempt} cannot be read ({error.strerror}); see to its permissions") from error
    raise ArchiveMissing(f"{compressed} is missing; put it back, for the rows in it cannot be made again")


def set_aside(path: Path) -> int:
    """Make the file an archive, and compress it; answers its number. Afterwards there is no file at `path`."""
    numbers = archive_numbers(path)
    number = numbers[-1] + 1 if numbers else 1
    path.rename(_plain(path, number))
    fsync_directory(path.parent)
    _compress(path, number)
    return number


def bring_back(path: Path, number: int) -> None:
    """Make an archive the file again; the file as it is, and all later archives, are forgotten.

    From the newest row on, so that a process killed on the way leaves a stream that only ends earlier.
    """
    path.unlink(missing_ok=True)
    for later in reversed([each for each in archive_numbers(path) if each > number]):
        _remove(path, later)
    _decompress(path, number)
    _plain(path, number).rename(path)
    fsync_directory(path.parent)


def finish_compressing(path: Path) -> None:
    """Compress what a process that was killed left uncompressed, and remove what it had half done."""
    for half in path.parent.glob(f".{path.name}.*.tmp"):
        half.unlink()
    for number in archive_numbers(path):
        if _plain(path, number).exists():
            _compress(path, number)


def prune(path: Path, keep: int, *, before: int | None = None) -> None:
    """Delete the oldest archives but for the newest `keep`, and only such with numbers below `before`.

    At least one is left, for the next one's number follows from it.
    """
    for number in archive_numbers(path)[: -max(keep, 1)]:
        if before is None or number < before:
            _remove(path, number)


def _compress(path: Path, number: int) -> None:
    plain, final = _plain(path, number), _compressed(path, number)
    if not final.exists():  # else somebody was killed just before the last line
        with (
            plain.open("rb") as rows,
            written_whole(final) as file,
            gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_QUICK, mtime=0) as archive,
        ):
            shutil.copyfileobj(rows, archive, _BLOCK_BYTES)
    plain.unlink()


def _decompress(path: Path, number: int) -> None:
    """Leave the archive as it was before it was compressed."""
    plain, compressed = _plain(path, number), _compressed(path, number)
    if not plain.exists():
        with _opened(compressed) as rows, written_whole(plain) as file:
            shutil.copyfileobj(rows, file, _BLOCK_BYTES)
    compressed.unlink(missing_ok=True)


def _remove(path: Path, number: int) -> None:
    _plain(path, number).unlink(missing_ok=True)
    _compressed(path, number).unlink(missing_ok=True)


def _plain(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number:0{_DIGITS}d}")


def _compressed(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number:0{_DIGITS}d}.gz")


def _opened(file: Path) -> IO[bytes]:
    opened = gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # noqa: SIM115 - closed by the caller
    return cast(IO[bytes], opened)
