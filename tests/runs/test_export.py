"""Whole streams as files: every row once, and the same numbers as the reader's."""

import csv
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from respawn.contracts.records import (
    Beat,
    Episode,
    EpisodeReport,
    EvaluationReport,
    Event,
    Probe,
    Record,
    ResourceReport,
    Ruling,
    UpdateReport,
)
from respawn.errors import RunFolderError
from respawn.runs import export
from respawn.runs.export import export_stream
from respawn.runs.layout import RunFolder
from respawn.runs.rows import from_row, to_line, to_row
from respawn.runs.streams import STREAMS, rows_of

RECORDS: dict[str, list[Record]] = {
    "updates": [
        UpdateReport(1, 64, 256, 0, {"loss/value": 0.1}),
        UpdateReport(2, 128, 512, 3, {"loss/value": math.nan, "return/mean": -1.5}),
        UpdateReport(3, 192, 768, 4, {"return/mean": math.inf}),
    ],
    "episodes": [
        EpisodeReport(2, Episode(0, 12.5, 40, "terminated", {"x": 300.0, "level": "1-1"})),
        EpisodeReport(3, Episode(1, math.nan, 7, "worker lost")),
    ],
    "evaluations": [EvaluationReport(3, 192, {"evaluation/return_mean": 4.0})],
    "probes": [Probe(3, 192, {"schools": [{"alive": 3}, {"alive": None}]})],
    "rulings": [Ruling(3, "penalty_gate", {"verdict": "hold", "margin": 0.25})],
    "events": [
        Event("hint", "the entropy is low;\nraise it, or \"wait\"", "warning", {"rule": "low_entropy", "by": math.inf}),
        Event("finished", "finished at update 3", facts={"update": 3, "goal": None}),
    ],
    "heartbeats": [Beat(2, 128, {"MainThread": "learn"}, True, {"heartbeat/idle_seconds": 400.0})],
    "resources": [ResourceReport(2, 128, {"resource/disk_free_gib": 1.25, "resource/gpu_watts": math.nan})],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    for name, records in RECORDS.items():
        lines = [to_line({**_time_of(record), **to_row(record)}) for record in records]
        STREAMS[name].path_in(run).write_bytes(b"".join(lines))
    return run


def _time_of(record: Record) -> dict[str, str]:
    return {"time": "2026-11-18T12:00:00.000+00:00"} if isinstance(record, Event | Beat | ResourceReport) else {}


def silent(doing: str, part: float) -> None:
    assert 0 <= part < 1


def from_parquet(path: Path, nested: set[str]) -> list[dict[str, Any]]:
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return [
        {
            name: json.loads(value) if name in nested else value
            for name, value in row.items()
            if value is not None
        }
        for row in rows
    ]  # fmt: skip


def test_every_stream_comes_back_from_parquet_as_the_reader_reads_it(folder: RunFolder, tmp_path: Path) -> None:
    assert set(RECORDS) == set(STREAMS)
    for name, stream in STREAMS.items():
        exported = export_stream(folder, name, tmp_path, "parquet", silent)
        assert exported.rows == len(RECORDS[name]) and exported.path == tmp_path / f"{name}.parquet"
        rows = from_parquet(exported.path, {"facts", "phases"})
        read = [from_row(stream.record, row) for row in rows]
        assert [repr(record) for record in read] == [
            repr(from_row(stream.record, row)) for row in rows_of(folder, name)
        ]


def test_metrics_are_doubles_counters_are_integers_and_what_lacks_is_null(folder: RunFolder, tmp_path: Path) -> None:
    export_stream(folder, "updates", tmp_path, "parquet", silent)
    table = pyarrow.parquet.read_table(tmp_path / "updates.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "row": "string", "update": "int64", "decisions": "int64", "frames": "int64", "episodes": "int64",
        "loss/value": "double", "return/mean": "double",
    }  # fmt: skip
    losses = table["loss/value"].to_pylist()
    assert losses[0] == 0.1 and math.isnan(losses[1]) and losses[2] is None
    assert table["return/mean"].to_pylist() == [None, -1.5, math.inf]


def test_csv_keeps_null_and_nan_apart_and_text_with_line_ends_whole(folder: RunFolder, tmp_path: Path) -> None:
    export_stream(folder, "updates", tmp_path, "csv", silent)
    export_stream(folder, "events", tmp_path, "csv", silent)
    with (tmp_path / "updates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["loss/value"] for row in rows] == ["0.1", "nan", ""]
    with (tmp_path / "events.csv").open(newline="") as file:
        (hint, _) = csv.DictReader(file)
    assert hint["message"] == RECORDS["events"][0].message  # type: ignore[union-attr]
    assert json.loads(hint["facts"])["rule"] == "low_entropy"


def test_rows_of_archives_come_first_and_jsonl_is_one_file(folder: RunFolder, tmp_path: Path) -> None:
    first, *rest = folder.updates.read_bytes().splitlines(keepends=True)
    folder.updates.with_name("updates.jsonl.000001.gz").write_bytes(gzip.compress(first))
    folder.updates.write_bytes(b"".join(rest))
    export_stream(folder, "updates", tmp_path, "jsonl", silent)
    assert (tmp_path / "updates.jsonl").read_bytes() == first + b"".join(rest)


def test_many_blocks_are_one_file(folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "BLOCK_ROWS", 2)
    for kind in ("parquet", "csv", "jsonl"):
        assert export_stream(folder, "updates", tmp_path, kind, silent).rows == 3  # type: ignore[arg-type]
    assert pyarrow.parquet.read_table(tmp_path / "updates.parquet")["update"].to_pylist() == [1, 2, 3]
    assert len((tmp_path / "updates.csv").read_text().splitlines()) == 4


def test_older_rows_are_told_their_kind_and_a_torn_row_is_left_out(folder: RunFolder, tmp_path: Path) -> None:
    folder.evaluations.write_text('{"update": 1, "decisions": 2, "evaluation/x": 3.0}\n{"update": 2, "dec')
    exported = export_stream(folder, "evaluations", tmp_path, "parquet", silent)
    assert exported.rows == 1
    rows = pyarrow.parquet.read_table(tmp_path / "evaluations.parquet").to_pylist()
    assert rows == [{"row": "evaluation", "update": 1, "decisions": 2, "evaluation/x": 3.0}]


def test_a_stream_without_rows_makes_no_file(folder: RunFolder, tmp_path: Path) -> None:
    folder.probes.write_text("")
    assert export_stream(folder, "probes", tmp_path, "parquet", silent).path is None
    assert not (tmp_path / "probes.parquet").exists()


def test_a_row_of_another_kind_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    folder.evaluations.write_bytes(folder.updates.read_bytes())
    with pytest.raises(RunFolderError, match=r"evaluations.jsonl, line 1 should be a row of kind 'evaluation'"):
        export_stream(folder, "evaluations", tmp_path, "parquet", silent)


def test_rows_that_vanish_meanwhile_leave_the_old_export(folder: RunFolder, tmp_path: Path) -> None:
    export_stream(folder, "updates", tmp_path, "parquet", silent)
    before = (tmp_path / "updates.parquet").read_bytes()

    real = export.rows_of
    calls = iter([real, lambda *_: iter(())])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "rows_of", lambda *words: next(calls)(*words))
        with pytest.raises(
            RunFolderError, match="updates had 3 rows, of which 0 were read again and 0 are in the file"
        ):
            export_stream(folder, "updates", tmp_path, "parquet", silent)
    assert (tmp_path / "updates.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_csv_of_a_row_with_much_to_tell(folder: RunFolder, tmp_path: Path) -> None:
    """Python's own reader, which counts the rows again, is not asked to read so long a field unless told to."""
    limit = csv.field_size_limit()
    levels = {f"1-{number}": list(range(1000)) for number in range(50)}
    folder.probes.write_bytes(to_line(to_row(Probe(3, 192, levels))))
    assert export_stream(folder, "probes", tmp_path, "csv", silent).rows == 1
    assert len((tmp_path / "probes.csv").read_text()) > limit == csv.field_size_limit()
