"""Where a study is kept, and what Optuna is asked for."""

import sqlite3
from contextlib import closing

import optuna
import pytest
from small_studies import definition_of, folder_in, study_of, tiny

from respawn.errors import ConfigError, RunFolderError, StudyError
from respawn.sweeps.storage import (
    load_study,
    open_study,
    pruner,
    sampler,
    storage_failures_told,
    storage_url,
)


@pytest.fixture
def journal(tmp_path):
    """As good as a database in everything that matters here, and made sooner."""
    return f"journal:{tmp_path / 'journal.log'}"


def test_without_a_url_the_study_is_in_its_folder(tmp_path):
    folder = folder_in(tmp_path)
    url = storage_url(folder, None)
    assert url == f"sqlite:///{tmp_path}/sweeps/small/study.db"
    assert storage_url(folder, "journal:x") == "journal:x"
    open_study(url, "small", definition_of())
    assert folder.database.is_file()
    study, definition = load_study(url, "small")
    assert definition == definition_of() and study.direction == optuna.study.StudyDirection.MAXIMIZE


def test_a_study_is_found_again_with_its_trials(journal):
    first = open_study(journal, "small", definition_of(direction="minimise"))
    first.tell(first.ask(), 3.0)
    again = open_study(journal, "small", definition_of(direction="minimise"))
    assert again.best_value == 3.0 and again.direction == optuna.study.StudyDirection.MINIMIZE


def test_a_study_of_something_else_is_refused(journal):
    open_study(journal, "small", definition_of())
    with pytest.raises(ConfigError, match="there is a study 'small' of something else"):
        open_study(journal, "small", definition_of(base=tiny(seed=1)))
    with pytest.raises(ConfigError, match="there is a study 'small' of something else"):
        open_study(journal, "small", definition_of(direction="minimise"))
    open_study(journal, "other", definition_of(base=tiny(seed=1)))


def test_a_study_that_is_not_ours_is_left_alone(journal):
    storage = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(journal.removeprefix("journal:"))
    )
    study = optuna.create_study(storage=storage, study_name="theirs", direction="maximize")
    study.tell(study.ask(), 1.0)
    with pytest.raises(ConfigError, match="there is a study 'theirs' that respawn did not make"):
        open_study(journal, "theirs", definition_of())
    with pytest.raises(RunFolderError, match="the study 'theirs' was not made by respawn"):
        load_study(journal, "theirs")


def test_a_study_that_is_not_there_is_told(journal):
    open_study(journal, "small", definition_of())
    with pytest.raises(RunFolderError, match="there is no study 'none' there"):
        load_study(journal, "none")


@pytest.mark.parametrize("kind", ["journal:", "sqlite:///"])
def test_to_look_for_a_study_makes_no_storage(tmp_path, kind):
    with pytest.raises(RunFolderError, match="there is no study 'small' there"):
        load_study(f"{kind}{tmp_path}/typo", "small")
    assert not list(tmp_path.iterdir())


def test_to_look_for_a_study_changes_no_database_of_something_else(tmp_path):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("create table mine (number integer)")
    before = path.read_bytes()
    with pytest.raises(RunFolderError, match="there is no study 'small' there"):
        load_study(f"sqlite:///{path}", "small")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("nonsense", "--storage wants a URL such as .*, and one of 'nonsense' came"),
        ("nosuch://host/name", "and one of 'nosuch' came"),
        ("postgresql://me:secret@localhost/name", "--storage of 'postgresql' "),
        (
            "sqlite:////nowhere/at/all/study.db",
            r"storage, /nowhere/at/all/study.db, cannot be opened \(unable to open database",
        ),
        ("journal:", "--storage journal: wants a file behind it"),
        ("journal:/nowhere/at/all/file", r"storage, /nowhere/at/all/file, cannot be opened \(.*No such file"),
    ],
)
def test_a_storage_that_cannot_be_opened_is_told_without_its_password(url, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        open_study(url, "small", definition_of())
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_told(tmp_path):
    (tmp_path / "study.db").write_text("no database " * 100)
    with pytest.raises(ConfigError, match=r"storage, .*, cannot be opened \(file is not a database.*whole without it"):
        open_study(f"sqlite:///{tmp_path / 'study.db'}", "small", definition_of())


def test_a_storage_that_fails_later_is_told_in_one_sentence(tmp_path):
    path = tmp_path / "study.db"
    study = open_study(f"sqlite:///{path}", "small", definition_of())
    trial = study.ask()
    path.write_text("overwritten " * 2000)
    sentence = r"the study's storage failed \(.*\); .* the same command goes on"
    with pytest.raises(StudyError, match=sentence) as caught, storage_failures_told():
        trial.set_user_attr("run", "x")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["what? yes", "a#b", "100%20", "{SCHEMA_VERSION}", "é & ü"])
