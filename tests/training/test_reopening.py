"""What whoever resumes a run is told, and how a process ends that hangs."""

import errno
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from respawn.checkpoints.store import Found
from respawn.collection.config import CollectionConfig
from respawn.contracts.records import Event
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import describe_machine, read_meta, read_status, write_meta
from respawn.training import reopening
from respawn.training.config import RunConfig
from respawn.training.reopening import Reopened, about_damage, about_hanging, about_resuming
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig

CONFIG = RunConfig(planned_updates=10, device="cpu")
META = {
    "id": "1", "name": "r", "preset": "p", "world": "w", "seed": 0, "created": "now", "command": [],
    "exact_resume": True, "exact_resume_note": "", "git_commit": None,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create(tmp_path, "r", {**META, "machine": describe_machine()}, {})


def found(*passed_over: str) -> Found:
    return Found(Path("checkpoints/u00000005"), None, passed_over)


def told(folder, found=None, before=CONFIG, config=CONFIG) -> dict[str, Event]:
    run = SimpleNamespace(clock=SimpleNamespace(updates=5))
    events = about_resuming(run, folder, found, before, config)
    assert len({event.kind for event in events}) == len(events)
    return {event.kind: event for event in events}


def tell(folder: RunFolder, kind: str) -> None:
    stream = JsonlStream(folder.events, Event, truncate_on_restore=False)
    stream.receive(Event(kind, "something happened"))
    stream.close()


class TestAboutResuming:
    def test_where_nothing_is_different_only_that_it_goes_on(self, folder):
        (event,) = told(folder, found()).values()
        assert (event.kind, event.message, event.facts) == ("resumed", "resumed from u00000005", {"update": 5})
        (event,) = told(folder).values()
        assert event.message == "no checkpoint yet: the run begins at its beginning"

    def test_each_checkpoint_that_was_passed_over(self):
        events = about_damage(found("u9: weights.json is missing", "u7: it is empty"))
        assert [event.message for event in events] == [
            "passed over a damaged checkpoint, u9: weights.json is missing",
            "passed over a damaged checkpoint, u7: it is empty",
        ]
        assert {(event.kind, event.level) for event in events} == {("damaged_checkpoint", "warning")}
        assert about_damage(None) == []

    def test_what_was_changed_on_purpose(self, folder):
        changed = replace(CONFIG, planned_updates=20, device="cuda:1")
        changed = replace(changed, evaluation=replace(CONFIG.evaluation, every_updates=1, stop_at=9.0))
        before = replace(CONFIG, evaluation=changed.evaluation)
        changed = replace(changed, evaluation=replace(before.evaluation, stop_at=None))
        events = told(folder, found(), before, changed)
        assert set(events) == {"resumed", "plan_extended", "goal_lifted", "device_changed"}
        assert "from 10 to 20 updates" in events["plan_extended"].message
        assert "from cpu to cuda:1" in events["device_changed"].message

    def test_another_machine(self, folder):
        meta = read_meta(folder)
        write_meta(folder, replace(meta, machine={**meta.machine, "torch": "2.6.0"}))
        event = told(folder, found())["machine_changed"]
        assert f"torch 2.6.0 → {describe_machine()['torch']}" in event.message and event.level == "warning"

    def test_a_world_that_cannot_say_its_state(self, folder):
        write_meta(folder, replace(read_meta(folder), exact_resume=False, exact_resume_note="it forgets"))
        assert told(folder, found())["inexact_resume"].message == "it forgets"


class TestAboutHanging:
    @pytest.fixture
    def trace(self, folder) -> Path:
        folder.traces.mkdir()
        path = folder.traces / "hung-17.txt"
        path.write_text("Timeout (0:07:31)!\nThread 0x0001 (most recent call first):\n")
        return path

    def test_a_process_that_could_tell_nobody_is_told_of_by_the_next(self, folder, trace):
        (event,) = about_hanging(folder)
        assert (event.kind, event.level, event.facts) == ("hung", "warning", {"trace": str(trace)})
        assert event.message.endswith("or was suspended and woken; where is in traces/hung-17.txt")

    def test_but_only_once(self, folder, trace):
        tell(folder, "stalled")
        later = time.time() + 5
        os.utime(trace, (later, later))
        assert len(about_hanging(folder)) == 1
        earlier = time.time() - 5
        os.utime(trace, (earlier, earlier))
        assert about_hanging(folder) == []

    def test_files_that_nothing_was_written_to_say_nothing(self, folder, trace):
        trace.write_text("")
        (folder.traces / "stalled-1.txt").write_text("of another kind")
        assert about_hanging(folder) == []

    def test_without_traces_there_is_nothing_to_tell(self, folder):
        assert about_hanging(folder) == []

    def test_a_damaged_stream_is_no_reason_not_to_resume(self, folder, trace):
        folder.events.write_text("[]\n")
        assert len(about_hanging(folder)) == 1


def test_what_could_not_be_taken_up_ends_a_sentence():
    assert Reopened().lost == ""
    assert Reopened(episodes_begin_anew=True).lost == ", its episodes begin anew"
    assert Reopened(True, True).lost == ", its episodes begin anew and its replay is empty"


class TestEndingAProcessThatHangs:
    @pytest.fixture
    def exits(self, monkeypatch) -> list[int]:
        codes: list[int] = []
        monkeypatch.setattr(reopening.os, "_exit", codes.append)
        return codes

    def test_it_is_a_failure_that_says_how_to_go_on(self, folder, exits, capsys):
        reopening._end_process(folder)("nothing has moved for 300 s")
        assert exits == [1]
        status = read_status(folder)
        assert (status.status, status.facts["cause"]) == ("failed", "nothing has moved for 300 s")
        assert folder.failure.read_text() == "nothing has moved for 300 s\n"
        assert capsys.readouterr().err == (
            f"respawn: run r was ended because nothing has moved for 300 s; go on with: respawn resume {folder.path}\n"
        )

    def test_what_it_says_can_be_pasted_where_a_folder_has_a_space(self, folder, exits, capsys):
        elsewhere = RunFolder(folder.path.rename(folder.path.with_name("my run")))
        reopening._end_process(elsewhere)("nothing has moved")
        assert capsys.readouterr().err.endswith(f"; go on with: respawn resume '{elsewhere.path}'\n")

    def test_it_is_recorded_also_where_the_terminal_is_gone(self, folder, exits, monkeypatch):
        class Gone:
            def write(self, text):
                raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(reopening.sys, "stderr", Gone())
        reopening._end_process(folder)("nothing has moved")
        assert exits == [1] and read_status(folder).status == "failed" and folder.failure.exists()

    def test_it_ends_also_where_that_cannot_be_recorded(self, folder, exits, monkeypatch):
        def refuse(*ignored, **facts):
            raise OSError("no room")

        monkeypatch.setattr(reopening, "write_status", refuse)
        with pytest.raises(OSError, match="no room"):
            reopening._end_process(folder)("nothing has moved")
        assert exits == [1]


def test_workers_and_actors_are_given_the_time_that_replacing_one_takes():
    patience = reopening._patience_seconds
    assert patience(RunConfig()) == patience(replace(CONFIG, world=FishConfig())) == 0.0
    workers = ForeignConfig(workers=4, stagger_seconds=50.0, construct_seconds=100.0, reset_seconds=7.0)
    assert patience(replace(CONFIG, world=workers)) > 3 * 50.0 + 2 * 100.0 + 7.0
    stepping = ForeignConfig(workers=1, step_seconds=900.0, reset_seconds=80.0)
    assert patience(replace(CONFIG, world=stepping)) > 980.0
    actors = CollectionConfig(actors=2, rollout_seconds=5000.0)
    assert patience(replace(CONFIG, world=workers, collection=actors)) > 5000.0


@pytest.mark.parametrize(("checkpoint", "begins_at"), [(None, (0, 0)), ((5, 50), (5, 50))])
def test_those_who_watch_know_where_the_run_goes_on_before_it_is_put_together(
    folder, monkeypatch, checkpoint, begins_at
):
    known = []

    def build(folder, config, facts, watched):
        known.append((facts.first_update, watched.begins_at))
        raise RuntimeError("that is all")

    monkeypatch.setattr(reopening, "build_observers", build)
    manifest = None if checkpoint is None else SimpleNamespace(updates=checkpoint[0], decisions=checkpoint[1])
    taken_up = None if manifest is None else Found(Path("checkpoints/u00000005"), manifest, ())
    with pytest.raises(RuntimeError, match="that is all"):
        reopening.assembled(CONFIG, folder, taken_up)
    assert known == [(begins_at[0], begins_at)]
