from typing import get_args

import pytest

from respawn.contracts.records import EpisodeReport, Event, Record, UpdateReport
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.rotation import set_aside
from respawn.runs.rows import to_line, to_row
from respawn.runs.streams import STREAMS, row_streams, rows_of


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def test_every_record_has_a_stream_of_its_own(folder):
    assert {stream.record for stream in STREAMS.values()} == set(get_args(Record))
    paths = [stream.path_in(folder) for stream in STREAMS.values()]
    assert [path.name for path in paths] == [f"{name}.jsonl" for name in STREAMS]
    assert len({stream.kind for stream in STREAMS.values()}) == len(STREAMS)


def test_those_that_a_resumed_run_continues_are_all_but_the_history(folder):
    assert set(STREAMS) - set(row_streams(folder)) == {"events", "heartbeats", "resources"}
    assert row_streams(folder)["updates"] == folder.updates


def test_rows_of_all_files_each_with_its_kind(folder):
    for update in (1, 2, 3):
        folder.updates.write_bytes(to_line(to_row(UpdateReport(update, 10 * update, 0, 0, {}))))
        if update < 3:
            set_aside(folder.updates)
    rows = list(rows_of(folder, "updates"))
    assert [(row["row"], row["update"]) for row in rows] == [("update", 1), ("update", 2), ("update", 3)]


def test_rows_of_older_runs_do_not_say_their_kind_and_have_it_all_the_same(folder):
    row = to_row(Event("k", "m"))
    del row["row"]
    folder.events.write_bytes(to_line({"time": "t", **row}))
    (read,) = rows_of(folder, "events")
    assert read["row"] == "event" and next(iter(read)) == "row"


def test_a_row_of_another_stream_is_named(folder):
    rows = [UpdateReport(1, 10, 0, 0, {}), Event("k", "m")]
    folder.updates.write_bytes(b"".join(to_line(to_row(row)) for row in rows))
    with pytest.raises(
        RunFolderError, match=r"updates\.jsonl, line 2 should be a row of kind 'update', but is a 'event'"
    ):
        list(rows_of(folder, "updates"))


def test_a_stream_that_nobody_wrote_has_no_rows(folder):
    assert list(rows_of(folder, "episodes")) == []
    assert STREAMS["episodes"].record is EpisodeReport
