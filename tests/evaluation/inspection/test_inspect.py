"""A run looked at from all sides, whatever state its files are in; and nothing in it is changed."""

import hashlib

import pytest

from hand_made import NOW, HandMade, healthy
from respawn.contracts.records import Event
from respawn.errors import RunFolderError
from respawn.evaluation.inspection.inspect import find_even_damaged, inspect


def fingerprint(path):
    return {
        file.relative_to(path): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in path.rglob("*")
        if file.is_file() and file.name != "run.lock"
    }


def test_all_sides_of_a_run(tmp_path):
    made = healthy(tmp_path / "run").event(Event("resumed", "m", facts={"update": 20}), 40.0)
    before = fingerprint(made.folder.path)
    seen = inspect(made.folder, NOW)
    assert seen.problems == () and seen.life.status == "finished" and seen.is_writable
    assert seen.pace.rows == 30 and seen.keeping.newest_update == 30 and seen.config["updates"] == 100
    assert [resumed.update for resumed in seen.happenings.resumed] == [20]
    assert fingerprint(made.folder.path) == before


def test_wear_is_of_the_process_since_the_last_resume(tmp_path):
    made = healthy(tmp_path / "run").resources(90.0, threads=100.0).event(Event("resumed", "m"), 40.0)
    made.resources(30.0, threads=7.0).resources(20.0, threads=8.0)
    assert inspect(made.folder, NOW).wear.trends["threads"].first == 7.0


def test_what_came_after_the_last_resume_does_so_whatever_the_clock_says(tmp_path):
    made = healthy(tmp_path / "run").resources(900.0, threads=100.0).event(Event("resumed", "m"), 600.0)
    made.event(Event("clock_jumped", "two hours back", "warning"), 7790.0)
    made.resources(7700.0, threads=7.0).resources(7600.0, threads=8.0)
    seen = inspect(made.folder, NOW)
    assert seen.wear.trends["threads"].first == 7.0
    assert not seen.happenings.is_past(seen.happenings.of_kind("clock_jumped"))


def test_every_broken_file_is_told_and_the_rest_is_read(tmp_path):
    made = healthy(tmp_path / "run")
    for path in (made.folder.config, made.folder.meta, made.folder.status):
        path.write_text("{")
    lines = made.folder.updates.read_text().splitlines(keepends=True)
    made.folder.updates.write_text("".join([*lines[:20], "broken\n", *lines[21:]]))
    made.folder.heartbeats.write_text("[]\n{}\n")
    seen = inspect(made.folder, NOW)
    assert len(seen.problems) == 5 and seen.config == {} and seen.life.status == "broken"
    assert seen.pace.rows == 20 and seen.life.last_update == 30


def test_a_folder_with_nothing_but_a_configuration(tmp_path):
    made = HandMade(tmp_path / "run")
    seen = inspect(made.folder, NOW)
    assert seen.life.status == "killed" and seen.pace.rows == 0 and seen.keeping.whole == ()


def test_a_damaged_run_is_found_and_no_other_folder_is_taken_for_one(tmp_path):
    made = healthy(tmp_path / "run")
    assert find_even_damaged(tmp_path, "run").path == made.folder.path
    made.folder.config.write_text("{")
    made.folder.meta.unlink()
    assert find_even_damaged(tmp_path, "run").path == made.folder.path
    assert find_even_damaged(tmp_path / "elsewhere", str(made.folder.path)).path == made.folder.path
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("empty", "neither meta.json nor config.json"),
        ("nope", "there is no run 'nope'"),
        ("", "no run"),
    ):
        with pytest.raises(RunFolderError, match=words):
            find_even_damaged(tmp_path, name)
