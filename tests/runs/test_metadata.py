import json
import subprocess

import pytest

from respawn.errors import RunFolderError
from respawn.runs.json_files import write_json_atomically
from respawn.runs.layout import create
from respawn.runs.metadata import (
    describe_machine,
    git_commit,
    new_meta,
    read_meta,
    read_status,
    write_meta,
    write_status,
)

WORLD = "CartPole-v1"


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "one", {}, {})


def test_meta_comes_back_as_it_was(folder):
    meta = new_meta("one", "cartpole-ppo", WORLD, 7, exact_resume=False, exact_resume_note="the world forgets")
    write_meta(folder, meta)
    assert read_meta(folder) == meta
    assert meta.world == WORLD
    assert meta.created.endswith("+00:00")


def test_meta_never_tells_environment_variables(folder, monkeypatch):
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2-hunter2")
    write_meta(folder, new_meta("one", "p", WORLD, 1))
    assert "hunter2" not in folder.meta.read_text()
    assert "MY_SECRET_TOKEN" not in folder.meta.read_text()


def test_meta_that_lacks_a_field_is_refused_by_name(folder):
    write_meta(folder, new_meta("one", "p", WORLD, 1))
    data = json.loads(folder.meta.read_text())
    del data["seed"]
    write_json_atomically(folder.meta, {**data, "from_the_future": 1})
    with pytest.raises(RunFolderError, match=r"meta\.json lacks seed"):
        read_meta(folder)


@pytest.mark.parametrize(("name", "value"), [("preset", 5), ("created", None), ("command", "respawn train")])
def test_meta_that_says_something_odd_is_refused_by_name(folder, name, value):
    write_meta(folder, new_meta("one", "test", WORLD, 1))
    write_json_atomically(folder.meta, {**json.loads(folder.meta.read_text()), name: value})
    with pytest.raises(RunFolderError, match=f"meta.json does not say {name} as it should; restore it from a copy"):
        read_meta(folder)


def test_meta_of_before_weights_were_taken_from_others_is_whole(folder):
    meta = new_meta("one", "p", WORLD, 1)
    write_meta(folder, meta)
    data = json.loads(folder.meta.read_text())
    assert data.pop("weights_from") is None
    write_json_atomically(folder.meta, data)
    assert read_meta(folder) == meta


def test_machine_names_what_numbers_depend_on():
    machine = describe_machine()
    assert machine["cores"] >= 1 and machine["memory_gib"] > 0 and machine["cpu"]
    assert all(isinstance(machine[name], str) for name in ("torch", "numpy", "gymnasium", "respawn", "python", "os"))
    assert isinstance(machine["gpus"], list)


def test_git_commit_is_told_where_there_is_one(tmp_path):
    assert git_commit(tmp_path) is None
    assert git_commit(tmp_path / "missing") is None
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    commit = git_commit(tmp_path)
    assert commit is not None and len(commit) == 40


def test_running_without_a_lock_is_killed(folder):
    write_status(folder, "running", updates=3)
    assert read_status(folder).status == "killed"
    assert read_status(folder).facts["updates"] == 3
    with folder.lock():
        assert read_status(folder).status == "running"


def test_a_run_that_ends_between_two_looks_has_all_that_its_end_says(folder, monkeypatch):
    write_status(folder, "running", updates=3)

    def ends(self):
        write_status(folder, "failed", updates=4, cause="because")
        return False

    monkeypatch.setattr(type(folder), "is_locked", ends)
    told = read_status(folder)
    assert told.status == "failed" and (told.facts["updates"], told.facts["cause"]) == (4, "because")


@pytest.mark.parametrize("status", ["finished", "stopped", "failed"])
def test_other_statuses_need_no_lock(folder, status):
    write_status(folder, status, reason="because")
    told = read_status(folder)
    assert told.status == status
    assert told.facts["reason"] == "because" and isinstance(told.facts["pid"], int)
    assert told.time.endswith("+00:00")


def test_a_run_without_a_status_is_running_or_killed(folder):
    assert read_status(folder).status == "killed"
    with folder.lock():
        assert read_status(folder).status == "running"


def test_a_status_has_its_own_facts(folder):
    with pytest.raises(RunFolderError, match="its own pid"):
        write_status(folder, "running", pid=3)


@pytest.mark.parametrize(("content", "said"), [('{"status": "sleeping"}', "says 'sleeping'"), ("{", "should hold")])
def test_where_status_json_cannot_be_read_the_lock_says_how_the_run_is(folder, content, said):
    folder.status.write_text(content)
    assert read_status(folder).status == "broken" and said in read_status(folder).problem
    with folder.lock():
        assert read_status(folder).status == "running" and said in read_status(folder).problem
    write_status(folder, "finished")
    assert read_status(folder).problem == ""
