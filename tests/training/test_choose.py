import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from respawn.checkpoints.store import saved
from respawn.collection.config import CollectionConfig
from respawn.errors import RunFolderError
from respawn.evaluation.config import EvaluationConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.training.choose import choose_run
from respawn.training.config import RunConfig
from respawn.training.launch import begin

CONFIG = RunConfig(
    updates=2,
    planned_updates=4,
    model=ModelConfig(hidden_sizes=(8,)),
    collection=CollectionConfig(num_lanes=2, horizon_steps=4),
    evaluation=EvaluationConfig(every_updates=0),
    observers=ObserversConfig(console=False, tensorboard=False),
)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    """A run that has made two updates of two."""
    folder, _ = begin(CONFIG, preset="first", runs_dir=tmp_path_factory.mktemp("runs"), name="pattern")
    return folder.path


def place(pattern: Path, runs_dir: Path, name: str, age: float, *, unfinished: bool = False) -> RunFolder:
    """A copy of the run that was last active `age` seconds ago; if unfinished, its last checkpoint is gone."""
    folder = RunFolder(runs_dir / name)
    shutil.copytree(pattern, folder.path)
    if unfinished:
        shutil.rmtree(saved(folder.checkpoints)[-1])
    for path in (folder.path, *folder.path.iterdir()):
        os.utime(path, (2e9 - age, 2e9 - age))
    return folder


def test_the_newest_that_can_go_on_is_taken_and_it_is_said_why(pattern, tmp_path):
    place(pattern, tmp_path, "oldest", 30, unfinished=True)
    place(pattern, tmp_path, "older", 20, unfinished=True)
    place(pattern, tmp_path, "done", 10)
    choice = choose_run(tmp_path)
    assert choice.folder.name == "older"
    assert choice.reason == (
        "resuming older: the newest run that can go on; passed over done (is finished at update 2 of 2)"
    )


def test_a_higher_limit_gives_a_finished_run_something_to_do(pattern, tmp_path):
    place(pattern, tmp_path, "done", 10)
    choice = choose_run(tmp_path, updates=3)
    assert (choice.folder.name, choice.reason) == ("done", "resuming done: the newest run that can go on")


def test_a_run_whose_time_is_up_is_finished_unless_more_is_given(tmp_path):
    begin(replace(CONFIG, updates=4, minutes=1e-6), preset="first", runs_dir=tmp_path, name="timed")
    with pytest.raises(RunFolderError, match=r"timed \(is finished after \S+ of 1e-06 minutes\)"):
        choose_run(tmp_path)
    with pytest.raises(RunFolderError, match=r"timed \(is finished after \S+ of 1e-06 minutes\)"):
        choose_run(tmp_path, updates=10)
    assert choose_run(tmp_path, minutes=10.0).folder.name == "timed"


def test_runs_that_cannot_go_on_are_passed_over(pattern, tmp_path):
    place(pattern, tmp_path, "good", 40, unfinished=True)
    damaged = place(pattern, tmp_path, "damaged", 30)
    for path in saved(damaged.checkpoints):
        (path / "manifest.json").write_text("{")
    broken = place(pattern, tmp_path, "broken", 20, unfinished=True)
    broken.config.write_text("{")
    misfit = place(pattern, tmp_path, "misfit", 15, unfinished=True)
    misfit.config.write_text('{"nonsense": 1}')
    used = place(pattern, tmp_path, "used", 10, unfinished=True)
    with used.lock():
        reason = choose_run(tmp_path).reason
    assert reason.startswith("resuming good: ")
    for words in (
        "used (is running)",
        "damaged (every checkpoint in ",
        "broken (",
        "misfit/config.json cannot be used",
    ):
        assert words in reason


def test_only_runs_of_a_preset_are_considered_if_one_is_named(pattern, tmp_path):
    place(pattern, tmp_path, "ours", 10, unfinished=True)
    assert choose_run(tmp_path, preset="first").folder.name == "ours"
    with pytest.raises(
        RunFolderError, match=r"nothing to resume in .*: ours \(is not of preset second\)\. Begin a run"
    ):
        choose_run(tmp_path, preset="second")


@pytest.mark.parametrize("name", [".", "nowhere"])
def test_where_there_are_no_runs_it_says_so(name, tmp_path):
    with pytest.raises(RunFolderError, match=r"nothing to resume in .*: it holds no runs\. Begin a run with"):
        choose_run(tmp_path / name)


def test_a_run_that_was_killed_before_its_first_checkpoint_can_go_on(pattern, tmp_path):
    folder = place(pattern, tmp_path, "young", 10)
    shutil.rmtree(folder.checkpoints)
    folder.checkpoints.mkdir()
    assert choose_run(tmp_path).folder.name == "young"
