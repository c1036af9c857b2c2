"""respawn sweep: many runs, to find the best settings."""

import csv
import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
from small_sweeps import SMALL, SPACE, HereSupervisor, small_sweep, work_here

from respawn.cli import sweep_run
from respawn.learners.ppo.learner import PPOLearner
from respawn.presets import find_preset
from respawn.sweeps import finals
from respawn.sweeps.default_space import default_space
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.publish import publish
from respawn.sweeps.space import read_space
from respawn.sweeps.storage import load_study


@pytest.fixture
def sweep(respawn, tmp_path, monkeypatch):
    work_here(tmp_path, monkeypatch)
    return lambda *words: respawn(*small_sweep(*words))


@pytest.fixture
def storage():
    return ["--storage", "journal:small.log"]  # made sooner than a database


def test_a_sweep_trains_its_trials_and_says_which_is_best(sweep, respawn, monkeypatch):
    monkeypatch.setattr(sweep_run, "publish", publish)
    answer = sweep("--trials", "2")
    assert (answer.exit_code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[:2] == [
        "Study small: maximise evaluation/return_mean, the mean of the last 3 evaluations",
        "over 2 settings, with 32 decisions a trial.",
    ]
    assert lines[2].startswith("Trial   0 (1 of 2) begins: clip 0.") and ", hidden sizes " in lines[2]
    assert any(line.startswith("Trial   1 (2 of 2) complete: ") for line in lines)
    assert "Study small: 2 trials, 2 complete" in lines
    with Path("sweeps/small/trials.csv").open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: -float(row["value"]))
    shown = [line.split() for line in lines if line.split()[1:2] and line.split()[0] in ("0", "1")]
    assert [cells[0] for cells in shown] == [row["trial"] for row in rows]
    assert f"Trial {rows[0]['trial']} was chosen for its {float(rows[0]['value']):.4g}; on 3 seeds" in answer.out
    names = ["best.toml", "curves.png", "history.png", "slices.png", "summary.json", "trials.csv"]
    assert [
        path.name
        for path in sorted(Path("sweeps/small").iterdir())
        if path.suffix in (".png", ".toml", ".csv", ".json")
    ] == names
    listed = json.loads(respawn("runs", "list", "--json").out)
    assert {run["name"] for run in listed} == {"small-t0000", "small-t0001"}


def test_the_best_can_be_trained_as_it_is_told(sweep, respawn):
    answer = sweep("--trials", "1", "--finalists", "0")
    told = dict(line.split(": ", 1) for line in answer.out.splitlines() if line.startswith(("Train its", "The same")))
    assert len(told) == 2
    for number, command in enumerate(told.values()):
        words = [
            *shlex.split(command)[1:],
            "--name",
            f"again-{number}",
            "--observers.no-tensorboard",
            "--device",
            "cpu",
        ]
        assert respawn(*words).exit_code == 0
    trial = json.loads(Path("sweeps/small/summary.json").read_text())["trials"][0]
    shas = {_newest_weights(f"again-{number}") for number in range(2)}
    assert shas == {trial["weights_sha256"]}  # trial 0 has the seed that train has


def _newest_weights(run):
    manifest = max(Path("runs", run, "checkpoints").glob("u*/manifest.json"))
    return json.loads(manifest.read_text())["weights_sha256"]


def test_updates_after_the_last_evaluation_are_left_out_and_that_is_said(sweep):
    answer = sweep("--trials", "1", "--finalists", "0", "--updates", "5")
    assert answer.exit_code == 0
    assert answer.out.splitlines()[2:4] == [
        "Trials end after 4 of 5 updates, with their last evaluation: one is made every 2,",
        "and what came later would not count. With --updates 6 there is one more.",
    ]
    assert json.loads(Path("runs/small-t0000/config.json").read_text())["planned_updates"] == 4
    assert "would not count" not in sweep("--trials", "1", "--name", "other", "--finalists", "0").out


def test_typed_again_with_more_trials_it_goes_on(sweep, storage):
    sweep("--trials", "1")
    before = _newest_weights("small-t0000")
    answer = sweep("--trials", "2")
    assert answer.exit_code == 0
    assert "1 of 2 trials are done, 0 begun; going on." in answer.out and "Trial   1 (2 of 2) begins" in answer.out
    assert _newest_weights("small-t0000") == before
    again = sweep("--trials", "2")
    assert again.exit_code == 0 and "begins" not in again.out and "Judging" not in again.out
    assert "fresh seeds" in again.out  # what was judged before is still told