def test_a_folder_may_be_called_anything(tmp_path, name):
    folder = folder_in(tmp_path / name)
    open_study(storage_url(folder, None), "small", definition_of())
    assert [path.name for path in folder.path.iterdir()] == ["study.db"]
    assert load_study(storage_url(folder, None), "small")[1] == definition_of()


def refuse(has_trials):
    raise RunFolderError(f"no, with {has_trials}")


def test_what_is_refused_was_never_made(journal):
    with pytest.raises(RunFolderError, match="no, with False"):
        open_study(journal, "small", definition_of(), refuse)
    with pytest.raises(RunFolderError, match="there is no study 'small' there"):
        load_study(journal, "small")


def test_a_refused_call_leaves_the_study_of_another_as_it_is(journal):
    """Also one whose workers are still starting, so that it has no trials yet."""
    study = open_study(journal, "small", definition_of())
    for has_trials in (False, True):
        with pytest.raises(RunFolderError, match=f"no, with {has_trials}"):
            open_study(journal, "small", definition_of(), refuse)
        again, definition = load_study(journal, "small")
        assert definition == definition_of() and len(again.trials) == int(has_trials)
        study.ask()


def test_one_that_another_machine_makes_meanwhile_is_not_taken_for_ours(journal):
    def meanwhile(has_trials):
        open_study(journal, "small", definition_of(base=tiny(seed=1)))

    with pytest.raises(ConfigError, match="there is a study 'small' of something else"):
        open_study(journal, "small", definition_of(), meanwhile)
    assert load_study(journal, "small")[1].base.seed == 1


def test_samplers_draw_by_seed_and_number():
    space = {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}

    def drawn(name, seed, number):
        study = study_of(definition_of())
        study.sampler = sampler(name, seed, number)
        return study.ask(space).params["x"]

    for name in ("tpe", "random"):
        assert drawn(name, 0, 0) == drawn(name, 0, 0)
        assert len({drawn(name, 0, 0), drawn(name, 1, 0), drawn(name, 0, 1)}) == 3


def reported(study, values, final=None):
    trial = study.ask()
    for number, value in enumerate(values, start=1):
        trial.report(value, number * 16)
    if final is not None:
        study.tell(trial, final)
    return trial


def test_the_median_pruner_cuts_what_is_worse_than_half_of_the_others():
    study = study_of(definition_of())
    study.pruner = pruner("median", definition_of())
    for value in (1.0, 2.0, 3.0, 4.0):
        assert not reported(study, [value]).should_prune()  # the first are never cut
        study.tell(study.trials[-1].number, value)
    assert reported(study, [2.4]).should_prune()
    assert not reported(study, [2.6]).should_prune()
    study.pruner = pruner("none", definition_of())
    assert not reported(study, [-100.0]).should_prune()


def test_no_trial_is_cut_in_its_first_quarter():
    definition = definition_of(base=tiny(planned_updates=20))
    study = study_of(definition)
    study.pruner = pruner("median", definition)
    for value in (1.0, 2.0, 3.0, 4.0):
        reported(study, [value] * 10, value)
    assert [reported(study, [0.0] * evaluations).should_prune() for evaluations in (1, 2, 3)] == [False, False, True]


def test_hyperband_counts_in_decisions():
    definition = definition_of(base=tiny(planned_updates=20))
    study = study_of(definition)
    study.pruner = pruner("hyperband", definition)
    pruned = []
    for value in range(12, 0, -1):
        trial = reported(study, [float(value)] * 2)
        pruned.append(trial.should_prune())
        study.tell(trial, float(value))
    assert True in pruned and False in pruned
