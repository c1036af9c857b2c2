import gzip
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from hand_made import HandMade
from respawn.checkpoints.manifest import Manifest
from respawn.checkpoints.store import read_manifest
from respawn.contracts.records import UpdateReport
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta, write_meta, write_status
from respawn.runs.rows import to_line, to_row


def table(respawn, *words):
    answer = respawn(*words)
    assert answer.exit_code == 0 and answer.err == ""
    return [line.rstrip() for line in answer.out.splitlines()]


def facts(lines):
    return {line[:14].strip(): line[14:] for line in lines if line[:14].strip()}


def test_list_as_json(respawn, runs):
    rows = {row["name"]: row for row in json.loads(respawn("runs", "list", "--json").out)}
    assert set(rows) == {"pole", "recall"}
    assert rows["pole"]["status"] == "finished" and rows["pole"]["updates"] == 3 and rows["pole"]["decisions"] == 96


def test_list_fits_the_terminal(respawn, runs, monkeypatch):
    (runs / "pole").rename(runs / "cartpole-ppo-s1-20261116-112621")
    wide = table(respawn, "runs", "list")
    assert "world" in wide[0] and any("CartPole-v1" in line and " 96 " in line for line in wide)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = table(respawn, "runs", "list")
    assert "world" not in narrow[0] and max(map(len, narrow)) <= 80
    assert any(line.startswith("cartpole-ppo-s1-20261116-112621  ") for line in narrow)
    assert len(narrow) == len(wide)  # nothing is broken over lines


LONG = "memory-transformer-s10-20261116-112621"
"""A name as runs are given by default, one of the longest."""
CELLS = {
    "world": "ALE/MontezumaRevenge-v5",
    "updates": "12,345",
    "decisions": "9,876,543",
    "return": "131.8",
    "evaluation": "499.4",
}


@pytest.fixture
def listed(respawn, tmp_path, monkeypatch):
    """The lines of a list of two runs, on so many columns; none: in a pipe."""

    def show(columns):
        if columns is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(columns))
        return table(respawn, "runs", "list", "--runs", str(tmp_path))

    made = HandMade(tmp_path / LONG).status("finished").evaluation(20, return_mean=499.4)
    made.folder.meta.write_text(made.folder.meta.read_text().replace("CartPole-v1", CELLS["world"]))
    update = UpdateReport(12_345, 9_876_543, 9_876_543, 7, {"return/mean": 131.8})
    made.folder.updates.write_bytes(to_line(to_row(update)))
    HandMade(tmp_path / "short").status("running")
    return show


@pytest.mark.parametrize("columns", [None, 150, 121, 119, 100, 99, 95, 94, 90, 83, 82, 80, 70, 60, 50, 40, 30])
def test_no_number_of_a_list_is_cut_off(listed, columns):
    lines = listed(columns)
    assert max(map(len, lines)) <= (columns or 120) and "…" not in "".join(lines)
    run, status, *headings = lines[0].split()
    assert (run, status) == ("run", "status") and set(headings) <= set(CELLS)
    assert {CELLS[heading] for heading in headings} <= set(" ".join(lines).split())


def test_a_list_leaves_columns_out_before_names_are_broken(listed):
    headings = {columns: listed(columns)[0].split()[2:] for columns in (121, None, 95, 94, 82, 40)}
    assert headings == {
        121: list(CELLS),
        None: ["updates", "decisions", "return", "evaluation"],
        95: ["updates", "decisions", "return", "evaluation"],
        94: ["updates", "return", "evaluation"],
        82: ["updates", "return", "evaluation"],
        40: ["evaluation"],
    }
    assert any(line.startswith(f"{LONG}  ") for line in listed(83))
    pieces = [line.split()[0] for line in listed(60)[2:] if not line.startswith("short ")]
    assert len(pieces) > 1 and "".join(pieces) == LONG


