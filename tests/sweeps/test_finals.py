"""The best once more, on seeds that nothing was chosen by."""

import shutil
from dataclasses import asdict, replace

import pytest
from optuna.trial import TrialState, create_trial
from small_studies import bench_in, definition_of, folder_in, study_of, tiny

from respawn.errors import RespawnError
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations
from respawn.sweeps import finals
from respawn.sweeps.claims import Order, claim_next
from respawn.sweeps.finals import FINALS, FRESH_SEED_BASE, Final, finals_of, judge_again, kept_finals
from respawn.sweeps.rows import best_first, trial_rows
from respawn.sweeps.trial_run import run_trial
from respawn.training.launch import take_up

EVALUATION = replace(tiny().evaluation, limit_steps=500, episodes=4, num_lanes=4)
DEFINITION = definition_of(base=tiny(evaluation=EVALUATION))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two trials that went on to their end, and where their runs are."""
    tmp_path = tmp_path_factory.mktemp("finals")
    study, folder = study_of(DEFINITION), folder_in(tmp_path)
    bench = bench_in(tmp_path, DEFINITION, study)
    for _ in range(2):
        run_trial(claim_next(study, DEFINITION, folder, Order(2, "tpe", "small")), bench)
    return study, tmp_path / "runs"


@pytest.fixture
def study(trained):
    """The same study, which a test may write to."""
    copy = study_of(DEFINITION)
    copy.add_trials(trained[0].trials)
    return copy


@pytest.fixture
def runs(trained):
    return trained[1]


@pytest.fixture
def rows(study):
    return best_first(trial_rows(study, DEFINITION), DEFINITION)


def test_on_the_seeds_of_the_run_it_comes_to_what_the_run_came_to(rows, runs, monkeypatch):
    """So it is the trial's own policy, in its own world, judged as it was judged."""
    watched = EVALUATION.seed_base
    monkeypatch.setattr(finals, "FRESH_SEED_BASE", watched)
    monkeypatch.setattr(finals, "check_fresh_seeds", lambda *words: None)
    for row in rows:
        final = judge_again(row, DEFINITION, runs, EVALUATION.episodes)
        *_, last = read_evaluations(RunFolder(runs / row.run))
        assert final.value == last.metrics["evaluation/return_mean"]
        assert (final.checkpoint, final.weights_sha256) == ("u00000006", row.weights_sha256)


def test_fresh_seeds_are_others_than_those_that_were_chosen_by(rows, runs):
    first, again = (judge_again(rows[0], DEFINITION, runs, 10) for _ in range(2))
    assert first == again and (first.seed_base, first.episodes) == (FRESH_SEED_BASE, 10)
    *_, last = read_evaluations(RunFolder(runs / rows[0].run))
    assert first.value != last.metrics["evaluation/return_mean"]


def test_seeds_that_were_chosen_by_are_refused(rows, runs, monkeypatch):
    monkeypatch.setattr(finals, "FRESH_SEED_BASE", EVALUATION.seed_base + EVALUATION.episodes - 1)
    with pytest.raises(RespawnError, match="fresh seeds are wanted"):
        judge_again(rows[0], DEFINITION, runs, 4)


def test_the_best_are_judged_once_and_kept_one_by_one(study, rows, runs, monkeypatch):
    told, judged = [], []
    real = finals.judge_again

    def judge(row, *words):
        if judged:
            raise KeyboardInterrupt
        judged.append(row.trial)
        return real(row, *words)

    monkeypatch.setattr(finals, "judge_again", judge)
    with pytest.raises(KeyboardInterrupt):
        finals_of(study, DEFINITION, rows, runs, 5, told.append)
    assert [final.number for final in kept_finals(study, rows)] == judged == [rows[0].trial]
    monkeypatch.setattr(finals, "judge_again", real)
    told.clear()
    both = finals_of(study, DEFINITION, rows, runs, 5, told.append)
    assert [final.number for final in both] == [row.trial for row in rows]
    assert told == [f"Judging trial {rows[1].trial} again, on 5 fresh seeds."]
    assert kept_finals(study, rows) == both
    told.clear()
    assert finals_of(study, DEFINITION, rows, runs, 5, told.append) == both and told == []
    more = finals_of(study, DEFINITION, rows[:1], runs, 6, told.append)
    assert more[0].episodes == 6 and len(told) == 1


def final_of(number, value=2.5, **changes):
    return replace(Final(number, f"small-t{number:04d}", "u00000006", "abc", value, 5, FRESH_SEED_BASE), **changes)


