"""One-row Parquet files: always whole, and exact."""

import math
from pathlib import Path

import pyarrow.parquet
import pytest

from respawn.contracts.records import UpdateReport
from respawn.runs.parquet import write_row
from respawn.runs.rows import to_row


def test_a_row_is_read_back_with_real_numbers(tmp_path: Path) -> None:
    row = to_row(UpdateReport(3, 600, 1200, 7, {"loss/value": 0.1, "loss/policy": math.nan, "return/max": math.inf}))
    write_row(tmp_path / "latest.parquet", row)
    table = pyarrow.parquet.read_table(tmp_path / "latest.parquet")
    (read,) = table.to_pylist()
    assert math.isnan(read.pop("loss/policy"))
    assert read == {
        "row": "update", "update": 3, "decisions": 600, "frames": 1200, "episodes": 7,
        "loss/value": 0.1, "return/max": math.inf,
    }  # fmt: skip
    types = {field.name: str(field.type) for field in table.schema}
    assert types["loss/policy"] == types["return/max"] == "double"
    assert types["update"] == "int64" and types["row"] == "string"


def test_a_newer_row_takes_the_place_of_the_older_with_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "latest.parquet"
    write_row(path, {"update": 1, "loss/value": 0.5})
    write_row(path, {"update": 2, "loss/policy": 0.25})
    assert pyarrow.parquet.read_table(path).to_pylist() == [{"update": 2, "loss/policy": 0.25}]
    assert [each.name for each in tmp_path.iterdir()] == ["latest.parquet"]


def test_a_row_that_cannot_be_written_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "latest.parquet"
    write_row(path, {"update": 1})
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(OSError, match="No space"):
        write_row(path, {"update": 2})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["latest.parquet"]