def test_a_stopped_sweep_goes_on_where_it_was(sweep, respawn, storage, monkeypatch):
    real = PPOLearner.learn

    def learn(self, rollout, knobs):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(self, rollout, knobs)

    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "learn", learn)
        answer = sweep("--trials", "1")
    assert answer.exit_code == 143
    assert "Trial   0 (1 of 1) is stopped and saved: run small-t0000" in answer.out
    assert answer.out.splitlines()[-1] == "Stopped, and saved: the same command goes on where it was."
    shown = respawn("sweep", "show", "small", *storage)
    assert "Study small: 1 trial, 1 begun" in shown.out
    assert "Trial 0 is running, or was left: run small-t0000 on " in shown.out
    answer = sweep("--trials", "1")
    assert answer.exit_code == 0 and "0 of 1 trials are done, 1 begun; going on." in answer.out
    assert "Trial   0 (1 of 1) goes on where it was left: clip " in answer.out


def test_json_is_all_that_is_on_stdout(sweep, respawn, storage):
    answer = sweep("--trials", "1", "--json")
    summary = json.loads(answer.out)
    assert "Trial   0 (1 of 1) complete: " in answer.err
    assert (summary["study"], summary["best"], summary["counts"]["complete"]) == ("small", 0, 1)
    assert summary["fresh_seeds"][0]["episodes"] == 3 and summary["fresh_seeds"][0]["seed_base"] == 5_000_000
    assert summary == json.loads(Path("sweeps/small/summary.json").read_text())
    shown = json.loads(respawn("sweep", "show", "small", "--json", *storage).out)
    assert shown == summary


def test_show_tells_a_study_and_draws_it_only_when_asked(sweep, respawn, storage):
    sweep("--trials", "1", "--finalists", "0")
    shown = respawn("sweep", "show", "small", *storage)
    assert shown.exit_code == 0 and "Study small: 1 trial, 1 complete" in shown.out
    assert not list(Path("sweeps/small").glob("*.png"))
    assert respawn("sweep", "show", "small", "--redraw", *storage).exit_code == 0
    assert Path("sweeps/small/history.png").is_file()


def test_where_all_trials_fail_so_does_the_sweep(sweep, respawn, storage, monkeypatch):
    def learn(self, rollout, knobs):
        raise ValueError("the pole broke")

    monkeypatch.setattr(PPOLearner, "learn", learn)
    answer = sweep("--trials", "2")
    assert answer.exit_code == 1
    assert answer.sentence == "all 2 trials of study small failed, the last with: ValueError: the pole broke"
    shown = respawn("sweep", "show", "small", *storage)
    assert shown.exit_code == 0 and "Trial 1 failed: ValueError: the pole broke" in shown.out


def test_a_study_of_something_else_is_refused(sweep):
    sweep("--trials", "1", "--finalists", "0")
    answer = sweep("--trials", "1", "--learner.epochs", "2")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("there is a study 'small' of something else (learner.epochs 1 there and 2 now)")
    Path("space.toml").write_text(SPACE.replace("0.4", "0.3"))
    assert "(space.learner.clip " in sweep("--trials", "1").sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--trials", "0"], "--trials must be at least 1, not 0"),
        (["--workers", "0"], "--workers must be at least 1, not 0"),
        (["--objective", "nope"], "--objective must be one of evaluation/return_mean"),
        (["--evaluation.every-updates", "0"], "trials are compared by their evaluations"),
        (["--space", "none.toml"], "--space wants a TOML file, and none.toml cannot be read"),
        (["--storage", "journal:/nowhere/at/all"], "storage, /nowhere/at/all, cannot be opened"),
        (["--name", "a/b"], "a run's name is made of"),
        (["--sweeps", "space.toml"], "the study's folder space.toml/small cannot be made"),
        (["--trails", "3"], "there is no option --trails for 'respawn sweep cartpole-ppo'; did you mean --trials?"),
        (["--world.env-id", "Nope-v0"], "'Nope-v0'"),
    ],
)
def test_a_mistake_leaves_nothing_behind(sweep, words, sentence):
    answer = sweep(*words)
    assert answer.exit_code == 2 and sentence in answer.sentence
    assert [path.name for path in Path().iterdir()] == ["space.toml"]


