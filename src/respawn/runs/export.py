"""Whole streams as files for other programs: every row exactly once, without holding a stream in memory.

A stream is read twice: first for its columns, of which later rows may have more than the first, then for its rows. A
run may go on meanwhile; rows that came after the first reading are left for the next export.
"""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from respawn.errors import RunFolderError
from respawn.runs.columns import Columns, blocks, columns_of, schema_of, table_of
from respawn.runs.layout import RunFolder
from respawn.runs.rows import Row, to_line
from respawn.runs.streams import rows_of
from respawn.runs.whole_files import written_whole

Format: TypeAlias = Literal["parquet", "csv", "jsonl"]
Tell: TypeAlias = Callable[[str, float], None]
"""is told what is being done, and which part of it is done"""

BLOCK_ROWS = 4096
"""Rows that are in memory at once: some tens of MiB at a hundred columns each."""
_LONGEST_FIELD = 2**31 - 1
"""The most that Python's csv reads everywhere; at its default of 128 KiB it refuses the facts of a large probe."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What became of a stream."""

    stream: str
    rows: int
    columns: int
    path: Path | None
    """where it is; None: it had no rows, and no file was made"""


def export_stream(folder: RunFolder, stream: str, to: Path, kind: Format, tell: Tell) -> Exported:
    """Write one stream of a run to a file in the folder `to`; one of the same name is replaced when all went well.

    Args:
      folder: the run, which may be going on.
      stream: which one, by its name in `STREAMS`.
      to: a folder that exists, and is not the run's own.
      kind: of file.
      tell: is told how far it is.
    """
    count, columns = _measure(folder, stream)
    if count == 0:
        return Exported(stream, 0, 0, None)
    path = to / f"{stream}.{kind}"
    rows = _told(islice(rows_of(folder, stream), count), stream, count, tell)
    with written_whole(path) as file:
        written = _WRITERS[kind](file, rows, columns)
        file.flush()
        kept = _COUNTERS[kind](Path(file.name))
        if not count == written == kept:
            raise RunFolderError(
                f"{stream} had {count} rows, of which {written} were read again and {kept} are in the file: the run "
                "was resumed from an older checkpoint meanwhile, or let go of its oldest rows "
                "(observers.retain-archives), or the disk is at fault; export again"
            )
    return Exported(stream, count, len(columns), path)


def _measure(folder: RunFolder, stream: str) -> tuple[int, Columns]:
    count = 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in rows_of(folder, stream):
            count += 1
            yield row

    columns = columns_of(counted())
    return count, columns


def _told(rows: Iterator[Row], stream: str, count: int, tell: Tell) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % BLOCK_ROWS == 0:
            tell(f"{stream}, {number:,} of {count:,} rows", number / count)
        yield row


def _write_parquet(file: BinaryIO, rows: Iterator[Row], columns: Columns) -> int:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(file, schema_of(columns)) as writer:
        return _write_blocks(writer.write_table, rows, columns)


def _write_csv(file: BinaryIO, rows: Iterator[Row], columns: Columns) -> int:
    import pyarrow.csv

    with pyarrow.csv.CSVWriter(file, schema_of(columns)) as writer:
        return _write_blocks(writer.write_table, rows, columns)


def _write_blocks(write: Callable[[Any], None], rows: Iterator[Row], columns: Columns) -> int:
    written = 0
    for block in blocks(rows, BLOCK_ROWS):
        write(table_of(block, columns))
        written += len(block)
    return written


def _write_jsonl(file: BinaryIO, rows: Iterator[Row], columns: Columns) -> int:
    written = 0
    for row in rows:
        file.write(to_line(row))
        written += 1
    return written


def _rows_in_parquet(path: Path) -> int:
    import pyarrow.parquet

    return int(pyarrow.parquet.read_metadata(path).num_rows)


def _rows_in_csv(path: Path) -> int:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return sum(1 for _ in csv.reader(file)) - 1
    finally:
        csv.field_size_limit(before)


def _rows_in_jsonl(path: Path) -> int:
    with path.open("rb") as file:
        return sum(isinstance(json.loads(line), dict) for line in file)


_WRITERS: dict[str, Callable[[BinaryIO, Iterator[Row], Columns], int]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}
_COUNTERS: dict[str, Callable[[Path], int]] = {
    "parquet": _rows_in_parquet,
    "csv": _rows_in_csv,
    "jsonl": _rows_in_jsonl,
}
