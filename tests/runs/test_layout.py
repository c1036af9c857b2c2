import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder, create, default_name, find, list_runs


def make_run(runs_dir: Path, name: str, active: float = 1000.0) -> RunFolder:
    folder = create(runs_dir, name, {"id": "1", "name": name, "created": "2026-11-16"}, {})
    folder.updates.write_text("")
    for path in (folder.path, folder.checkpoints, folder.updates):
        os.utime(path, (active, active))
    return folder


def test_create_makes_a_new_folder_and_never_takes_one_over(tmp_path):
    folder = create(tmp_path / "runs", "a.b_c-1", {}, {})
    assert folder.checkpoints.is_dir() and folder.workers.is_dir()
    assert folder.name == "a.b_c-1"
    with pytest.raises(RunFolderError, match="resume it or pick another --name"):
        create(tmp_path / "runs", "a.b_c-1", {}, {})


def test_create_loses_a_race_in_the_same_words(tmp_path, monkeypatch):
    create(tmp_path, "a", {}, {})
    monkeypatch.setattr(Path, "exists", lambda path: False)  # it came between the look and the rename
    with pytest.raises(RunFolderError, match="resume it or pick another --name"):
        create(tmp_path, "a", {}, {})


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "../a", "a b", "ä", "a\n", "x" * 129])
def test_create_refuses_names_that_are_not_plain(tmp_path, name):
    with pytest.raises(RunFolderError, match="letters, digits"):
        create(tmp_path, name, {}, {})
    assert list(tmp_path.iterdir()) == []


def test_find_by_name_and_by_path(tmp_path, monkeypatch):
    made = make_run(tmp_path / "runs", "one")
    assert find(tmp_path / "runs", "one") == made
    assert find(tmp_path / "elsewhere", str(made.path)).meta == made.meta
    monkeypatch.chdir(made.path)
    assert find(tmp_path / "elsewhere", ".").name == "one"


def test_find_suggests_close_names_and_says_what_is_there(tmp_path, monkeypatch):
    for name in ("cartpole-ppo-1", "cartpole-ppo-2", "recall"):
        make_run(tmp_path, name)
    with pytest.raises(RunFolderError, match=r"no run 'cartpol-ppo-1'.*did you mean cartpole-ppo-1 or") as caught:
        find(tmp_path, "cartpol-ppo-1")
    assert "recall" in str(caught.value)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunFolderError, match="no runs yet") as caught:
        find(Path("empty"), "x")
    assert str(tmp_path / "empty") in str(caught.value) and "--runs DIR" in str(caught.value)
    with pytest.raises(RunFolderError, match="no run ''"):
        find(tmp_path, "")


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("meta.json", "{", r"meta\.json should hold JSON, but"),
        ("meta.json", "[]", r"meta\.json should hold a JSON object, but holds a list"),
        ("meta.json", "{}", r"meta\.json lacks id, name, created"),
        ("config.json", b"\xff", r"config\.json should hold JSON, but"),
        ("config.json", None, r"config\.json is missing"),
    ],
)
def test_find_says_which_file_is_broken_and_how(tmp_path, file, content, complaint):
    path = make_run(tmp_path, "one").path / file
    path.unlink()
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RunFolderError, match=complaint):
        find(tmp_path, "one")


def test_find_refuses_a_folder_that_is_no_run(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(RunFolderError, match=r"neither meta\.json nor config\.json"):
        find(tmp_path, "photos")


def test_list_runs_is_newest_first_and_reports_broken_ones(tmp_path):
    make_run(tmp_path, "old", 1000)
    late = make_run(tmp_path, "late", 1000)
    os.utime(late.updates, (3000, 3000))  # it began long ago and went on for longest
    make_run(tmp_path, "new", 2000).meta.write_text("{")
    os.utime(tmp_path / "new", (2000, 2000))
    (tmp_path / "a file").write_text("not a run")
    listed = list_runs(tmp_path)
    assert [run.folder.name for run in listed] == ["late", "new", "old"]
    assert [run.problem is None for run in listed] == [True, False, True]
    assert "meta.json" in listed[1].problem
    assert list_runs(tmp_path / "none") == []


def test_default_name_is_not_taken(tmp_path):
    names = set()
    for _ in range(3):
        name = default_name("cartpole-ppo", 1, tmp_path)
        assert name.startswith("cartpole-ppo-s1-20")
        create(tmp_path, name, {}, {})
        names.add(name)
    assert len(names) == 3


def test_only_one_holds_the_lock(tmp_path):
    folder = create(tmp_path, "one", {}, {})
    assert not folder.is_locked()
    with folder.lock():
        assert folder.is_locked()
        with pytest.raises(RunFolderError, match=f"run one is in use by process {os.getpid()} on "), folder.lock():
            pass
    assert not folder.is_locked()
    with folder.lock():
        pass


def test_asking_whether_a_run_is_locked_leaves_nothing_behind(tmp_path):
    folder = create(tmp_path, "one", {}, {})
    folder.is_locked()
    assert not folder.lock_file.exists()


def test_kill_lets_go_of_the_lock(tmp_path):
    folder = create(tmp_path, "one", {}, {})
    script = (
        "import sys, time; from pathlib import Path; from respawn.runs.layout import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).lock():\n    print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(folder.path)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"held\n"
        assert folder.is_locked()
        with pytest.raises(RunFolderError, match=f"process {process.pid} on "), folder.lock():
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 5
        while folder.is_locked() and time.monotonic() < deadline:
            time.sleep(0.01)
        with folder.lock():
            pass
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