def test_runs_of_that_name_are_not_taken_over(sweep):
    Path("runs/small-t0000").mkdir(parents=True)
    answer = sweep("--trials", "1")
    assert answer.exit_code == 2 and "holds runs of another study called 'small'" in answer.sentence
    assert not Path("sweeps").exists() and list(Path("runs").iterdir()) == [Path("runs/small-t0000")]
    Path("runs/small-t0000").rmdir()
    assert sweep("--trials", "1", "--learner.epochs", "2", "--finalists", "0").exit_code == 0


def test_a_refused_sweep_leaves_one_that_is_just_beginning_as_it_is(sweep, respawn, storage, monkeypatch):
    """Its study has no trials yet, as its workers are still starting; the second is refused for its --runs."""
    with monkeypatch.context() as patch:
        patch.setattr(HereSupervisor, "work", lambda self, workers: 130)
        assert sweep("--trials", "1").exit_code == 130
    Path("others/small-t0000").mkdir(parents=True)
    assert sweep("--trials", "1", "--runs", "others").exit_code == 2
    assert "Study small: 0 trials, none begun" in respawn("sweep", "show", "small", *storage).out
    assert sweep("--trials", "1", "--finalists", "0").exit_code == 0


def test_two_studies_of_one_name_do_not_share_a_folder(sweep):
    sweep("--trials", "1", "--finalists", "0")
    held = StudyFolder(Path("sweeps/small")).hold(0)
    answer = sweep("--trials", "1", "--storage", "journal:other.log", "--runs", "others")
    held.release()
    assert answer.exit_code == 2
    assert answer.sentence.startswith("sweeps/small is in use by another study of that name, in another --storage")
    assert not Path("others").exists()


def test_what_was_enqueued_is_tried(sweep):
    sweep("--trials", "1", "--finalists", "0")
    study, _ = load_study("journal:small.log", "small")
    for clip in (0.25, 0.35):
        study.enqueue_trial({"learner.clip": clip})
    answer = sweep("--trials", "2", "--finalists", "0")
    assert "1 of 2 trials are done, 0 begun, 2 waiting; going on." in answer.out
    assert "Those that wait beyond --trials 2 are tried with --trials 3." in answer.out
    assert "Trial   1 (2 of 2) begins: clip 0.25, hidden sizes" in answer.out
    assert "Study small: 3 trials, 2 complete, 1 waiting" in answer.out


def test_what_was_enqueued_out_of_range_fails_alone(sweep):
    sweep("--trials", "1", "--finalists", "0")
    study, _ = load_study("journal:small.log", "small")
    study.enqueue_trial({"learner.clip": 0.5})
    answer = sweep("--trials", "3", "--finalists", "0")
    assert answer.exit_code == 0 and "Study small: 3 trials, 2 complete, 1 failed" in answer.out
    why = "what it was to try does not fit the space: learner.clip 0.5 is not in { low = 0.1, high = 0.4 }"
    assert f"Trial   1 (2 of 3) failed: {why}" in answer.out
    assert not Path("runs/small-t0001").exists()


@pytest.mark.parametrize(
    ("words", "planned"),
    [
        ([], 4),
        (["--planned-updates", "140"], 140),  # just what the preset has
        (["--planned_updates=140"], 140),
        (["--config", "plan.toml"], 140),
        (["--planned-updates", "200"], 200),
    ],
)
def test_a_plan_that_is_asked_for_is_kept(sweep, monkeypatch, words, planned):
    assert find_preset("cartpole-ppo").planned_updates == 140
    Path("plan.toml").write_text("planned_updates = 140\n")
    bases = []
    monkeypatch.setattr(sweep_run, "_worked", lambda definition, *others: (bases.append(definition.base), 0)[1])
    assert sweep(*words).exit_code == 0
    assert [(base.planned_updates, base.last_update) for base in bases] == [(planned, 4)]


