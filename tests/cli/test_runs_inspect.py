"""respawn runs inspect: the worst first, each thing with what to do; tables for people, JSON for programs."""

import json
import math
import shutil
from types import SimpleNamespace

import pytest

from hand_made import healthy
from respawn.cli import runs_inspect
from respawn.contracts.records import Event
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import write_status
from respawn.runs.rotation import set_aside
from respawn.training.config import RunConfig, config_sha256, config_to_json


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return healthy(tmp_path / "runs/pole", config_to_json(RunConfig()), config_sha256(RunConfig()))


def shown(respawn, *words):
    answer = respawn("runs", "inspect", *words)
    assert answer.exit_code == 0 and answer.err == ""
    return [line.rstrip() for line in answer.out.splitlines()]


def facts(lines):
    """What was looked at, by its label."""
    begin = lines.index("what was looked at") + 1
    told = [line for line in lines[begin:] if line and not line.startswith(" ")]
    return {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in told}


def test_a_healthy_run_says_so_in_its_second_line(respawn, made):
    lines = shown(respawn, "pole")
    assert lines[:4] == ["pole: finished", "note    nothing looks wrong", "        → none is needed", ""]
    told = facts(lines)
    assert told["at"] == "update 30, 7,680 decisions" and told["checkpoints"] == "2 whole, the newest u00000030"
    assert told["speed"] == "128 decisions a second now, 128 before"
    assert told["time goes to"] == "collect 25%, learn 50%, idle 0%, other 25%"
    assert told["learning"] == "first episode ended in update 1, return 30 now, 30 at best"
    assert "process" not in told and "resumed" not in told and "failure" not in told


def test_the_smallest_disk_has_a_size_too(respawn, made, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=3 * 2**20, free=5 * 2**18))
    lines = shown(respawn, "pole")
    assert facts(lines)["disk"] == "1.2 MiB free (42%)"


def test_of_a_failed_run_the_cause_and_the_commands_come_first(respawn, made):
    made.status("failed", cause="ValueError: [bold] broke").event(Event("failed", "failed at update 30", "error"))
    made.event(Event("hint", "nothing moves: watch it", "warning", {"rule": "no-progress", "update": 30}))
    made.event(Event("resumed", "m", facts={"update": 20}), 60.0)
    made.folder.failure.write_text("Traceback")
    lines = shown(respawn, "pole")
    assert lines[0] == "pole: failed" and lines[1] == "bad     the run failed: ValueError: [bold] broke"
    assert lines[2] == "        → read runs/pole/failure.txt, mend what caused it; then: respawn resume pole"
    assert lines[3].startswith("warning hint no-progress, once at update 30: nothing moves")
    assert facts(lines)["resumed"] == "once at update 20" and facts(lines)["failure"] == "runs/pole/failure.txt"
    table = next(line for line in lines if line.startswith("hint no-progress "))
    assert table.split()[2] == "hint" and "watch it" in table
    assert not [line for line in lines if line.startswith("failed ")]  # said above


def test_what_older_rows_said_is_not_known_where_they_were_let_go_of(respawn, made):
    lines = made.folder.updates.read_bytes().splitlines(keepends=True)
    made.folder.updates.write_bytes(b"".join(lines[10:]))
    assert facts(shown(respawn, "pole"))["learning"].startswith("first episode ended by update 11, ")
    made.folder.updates.write_bytes(b"".join([lines[0].replace(b'"episodes": 1', b'"episodes": 0'), *lines[1:]]))
    assert facts(shown(respawn, "pole"))["learning"].startswith("first episode ended in update 2, ")


def test_archives_are_looked_at_where_they_are_asked_for(respawn, made, monkeypatch):
    """Of millions of rows the newest are enough, and read in seconds."""
    lines = made.folder.updates.read_bytes().splitlines(keepends=True)
    made.folder.updates.write_bytes(b"".join(lines[:20]))
    set_aside(made.folder.updates)
    made.folder.updates.write_bytes(b"".join(lines[20:]))
    monkeypatch.setattr(runs_inspect, "INSPECTED_ROWS", 10)
    assert facts(shown(respawn, "pole"))["learning"].startswith("first episode ended by update 21, ")
    assert facts(shown(respawn, "pole", "--all"))["learning"].startswith("first episode ended in update 1, ")


def test_commands_name_the_folder_where_that_is_not_the_usual_one(respawn, made, monkeypatch):
    made.status("running")
    made.folder.path.parent.rename(made.folder.path.parent.with_name("other runs"))
    lines = shown(respawn, "pole", "--runs", "other runs")
    assert lines[2].endswith("then: respawn resume pole --runs 'other runs'")
    assert shown(respawn, "other runs/pole")[2] == lines[2]


