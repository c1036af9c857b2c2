"""respawn runs export: every row once, archives included, in three formats."""

import csv
import gzip
import json
import math
import shutil

import pyarrow.parquet
import pytest

from hand_made import healthy
from respawn.contracts.records import Event


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return healthy(tmp_path / "runs/pole").event(Event("odd", "m", facts={"loss": math.nan}))


def shown(respawn, *words):
    answer = respawn("runs", "export", *words)
    assert answer.exit_code == 0
    return [line.rstrip() for line in answer.out.splitlines()]


def test_all_streams_become_tables_unless_they_have_no_rows(respawn, made, tmp_path):
    lines = shown(respawn, "pole", "--to", "out/here")
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert rows["updates"] == ["30", "14", "out/here/updates.parquet"] and rows["events"][0] == "2"
    assert rows["rulings"] == ["0", "0", "-"] and not (tmp_path / "out/here/rulings.parquet").exists()
    table = pyarrow.parquet.read_table(tmp_path / "out/here/updates.parquet").to_pydict()
    assert table["return/mean"] == [float(update) for update in range(1, 31)] and set(table["row"]) == {"update"}


@pytest.mark.parametrize("to", ["mk/x[/y]", "[abc]/here"])
def test_a_folder_may_have_brackets(respawn, made, to):
    lines = shown(respawn, "pole", "--to", to, "--streams", "updates")
    assert lines[-1].split() == ["updates", "30", "14", f"{to}/updates.parquet"]


def test_rows_in_archives_are_exported_with_the_others(respawn, made, tmp_path):
    lines = made.folder.updates.read_bytes().splitlines(keepends=True)
    archive = made.folder.updates.with_name("updates.jsonl.000001.gz")
    archive.write_bytes(gzip.compress(b"".join(lines[:20])))
    made.folder.updates.write_bytes(b"".join(lines[20:]))
    shown(respawn, "pole", "--to", "out", "--format", "csv", "--streams", "updates")
    told = list(csv.DictReader((tmp_path / "out/updates.csv").open(newline="")))
    assert [int(row["update"]) for row in told] == list(range(1, 31))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["updates.csv"]


def test_rows_as_they_are(respawn, made, tmp_path):
    shown(respawn, "pole", "--to", "out", "--format", "jsonl", "--streams", "events", "evaluations")
    written = [json.loads(line) for line in (tmp_path / "out/events.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in written] == ["finished", "odd"] and written[1]["facts"] == {"loss": {"float": "nan"}}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["evaluations.jsonl", "events.jsonl"]


def test_as_json_it_says_what_became_of_each(respawn, made):
    answer = respawn("runs", "export", "pole", "--to", "out", "--streams", "updates", "rulings", "--json")
    assert json.loads(answer.out) == {
        "run": "pole",
        "streams": [
            {"stream": "updates", "rows": 30, "columns": 14, "path": "out/updates.parquet"},
            {"stream": "rulings", "rows": 0, "columns": 0, "path": None},
        ],
    }


def test_streams_come_in_their_own_order_and_once(respawn, made):
    answer = respawn("runs", "export", "pole", "--to", "out", "--json", "--streams", "events", "updates", "events")
    assert [each["stream"] for each in json.loads(answer.out)["streams"]] == ["updates", "events"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn runs export' wants RUN, and nothing came"),
        (["pole"], "'respawn runs export' wants --to DIR, the folder that the files are written to; name one"),
        (["pole", "--to", "runs/pole"], "--to wants a folder for the export, and runs/pole is the run's own, or in it"),
        (["pole", "--to", "runs/pole/out"], "--to wants a folder for the export, and runs/pole/out is the run's own"),
        (["pole", "--to", "/proc/out"], "/proc/out cannot be made ("),
        (["pole", "--to", "out", "--streams", "updats"], "--streams wants some of updates, episodes, "),
        (["pole", "--to", "out", "--format", "xls"], "--format wants one of parquet, csv, jsonl, but 'xls' came"),
        (["nope", "--to", "out"], "there is no run 'nope' in "),
    ],
)
def test_mistakes_are_answered_in_one_sentence(respawn, made, words, sentence):
    answer = respawn("runs", "export", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_another_runs_streams_are_not_replaced(respawn, made, tmp_path):
    other = tmp_path / "runs" / "other"
    shutil.copytree(made.folder.path, other)
    before = {path.name: path.read_bytes() for path in other.iterdir() if path.is_file()}
    answer = respawn("runs", "export", "pole", "--to", "runs/other", "--format", "jsonl")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("--to wants a folder for the export, and runs/other is that of the run other")
    assert {path.name: path.read_bytes() for path in other.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_where_a_disk_is_full_the_file_is_named(respawn, made, no_room, kind):
    with no_room():
        answer = respawn("runs", "export", "pole", "--to", "out", "--format", kind)
    assert answer.exit_code == 1 and f"File too large: 'out/updates.{kind}'; check that" in answer.sentence
    assert list((made.folder.path.parent.parent / "out").iterdir()) == []


def test_a_damaged_row_ends_it_and_leaves_no_half_file(respawn, made, tmp_path):
    with made.folder.updates.open("a") as file:
        file.write("{\n")
    answer = respawn("runs", "export", "pole", "--to", "out")
    assert answer.exit_code == 2 and "line 31 should be a JSON object" in answer.err
    assert not list((tmp_path / "out").iterdir())
