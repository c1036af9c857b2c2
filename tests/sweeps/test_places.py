"""Where everything in a study's folder is."""

import shutil
from contextlib import suppress
from threading import Event, Thread

import pytest
from small_studies import folder_in

from respawn.errors import RunFolderError
from respawn.sweeps.places import made_folder, make_folder, run_name, study_folder


def test_a_folder_keeps_its_identity_and_no_two_have_the_same(tmp_path):
    one, other = folder_in(tmp_path), folder_in(tmp_path, "other")
    assert one.identity() == one.identity() != other.identity()


def test_a_trial_is_held_by_one_at_a_time(tmp_path):
    folder = folder_in(tmp_path)
    held = folder.hold(3)
    assert held is not None and folder.hold(3) is None
    other = folder.hold(4)
    assert other is not None
    held.release()
    again = folder.hold(3)
    assert again is not None
    for lock in (again, other):
        lock.release()


@pytest.mark.parametrize("name", ["", "a/b", "..", "a" * 123])
def test_a_name_that_no_folder_or_no_run_could_bear_is_refused(tmp_path, name):
    with pytest.raises(RunFolderError, match="a run's name is made of"):
        study_folder(tmp_path, name)


def test_names_of_runs_tell_study_and_trial():
    assert run_name("mario", 7) == "mario-t0007"


def test_a_place_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be made"):
        make_folder(study_folder(tmp_path / "file", "small"))


def test_what_is_refused_leaves_no_new_folder_and_takes_no_old_one(tmp_path):
    new, old = study_folder(tmp_path / "sweeps", "new"), folder_in(tmp_path, "old")
    with made_folder(new):
        assert new.path.is_dir()
    shutil.rmtree(new.path)
    for folder in (new, old):
        with pytest.raises(RunFolderError), made_folder(folder):
            raise RunFolderError("no")
    assert old.path.is_dir() and not new.path.exists()
    shutil.rmtree(tmp_path / "sweeps")
    with pytest.raises(RunFolderError), made_folder(new):
        raise RunFolderError("no")
    assert not (tmp_path / "sweeps").exists()


def test_a_folder_that_another_was_let_into_is_not_taken_along(tmp_path, monkeypatch):
    """Two first starts: one makes it, the other is sooner to hold it and goes on, and then the first is refused."""
    folder = study_folder(tmp_path, "small")
    real = type(folder).choosing

    def choosing(self):
        monkeypatch.setattr(type(folder), "choosing", real)
        with made_folder(folder):
            (folder.path / "study.db").touch()
        return real(self)

    monkeypatch.setattr(type(folder), "choosing", choosing)
    with pytest.raises(RunFolderError), made_folder(folder):
        raise RunFolderError("no")
    assert (folder.path / "study.db").exists()


def test_one_who_did_not_make_the_folder_does_not_take_it_along(tmp_path, monkeypatch):
    folder = study_folder(tmp_path, "small")
    exists = type(folder.path).exists
    # Both look before either makes it.
    monkeypatch.setattr(type(folder.path), "exists", lambda self: self != folder.path and exists(self))
    make_folder(folder)
    (folder.path / "study.db").touch()
    with pytest.raises(RunFolderError), made_folder(folder):
        raise RunFolderError("no")
    assert (folder.path / "study.db").is_file()


@pytest.mark.timeout(60)
def test_one_who_waits_for_a_folder_that_is_taken_along_makes_it_anew(tmp_path):
    folder = study_folder(tmp_path / "sweeps", "small")
    is_held, waited = Event(), []

    def second():
        is_held.wait()
        with made_folder(folder):
            waited.append(folder.path.is_dir())

    other = Thread(target=second)
    other.start()
    with suppress(RunFolderError), made_folder(folder):
        is_held.set()
        other.join(timeout=0.3)
        assert not waited
        raise RunFolderError("no")
    other.join()
    assert waited == [True] and folder.is_in_use
