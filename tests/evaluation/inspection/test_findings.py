"""All findings together: the worst first, and none where nothing is wrong."""

import json

from hand_made import HandMade, healthy
from inspecting import found_in
from respawn.contracts.records import Event
from respawn.evaluation.inspection.finding import Finding
from respawn.evaluation.inspection.findings import NOTHING


def test_of_a_healthy_finished_run_nothing_looks_wrong(tmp_path):
    assert found_in(healthy(tmp_path / "run")) == [NOTHING]


def test_of_a_healthy_run_that_goes_on_nothing_looks_wrong(tmp_path):
    made = healthy(tmp_path / "run").status("running")
    with made.folder.lock():
        assert found_in(made) == [NOTHING]


def test_of_a_run_that_has_not_made_an_update_yet_nothing_looks_wrong(tmp_path):
    made = HandMade(tmp_path / "run").beat(1.0)
    made.checkpoint(0)
    with made.folder.lock():
        assert found_in(made) == [NOTHING]


def test_of_a_run_that_an_older_version_made_nothing_looks_wrong(tmp_path):
    made = healthy(tmp_path / "run")
    made.folder.heartbeats.unlink()
    config = json.loads(made.folder.config.read_text())
    made.folder.config.write_text(json.dumps({name: config[name] for name in ("updates", "minutes", "seed")}))
    for stream in (made.folder.updates, made.folder.events):
        rows = [json.loads(line) for line in stream.read_text().splitlines()]
        stream.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "row"}) + "\n" for row in rows))
    for path in made.folder.checkpoints.iterdir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    made.checkpoint(30, 0.0)
    assert found_in(made) == [NOTHING]


def test_notes_stand_below_and_are_nothing_wrong(tmp_path):
    made = healthy(tmp_path / "run").event(Event("slow_step", "it was slow", "warning"))
    first, second = found_in(made)
    assert first == NOTHING and second.severity == "note" and second.sentence == "slow_step, once: it was slow"


def test_the_worst_comes_first(tmp_path):
    made = healthy(tmp_path / "run").status("failed", cause="ValueError: no")
    made.event(Event("slow_step", "slow", "warning")).event(Event("stagnation", "no new best", "warning"))
    (made.folder.checkpoints / "u00000030/weights.json").write_text("")
    assert [finding.severity for finding in found_in(made)] == ["bad", "warning", "warning", "note"]


def test_each_says_what_to_do(tmp_path):
    made = healthy(tmp_path / "run").status("failed", cause="ValueError: no")
    for file in (made.folder.meta, made.folder.config, made.folder.resources):
        file.write_text("{broken\n")
    for finding in found_in(made):
        assert isinstance(finding, Finding) and finding.sentence and len(finding.action) > 8
        assert "\n" not in finding.sentence + finding.action