def test_a_broken_run_does_not_hide_the_others(respawn, runs):
    (runs / "pole/meta.json").write_text("{")
    (runs / "recall/status.json").write_text('{"status": "singing"}')
    shutil.copytree(runs / "recall", runs / "whole")
    (runs / "whole/status.json").unlink()
    lines = table(respawn, "runs", "list")
    assert any(line.startswith("whole") and "killed" in line for line in lines)
    assert any(line.startswith("pole is broken: runs/pole/meta.json should hold JSON") for line in lines)
    assert any(line.startswith("recall is broken: runs/recall/status.json should say one of running") for line in lines)


def test_a_damaged_archive_breaks_its_own_run_alone(respawn, runs):
    rows = (runs / "pole/updates.jsonl").read_bytes()
    (runs / "pole/updates.jsonl").write_bytes(b"")
    (runs / "pole/updates.jsonl.000001.gz").write_bytes(gzip.compress(rows)[:-9])  # the disk was full
    lines = table(respawn, "runs", "list")
    assert any(line.startswith("recall") and "finished" in line for line in lines)
    assert any(line.startswith("pole is broken: an archive of runs/pole/updates.jsonl is damaged") for line in lines)
    inspected = respawn("runs", "inspect", "pole")
    assert inspected.exit_code == 0 and "an archive of runs/pole/updates.jsonl is damaged" in inspected.out
    assert "an archive of runs/pole/updates.jsonl is damaged" in respawn("runs", "show", "pole").sentence


def test_list_show_and_inspect_agree_about_a_broken_status(respawn, runs):
    folder = RunFolder(runs / "pole")
    folder.status.write_text("{")

    def told():
        listed = {row["name"]: row["status"] for row in json.loads(respawn("runs", "list", "--json").out)}
        shown = json.loads(respawn("runs", "show", "pole", "--json").out)["status"]
        inspected = json.loads(respawn("runs", "inspect", "pole", "--json").out)["life"]["status"]
        return {listed["pole"], shown, inspected}

    assert told() == {"broken"}
    with folder.lock():
        assert told() == {"running"}
    lines = table(respawn, "runs", "list")
    assert any(line.split()[:4] == ["pole", "broken", "CartPole-v1", "3"] for line in lines)
    assert any(line.startswith("pole is broken: runs/pole/status.json should hold JSON") for line in lines)
    shown = facts(table(respawn, "runs", "show", "pole"))
    assert shown["status"].startswith("broken: runs/pole/status.json should hold JSON")
    assert shown["go on"] == "respawn resume pole" and respawn("resume", "pole").exit_code == 0
    assert facts(table(respawn, "runs", "show", "pole"))["status"] == "finished"


def test_no_runs_at_all(respawn, runs):
    nowhere = respawn("runs", "list", "--runs", "nowhere").out
    assert nowhere.startswith(f"There are no runs in {Path.cwd() / 'nowhere'}. Name another folder with --runs DIR.\n")
    assert nowhere.endswith("Begin one with: respawn train\n")
    assert json.loads(respawn("runs", "list", "--runs", "nowhere", "--json").out) == []


def test_show_as_json_has_what_scripts_rely_on(respawn, runs):
    shown = json.loads(respawn("runs", "show", "pole", "--json").out)
    manifest = json.loads((runs / "pole/checkpoints/u00000003/manifest.json").read_text())
    assert shown["updates"] == 3 and shown["decisions"] == 96 and shown["checkpoint"] == "u00000003"
    assert shown["weights_sha256"] == manifest["weights_sha256"]
    assert json.loads(respawn("runs", "show", "runs/pole", "--runs", "nowhere", "--json").out)["name"] == "pole"