def test_what_is_known_of_others_is_kept(study, rows, runs, monkeypatch):
    """Of a trial that was among the best before, and of one that another machine judges meanwhile."""
    best, other = rows[0].trial, rows[1].trial
    study.set_user_attr(FINALS, [asdict(final_of(other)), asdict(final_of(best, 1.0, episodes=4))])

    def judge(row, *words):
        study.set_user_attr(FINALS, [*study.user_attrs[FINALS], asdict(final_of(7))])
        return final_of(row.trial, 3.0)

    monkeypatch.setattr(finals, "judge_again", judge)
    assert finals_of(study, DEFINITION, rows[:1], runs, 5, lambda line: None) == [final_of(best, 3.0)]
    kept = [Final(**plain) for plain in study.user_attrs[FINALS]]
    assert kept == [final_of(other), final_of(best, 3.0), final_of(7)]


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA out of memory. Tried to allocate 2 GiB. GPU 0 has a total of 8"), MemoryError()]
)
def test_one_that_memory_does_not_suffice_for_does_not_end_the_others(study, rows, runs, monkeypatch, error):
    def judge(row, *words):
        if row is rows[0]:
            raise error
        return final_of(row.trial)

    monkeypatch.setattr(finals, "judge_again", judge)
    told = []
    assert finals_of(study, DEFINITION, rows, runs, 5, told.append) == [final_of(rows[1].trial)]
    short = "CUDA out of memory. Tried to allocate 2 GiB" if str(error) else "MemoryError"
    assert told[1] == f"Trial {rows[0].trial} cannot be judged again, for want of memory: {short}"


def test_an_error_of_another_kind_is_not_hidden(study, rows, runs, monkeypatch):
    monkeypatch.setattr(finals, "judge_again", lambda *words: (_ for _ in ()).throw(RuntimeError("the pole broke")))
    with pytest.raises(RuntimeError, match="the pole broke"):
        finals_of(study, DEFINITION, rows, runs, 5, lambda line: None)


def test_a_run_that_is_gone_or_went_on_is_not_judged(study, rows, runs, tmp_path):
    copy = tmp_path / "runs"
    shutil.copytree(runs, copy)
    shutil.rmtree(copy / rows[0].run)
    take_up(RunFolder(copy / rows[1].run), updates=7)
    for checkpoint in (copy / rows[1].run / "checkpoints").glob("u00000006"):
        shutil.rmtree(checkpoint)
    told = []
    assert finals_of(study, DEFINITION, rows, copy, 5, told.append) == []
    said = [line for line in told if "cannot" in line]
    assert said[0].startswith(f"Trial {rows[0].trial} cannot be judged again: there is no run '{rows[0].run}'")
    assert said[1].startswith(f"Trial {rows[1].trial} cannot be judged again: run {rows[1].run} has no checkpoint")
    assert FINALS not in study.user_attrs


def test_a_run_that_went_on_is_judged_by_what_the_trial_ended_with(rows, runs, tmp_path):
    copy = tmp_path / "runs"
    shutil.copytree(runs, copy)
    take_up(RunFolder(copy / rows[0].run), updates=7)
    assert judge_again(rows[0], DEFINITION, copy, 5) == judge_again(rows[0], DEFINITION, runs, 5)
    other = replace(rows[0], updates=7)
    with pytest.raises(RespawnError, match="has other weights than the trial ended with"):
        judge_again(other, DEFINITION, copy, 5)


def test_by_the_best_evaluation_the_best_checkpoint_is_judged(rows, runs):
    definition = replace(DEFINITION, score="best")
    for row in rows:
        reports = list(read_evaluations(RunFolder(runs / row.run)))
        best = max(reports, key=lambda report: report.metrics["evaluation/return_mean"])
        assert judge_again(row, definition, runs, 4).checkpoint == f"u{best.update:08d}"


def test_only_complete_trials_have_finals():
    study = study_of(DEFINITION)
    for state in (TrialState.COMPLETE, TrialState.FAIL):
        study.add_trial(create_trial(state=state, value=1.0 if state == TrialState.COMPLETE else None))
    one = Final(0, "small-t0000", "u00000006", "abc", 2.5, 100, FRESH_SEED_BASE)
    study.set_user_attr(FINALS, [asdict(one), asdict(replace(one, number=1))])
    assert kept_finals(study, trial_rows(study, DEFINITION)) == [one]
