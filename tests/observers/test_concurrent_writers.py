"""A short part of benchmarks/concurrent_writers.py: four threads write, one reads; nothing is lost and nothing torn."""

import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from respawn.runs.layout import RunFolder
from respawn.runs.rows import to_line, to_row

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import concurrent_writers as bench


@pytest.fixture
def exports(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    return folder


def test_no_row_is_lost_or_torn_while_files_are_set_aside_and_read(folder, exports, monkeypatch):
    monkeypatch.setattr(bench, "QUICK_LOOKS", 5)
    is_over = threading.Event()

    def reading() -> Counter[str]:
        seen: Counter[str] = Counter()
        while not is_over.is_set():
            seen = bench.look(folder, exports, seen)
        return seen

    with ThreadPoolExecutor() as beside:
        reader = beside.submit(reading)
        try:
            rows, events, failures = bench.write(folder, seconds=1.5)
        finally:
            is_over.set()
    assert failures == () and reader.result()["looks"] > 0
    found = bench.check_all(folder, exports, rows, events)
    assert found["rows"] == rows.total() > 0 and found["files_set_aside"] > 0 and len(rows) == bench.WRITERS


def two_writers() -> list[dict[str, object]]:
    return [to_row(bench.row_of(writer, number)) for number in range(3) for writer in range(2)]


def test_rows_that_are_all_there_count():
    assert bench.check_order(map(bench.check_row, two_writers())) == {0: 3, 1: 3}


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: rows.pop(2),
        lambda rows: rows.insert(2, rows[2]),
        lambda rows: rows.insert(0, rows.pop(2)),
        lambda rows: rows[3].update({"loss/part_7": rows[2]["loss/part_7"]}),
        lambda rows: rows[3].update({"frames": 5}),
    ],
)
def test_a_row_that_is_missing_doubled_out_of_order_or_torn_is_noticed(damage):
    rows = two_writers()
    damage(rows)
    with pytest.raises(bench.Lost):
        bench.check_order(map(bench.check_row, rows))


def test_rows_that_were_there_must_be_there_again(folder, exports):
    folder.updates.write_bytes(b"".join(map(to_line, two_writers())))
    assert bench.look(folder, exports, Counter())["updates"] == 6
    with pytest.raises(bench.Lost, match="there were"):
        bench.look(folder, exports, Counter(updates=7))