def test_as_json_it_is_the_same_and_holds_all(respawn, made):
    made.status("failed", cause="x").updates(1, **{"loss/policy": math.nan, "return/mean": math.inf})
    made.event(Event("failed", "m", "error", {"seconds": math.nan}))
    made.checkpoint(31)
    answer = respawn("runs", "inspect", "pole", "--json")
    told = json.loads(answer.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert set(told) == {
        *("name", "path", "findings", "life", "checkpoints", "pace", "resources", "events", "evidence", "problems"),
    }
    assert [finding["severity"] for finding in told["findings"]] == ["bad", "bad"]
    assert told["findings"][0] == {
        "severity": "bad",
        "sentence": "the run failed: x",
        "action": "mend what caused it; then: respawn resume pole",
    }
    assert told["pace"]["rows"] == 31 and told["pace"]["return_now"] == "inf"
    assert told["events"]["groups"][0]["facts"] == {"seconds": "nan"}
    assert told["checkpoints"]["whole"] == ["u00000020", "u00000030", "u00000031"]


def _edit(folder):
    folder.config.write_text(json.dumps({**json.loads(folder.config.read_text()), "seed": 99}))


def _misspell(folder):
    folder.config.write_text(json.dumps({**json.loads(folder.config.read_text()), "sed": 99}))


def _change_rows(folder):
    folder.updates.write_bytes(b"{}\n" + folder.updates.read_bytes()[3:])


@pytest.mark.parametrize(
    ("damage", "said", "to_do"),
    [
        (_edit, "made with other settings than config.json holds now", "put the run's own config.json"),
        (_misspell, "there is no setting called sed", "restore it from a copy"),
        (_change_rows, "updates.jsonl was changed", "put the file back from a copy"),
    ],
)
def test_what_resume_would_refuse_is_told_and_not_advised(respawn, runs, damage, said, to_do):
    folder = RunFolder(runs / "pole")
    write_status(folder, "running")
    damage(folder)
    found = json.loads(respawn("runs", "inspect", "pole", "--json").out)["findings"]
    assert [finding["severity"] for finding in found[:2]] == ["bad", "bad"]
    (finding,) = [finding for finding in found if said in finding["sentence"]]
    assert finding["action"].startswith(to_do)
    refused = respawn("resume", "pole", "--updates", "9")
    assert refused.exit_code == 2 and said in refused.sentence
    resumes = [each for each in found if "then: respawn resume" in each["action"]]
    assert all("in checkpoints/ away; then: " in each["action"] for each in resumes)
    offered = "begin a new run with its weights: respawn train cartpole-ppo --weights-from pole"
    assert (offered in finding["action"]) is (damage is _change_rows)


def test_moving_the_checkpoints_that_are_named_away_lets_it_go_on(respawn, runs):
    folder = RunFolder(runs / "pole")
    _change_rows(folder)
    found = json.loads(respawn("runs", "inspect", "pole", "--json").out)["findings"]
    assert "move u00000003 in checkpoints/ away; then: respawn resume pole" in found[0]["action"]
    (folder.checkpoints / "u00000003").rename(folder.path / "u00000003")
    assert respawn("resume", "pole").exit_code == 0


@pytest.mark.parametrize("name", ["config.json", "meta.json", "status.json", "updates.jsonl", "heartbeats.jsonl"])
def test_a_damaged_run_is_inspected_all_the_same(respawn, made, name):
    (made.folder.path / name).write_text("{\n")
    for words in (["pole"], ["pole", "--json"]):
        answer = respawn("runs", "inspect", *words)
        assert answer.exit_code == 0 and name in answer.out and "Traceback" not in answer.out + answer.err
    assert shown(respawn, "pole")[1].startswith(f"bad     runs/pole/{name}")


def test_very_many_kinds_of_events_are_cut_short(respawn, made):
    for number in range(14):
        made.event(Event(f"kind_{number}", "m", "warning"))
    lines = shown(respawn, "pole")
    assert lines[-1] == "and 2 more kinds: respawn runs inspect pole --json"
    elsewhere = made.folder.path.parent.rename("my runs")
    lines = shown(respawn, "pole", "--runs", str(elsewhere))
    assert lines[-1] == "and 2 more kinds: respawn runs inspect pole --runs 'my runs' --json"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn runs inspect' wants RUN, and nothing came"),
        (["nope"], "there is no run 'nope' in "),
        (["pole", "--csv", "x"], "there is no option --csv for 'respawn runs inspect'"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(respawn, made, words, sentence):
    answer = respawn("runs", "inspect", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_a_folder_that_is_no_run_is_not_inspected(respawn, made):
    (made.folder.path.parent / "empty").mkdir()
    assert "neither meta.json nor config.json" in respawn("runs", "inspect", "empty").sentence
