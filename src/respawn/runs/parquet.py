"""Parquet files that are whole or not there at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.runs.columns import columns_of, table_of
from respawn.runs.whole_files import written_whole


def write_row(path: Path, row: Mapping[str, Any]) -> None:
    """Replace the file at `path` by one that holds this row alone; whoever reads sees the old one or the new one."""
    import pyarrow.parquet

    table = table_of([row], columns_of([row]))
    with written_whole(path) as file:
        pyarrow.parquet.write_table(table, file)
