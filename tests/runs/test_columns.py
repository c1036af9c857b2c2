import math

import pyarrow as pa
import pytest

from respawn.runs.columns import blocks, columns_of, schema_of, table_of


def test_columns_in_the_order_in_which_they_come_up():
    rows = [{"row": "update", "update": 1}, {"row": "update", "update": 2, "loss/value": 0.5}, {"time": "t"}]
    assert columns_of(rows) == {"row": "text", "update": "count", "loss/value": "number", "time": "text"}
    assert list(columns_of(rows)) == ["row", "update", "loss/value", "time"]
    assert columns_of([]) == {}


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ((1, 2), "count"),
        ((1, 0.5), "number"),
        ((0.5, 1), "number"),
        ((True, False), "flag"),
        ((True, 1), "json"),
        ((None, 3), "count"),
        ((3, None), "count"),
        ((None, None), "text"),
        (("a", "b"), "text"),
        (("a", 1), "json"),
        (({"a": 1}, [2]), "json"),
        (({"a": 1}, None), "json"),
    ],
)
def test_the_type_holds_all_values(values, column):
    rows = [{"facts": value} for value in values]
    assert columns_of(rows) == {"facts": column}
    table = table_of(rows, columns_of(rows))
    assert table.column("facts").null_count == sum(value is None for value in values)


def test_metrics_are_numbers_whatever_json_had_to_write():
    columns = columns_of([{"loss/value": "nan", "episode_return": "inf", "return/max": 3, "evaluation/best": None}])
    assert columns == {
        "loss/value": "number", "episode_return": "number", "return/max": "number", "evaluation/best": "text",
    }  # fmt: skip


def test_what_a_row_lacks_is_null_and_not_nan():
    rows = [{"update": 1, "loss/value": "nan"}, {"update": 2}, {"update": 3, "loss/value": "-inf"}]
    column = table_of(rows, columns_of(rows)).column("loss/value")
    first, second, third = column.to_pylist()
    assert math.isnan(first) and second is None and third == -math.inf and column.null_count == 1


def test_counters_keep_every_digit_and_nested_things_stay_json():
    rows = [{"decisions": 2**53 + 1, "facts": {"a": [1, None]}}]
    table = table_of(rows, columns_of(rows))
    assert table.to_pylist() == [{"decisions": 2**53 + 1, "facts": '{"a": [1, null]}'}]


def test_a_table_has_exactly_the_columns_that_are_asked_for():
    columns = columns_of([{"update": 1, "loss/value": 0.5}])
    table = table_of([{"update": 7, "loss/other": 1.0}], columns)
    assert table.to_pylist() == [{"update": 7, "loss/value": None}]
    assert table.schema == schema_of(columns) == pa.schema([("update", pa.int64()), ("loss/value", pa.float64())])


def test_rows_in_blocks():
    rows = [{"n": number} for number in range(7)]
    assert [[row["n"] for row in block] for block in blocks(rows, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(blocks([], 3)) == []