@pytest.mark.parametrize(("error", "exit_code"), [(KeyboardInterrupt(), 130), (RuntimeError("the pole broke"), 1)])
def test_what_ends_the_finals_does_not_take_the_results_along(sweep, monkeypatch, error, exit_code):
    published = []
    monkeypatch.setattr(sweep_run, "publish", lambda *words: published.append(words[-1]))
    with monkeypatch.context() as patch:
        patch.setattr(finals, "judge_again", lambda *words: (_ for _ in ()).throw(error))
        assert sweep("--trials", "1").exit_code == exit_code
    assert published == [[]]
    assert {"trials.csv", "best.toml", "summary.json"} <= {path.name for path in Path("sweeps/small").iterdir()}
    assert sweep("--trials", "1").exit_code == 0
    assert [len(known) for known in published] == [0, 0, 1]  # and again with what was found on fresh seeds
    assert "on 3 fresh seeds" in Path("sweeps/small/best.toml").read_text()


def test_the_default_space_goes_with_the_settings_asked_for(respawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lanes = ["--collection.num-lanes", "2", "--storage", "journal:/nowhere/at/all"]
    answer = respawn("sweep", "cartpole-ppo", *lanes)  # nobody asked for a GRU, which wants more lanes
    assert "cannot be opened" in answer.sentence


def test_a_temporary_study_is_kept_nowhere(sweep, respawn):
    answer = sweep("--trials", "1", "--finalists", "0", "--storage", "temporary")
    assert answer.exit_code == 0 and Path("sweeps/small/summary.json").is_file()
    assert not Path("sweeps/small/study.db").exists()
    assert respawn("sweep", "show", "small").exit_code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn sweep' wants a PRESET, and none came; see 'respawn sweep --help'"),
        (["nope"], "there is no preset 'nope'; the presets are: mario"),
        (["show"], "'respawn sweep show' wants NAME, and nothing came; see 'respawn sweep show --help'"),
        (["show", "none"], "there is no study 'none' in "),
        (["space"], "'respawn sweep space' wants PRESET"),
        (["space", "nope"], "there is no preset 'nope'"),
        (["drop", "none"], "'respawn sweep drop' wants TRIAL"),
        (["drop", "none", "x"], "TRIAL wants a whole number, but 'x' came"),
        (["drop", "none", "0"], "there is no study 'none' in "),
        *[
            ([verb, "none", *more, "--storage", f"{kind}typo"], "there is no study 'none' there")
            for verb, *more in (("show",), ("drop", "0"))
            for kind in ("journal:", "sqlite:///")
        ],
    ],
)
def test_what_is_missing_is_said(respawn, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    answer = respawn("sweep", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
    assert not list(tmp_path.iterdir())


def test_without_optuna_it_says_how_to_install_it(respawn, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    answer = respawn("sweep", "show", "small")
    assert answer.exit_code == 2 and "pip install optuna" in answer.sentence


def test_a_config_file_names_the_preset(sweep, respawn, storage):
    Path("small.toml").write_text('preset = "cartpole-ppo"\nlearner.discount = 0.5\n')
    assert (
        respawn("sweep", "--config", "small.toml", *SMALL, "--trials", "1", "--finalists", "0", *storage).exit_code == 0
    )
    config = json.loads(Path("runs/cartpole-ppo-t0000/config.json").read_text())
    assert config["learner"]["discount"] == 0.5
    answer = respawn("sweep", "mario", "--config", "small.toml")
    assert answer.exit_code == 2 and "is for the preset cartpole-ppo, and mario was asked for" in answer.sentence


def test_the_space_that_is_told_is_the_one_that_is_searched(respawn, tmp_path):
    told = respawn("sweep", "space", "cartpole-ppo")
    assert told.exit_code == 0 and told.out.startswith('preset = "cartpole-ppo"\n')
    rate = "learner.optimizer.learning_rate = { low = 0.0002, high = 0.005, log = true }"
    assert rate in told.out.splitlines()
    (tmp_path / "space.toml").write_text(told.out)
    base = find_preset("cartpole-ppo")
    assert read_space(tmp_path / "space.toml", "cartpole-ppo", base) == default_space(base)


def test_help_fits_a_terminal(respawn):
    for words in (["--help"], ["show", "--help"], ["space", "--help"], ["drop", "--help"]):
        answer = respawn("sweep", *words)
        assert answer.exit_code == 0
        assert max(map(len, answer.out.splitlines())) <= 80
