"""Rows as columns: which columns a stream has and of what type, and blocks of its rows as Arrow tables.

A metric is a float64, with real NaN and infinities where JSON needs words for them. Counters are int64. What is nested,
such as an event's facts, stays JSON, as a string. What a row lacks is null, which is not the same as NaN.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from respawn.runs.rows import Row

if TYPE_CHECKING:  # takes a while to load, and only whoever writes columns needs it
    import pyarrow as pa

ColumnType: TypeAlias = Literal["flag", "count", "number", "text", "json"]
Columns: TypeAlias = dict[str, ColumnType]

_NUMBERS = frozenset({"episode_return"})
"""Columns beside the metrics that hold a number, or one of the words for those that JSON lacks."""


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """The columns that any of the rows has, in the order in which they come up, and their types."""
    columns: dict[str, ColumnType | None] = {}
    for row in rows:
        for name, value in row.items():
            columns[name] = _together(columns.get(name), _type_of(name, value))
    return {name: column or "text" for name, column in columns.items()}


def blocks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The rows in order, `size` at a time: what is held in memory at once."""
    remaining = iter(rows)
    while block := list(islice(remaining, size)):
        yield block


def schema_of(columns: Columns) -> "pa.Schema":
    """The columns as Arrow calls them."""
    import pyarrow as pa

    types = {"flag": pa.bool_(), "count": pa.int64(), "number": pa.float64(), "text": pa.string(), "json": pa.string()}
    return pa.schema([(name, types[column]) for name, column in columns.items()])


def table_of(rows: Sequence[Mapping[str, Any]], columns: Columns) -> "pa.Table":
    """The rows as a table that has exactly these columns."""
    import pyarrow as pa

    schema = schema_of(columns)
    values = {name: [_cell(row.get(name), column) for row in rows] for name, column in columns.items()}
    # Not from pandas: there NaN and null would be one.
    arrays = [pa.array(values[field.name], type=field.type, from_pandas=False) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _type_of(name: str, value: Any) -> ColumnType | None:
    if value is None:
        return None
    if "/" in name or name in _NUMBERS:
        return "number"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "count"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else "json"


def _together(known: ColumnType | None, seen: ColumnType | None) -> ColumnType | None:
    """The type that holds values of both."""
    if known is None or seen is None or known == seen:
        return known or seen
    return "number" if {known, seen} == {"count", "number"} else "json"


def _cell(value: Any, column: ColumnType) -> Any:
    if value is None:
        return None
    if column == "number":
        return float(value)
    return json.dumps(value) if column == "json" else value