def test_show_on_eighty_columns_keeps_the_sha_whole(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    sha = json.loads(respawn("runs", "show", "pole", "--json").out)["weights_sha256"]
    lines = table(respawn, "runs", "show", "pole")
    assert lines[0] == "pole" and max(map(len, lines)) <= 80
    assert facts(lines) | {
        "status": "finished",
        "weights": sha,
        "saved": "3 updates, 96 decisions",
        "resumes": "bit for bit",
        "go on": "respawn resume pole --updates 6",
    } == facts(lines)


def test_show_says_how_a_run_ended(respawn, runs):
    folder = RunFolder(runs / "pole")
    write_status(folder, "running")
    shown = facts(table(respawn, "runs", "show", "pole"))
    assert shown["status"].startswith("killed: its process is gone") and shown["go on"] == "respawn resume pole"
    with folder.lock():
        shown = facts(table(respawn, "runs", "show", "pole"))
        assert shown["status"].startswith("running: by process ") and "go on" not in shown
    write_status(folder, "failed", cause="ValueError: the pole\nbroke")
    status = facts(table(respawn, "runs", "show", "pole"))["status"]
    assert status == "failed: ValueError: the pole broke; the traceback is in runs/pole/failure.txt"
    write_status(folder, "stopped", cause="a second signal came")
    status = facts(table(respawn, "runs", "show", "pole"))["status"]
    assert status == "stopped: a second signal came; nothing before the newest checkpoint is lost"
    write_status(folder, "stopped")
    assert facts(table(respawn, "runs", "show", "pole"))["status"] == "stopped"


def test_show_says_words_in_brackets_as_they_are(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    odd = (runs / "pole").rename(runs / "läuft [bold] 走")
    for cause in (
        "ValueError: expected [batch, 4] and got [/tmp/x] :x:",
        "RuntimeError: [enforce fail at a.cpp:114] D",
    ):
        write_status(RunFolder(odd), "failed", cause=cause)
        lines = table(respawn, "runs", "show", str(odd))
        told = facts(lines)
        assert lines[0] == odd.name and told["status"].startswith(f"failed: {cause}; the traceback is in {odd}/")
        assert told["folder"] == str(odd) and told["go on"] == f"respawn resume '{odd.name}'"


def test_show_says_what_is_not_exact_and_what_is_damaged(respawn, runs):
    folder = RunFolder(runs / "pole")
    meta = read_meta(folder)
    fields = {name: getattr(meta, name) for name in meta.__dataclass_fields__}
    write_meta(folder, type(meta)(**fields | {"exact_resume": False, "exact_resume_note": "it forgets"}))
    (folder.checkpoints / "u00000003/manifest.json").write_text("{}")
    shown = facts(table(respawn, "runs", "show", "pole"))
    assert shown["resumes"] == "not exactly: it forgets"
    assert shown["damaged"].startswith("u00000003: manifest.json") and shown["saved"].startswith("0 updates")


def _damaged(folder):
    for path in folder.checkpoints.iterdir():
        (path / "clock.json").unlink()


def _gone(folder):
    shutil.rmtree(folder.checkpoints)


def _newer(folder):
    for path in folder.checkpoints.iterdir():
        content = asdict(read_manifest(path))
        (path / "manifest.json").write_text(Manifest(**{**content, "schema_version": 99}).to_json())


@pytest.mark.parametrize(
    ("damage", "instead"),
    [
        (_damaged, "put one back from a copy, or start a new run"),
        (_gone, "put the checkpoints back, or start a new run"),
        (_newer, "use respawn 0.1.0"),
    ],
)
@pytest.mark.parametrize("status", ["finished", "running"])
def test_show_offers_no_resume_that_would_be_refused(respawn, runs, monkeypatch, damage, instead, status):
    monkeypatch.setenv("COLUMNS", "1000")
    folder = RunFolder(runs / "pole")
    write_status(folder, status)
    damage(folder)
    shown = facts(table(respawn, "runs", "show", "pole"))
    assert shown["go on"].startswith("not by resuming: ") and shown["go on"].endswith(instead)
    assert shown["saved"] == "nothing that is whole" and "respawn resume" not in "".join(shown.values())
    refused = respawn("resume", "pole", "--updates", "9")
    assert refused.exit_code == 2 and shown["go on"] == f"not by resuming: {refused.sentence}"
    told = json.loads(respawn("runs", "show", "pole", "--json").out)
    assert told["go_on"] is None and told["obstacle"] == refused.sentence
    found = json.loads(respawn("runs", "inspect", "pole", "--json").out)["findings"]
    assert found[0]["severity"] == "bad" and not [each for each in found if "respawn resume" in each["action"]]


def test_show_shows_a_run_whose_first_row_cannot_be_read(respawn, runs):
    folder = RunFolder(runs / "pole")
    shutil.rmtree(folder.checkpoints)
    folder.updates.write_text("broken\n" + folder.updates.read_text())
    answer = respawn("runs", "show", "pole", "--json")
    assert answer.exit_code == 0 and "line 1 should be a JSON object" in json.loads(answer.out)["obstacle"]


def test_a_run_that_was_killed_before_it_saved_can_be_resumed(respawn, runs):
    folder = RunFolder(runs / "pole")
    shutil.rmtree(folder.checkpoints)
    folder.updates.unlink()
    write_status(folder, "running")
    shown = facts(table(respawn, "runs", "show", "pole"))
    assert shown["saved"] == "nothing yet" and shown["go on"] == "respawn resume pole"


def test_mario_is_judged_by_how_often_he_clears(respawn, runs, jumper):
    shutil.copytree(jumper / "jumper", runs / "jumper")
    rows = runs / "jumper/evaluations.jsonl"
    (row,) = map(json.loads, rows.read_text().splitlines())
    rows.write_text(json.dumps(row | {"evaluation/cleared": 0.5}) + "\n")
    assert any(line.startswith("jumper ") and line.endswith(" cleared 50 %") for line in table(respawn, "runs", "list"))
    assert facts(table(respawn, "runs", "show", "jumper"))["evaluation"] == "cleared 50 % when judged at update 1"
    (runs / "pole/evaluations.jsonl").write_text('{"update": 3, "evaluation/return_mean": 9.5}\n')
    assert any(line.startswith("pole ") and line.endswith(" return 9.5") for line in table(respawn, "runs", "list"))
    compared = table(respawn, "runs", "compare", "jumper", "pole")
    assert [line.split() for line in compared if line.startswith("evaluation, ")] == [
        ["evaluation,", "cleared", "50", "%"],
        ["evaluation,", "return", f"{row['evaluation/return_mean']:.4g}", "9.5"],
    ]


def test_an_evaluation_that_is_no_number_is_shown(respawn, runs):
    (runs / "pole/evaluations.jsonl").write_text('{"update": 3, "evaluation/return_mean": "nan"}\n')
    assert any(line.endswith(" return nan") for line in table(respawn, "runs", "list"))


def test_a_run_that_goes_on_is_as_far_as_its_newest_row(respawn, runs):
    rows = runs / "pole/updates.jsonl"
    newest = json.loads(rows.read_text().splitlines()[-1]) | {"update": 1234, "decisions": 56789}
    with rows.open("a") as file:
        file.write(json.dumps(newest) + "\n")
    assert any(
        line.startswith("pole ") and " 1,234 " in line and " 56,789 " in line for line in table(respawn, "runs", "list")
    )
    compared = table(respawn, "runs", "compare", "pole", "recall")
    assert ["updates", "1,234", "2"] in [line.split() for line in compared]
    assert facts(table(respawn, "runs", "show", "pole"))["saved"] == "3 updates, 96 decisions"
    (runs / "recall/updates.jsonl").write_text("")
    assert ["updates", "1,234", "2"] in [line.split() for line in table(respawn, "runs", "compare", "pole", "recall")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn runs' wants one of list, show, inspect, summary, compare, export, and nothing came"),
        (["sing"], "'respawn runs' wants one of list, show, inspect, summary, compare, export, not 'sing'"),
        (["show"], "'respawn runs show' wants RUN, and nothing came"),
        (["show", "xyz"], "there is no run 'xyz' in "),
        (["list", "--runs", "runs/pole/meta.json"], "--runs wants a folder, but runs/pole/meta.json is a file"),
        (["list", "--jsn"], "there is no option --jsn for 'respawn runs list'; did you mean --json?"),
    ],
)
def test_bad_input_is_one_sentence(respawn, runs, words, sentence):
    answer = respawn("runs", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
