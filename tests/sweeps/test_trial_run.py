"""One trial, which is an ordinary run."""

import os
import shutil
import signal
from dataclasses import replace

import optuna
import pytest
from optuna.trial import TrialState
from small_studies import bench_in, definition_of, folder_in, study_of, tiny

from respawn.checkpoints.store import find_newest
from respawn.errors import RunFolderError
from respawn.evaluation.evaluator import Evaluator
from respawn.learners.ppo.learner import PPOLearner
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta, read_status
from respawn.runs.reader import read_evaluations
from respawn.sweeps import trial_run
from respawn.sweeps.broken_cuda import CudaFailedError
from respawn.sweeps.claims import BROKE, CAUSE, MOST_TIMES_TAKEN_UP, PRUNED, TAKEN_UP, Order, claim_next, give_up
from respawn.sweeps.space import Choice
from respawn.sweeps.trial_config import trial_config
from respawn.sweeps.trial_run import DECISIONS, UPDATES, WEIGHTS, Ended, check_new_names, run_trial
from respawn.training.cadence import Cadence
from respawn.training.launch import begin

DEFINITION = definition_of()


class Workplace:
    """A study, and a process that works on it."""

    def __init__(self, tmp_path, definition=DEFINITION):
        self.definition = definition
        self.study = study_of(definition)
        self.folder = folder_in(tmp_path)
        self.bench = bench_in(tmp_path, definition, self.study)
        self.runs = tmp_path / "runs"
        self.kept = []

    def claim(self):
        claim = claim_next(self.study, self.definition, self.folder, Order(9, "tpe", "small"))
        self.kept.append(claim)
        return claim

    def go(self):
        return run_trial(self.claim(), self.bench)

    def run(self, number):
        return RunFolder(self.runs / f"small-t{number:04d}")

    def weights(self, number):
        return find_newest(self.run(number).checkpoints).manifest.weights_sha256


@pytest.fixture
def place(tmp_path):
    return Workplace(tmp_path)


def signalled_at(patch, update, *numbers):
    """Let an update, counted from now on over all runs, be interrupted by these signals; returns the calls so far."""
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(1)
        if len(calls) == update:
            for number in numbers:
                os.kill(os.getpid(), number)
        return real(self, rollout, knobs)

    patch.setattr(PPOLearner, "learn", learn)
    return calls


def test_a_trial_is_the_run_that_its_settings_make(place, tmp_path):
    ended = place.go()
    run, trial = place.run(0), place.study.trials[0]
    config = trial_config(DEFINITION, trial.params, 0)
    begin(config, preset="cartpole-ppo", runs_dir=tmp_path / "others", name="alone")
    alone = RunFolder(tmp_path / "others" / "alone")
    assert place.weights(0) == find_newest(alone.checkpoints).manifest.weights_sha256
    values = [report.metrics["evaluation/return_mean"] for report in read_evaluations(alone)]
    assert ended == Ended(0, "small-t0000", "complete", pytest.approx(sum(values) / 3))
    assert trial.state == TrialState.COMPLETE and trial.value == ended.value
    assert trial.intermediate_values == dict(zip((16, 32, 48), values, strict=True))
    assert (trial.user_attrs[UPDATES], trial.user_attrs[DECISIONS]) == (6, 48)
    assert trial.user_attrs[WEIGHTS] == place.weights(0)
    assert read_status(run).status == "finished" and read_meta(run).preset == "cartpole-ppo"


def test_trials_have_nothing_in_common_but_their_definition(place, tmp_path):
    place.go()
    second = place.go()
    config = trial_config(DEFINITION, place.study.trials[1].params, 1)
    begin(config, preset="cartpole-ppo", runs_dir=tmp_path / "others", name="alone")
    found = find_newest(RunFolder(tmp_path / "others" / "alone").checkpoints)
    assert second.state == "complete" and place.weights(1) == found.manifest.weights_sha256


def test_evaluations_are_heard_of_as_they_are_made(place):
    heard = []
    place.bench = replace(place.bench, heard=lambda *facts: heard.append(facts[:2]))
    place.go()
    assert heard == [(0, 16), (0, 32), (0, 48)]


def test_steps_are_the_same_with_any_horizon(tmp_path):
    for horizon in (2, 8):
        base = tiny(collection=replace(tiny().collection, horizon_steps=horizon))
        base = replace(base, evaluation=replace(base.evaluation, every_updates=8 // horizon))
        place = Workplace(tmp_path / str(horizon), definition_of(base=replace(base, planned_updates=24 // horizon)))
        place.go()
        assert list(place.study.trials[0].intermediate_values) == [16, 32, 48]


def test_a_signal_leaves_a_trial_that_goes_on_to_the_same_weights(place, tmp_path, monkeypatch):
    undisturbed = Workplace(tmp_path / "undisturbed")
    undisturbed.go()
    with monkeypatch.context() as patch:
        signalled_at(patch, 3, signal.SIGTERM)
        ended = place.go()
    assert ended == Ended(0, "small-t0000", "stopped", exit_code=143)
    trial = place.study.trials[0]
    assert trial.state == TrialState.RUNNING and trial.user_attrs[UPDATES] == 3
    calls = signalled_at(monkeypatch, 0)
    assert place.go().state == "complete"
    assert len(calls) == 3 and place.weights(0) == undisturbed.weights(0)
    assert place.study.trials[0].value == undisturbed.study.trials[0].value
    assert place.study.trials[0].intermediate_values == undisturbed.study.trials[0].intermediate_values


def test_a_second_signal_drops_the_update_and_the_trial_still_goes_on(place, tmp_path, monkeypatch):
    undisturbed = Workplace(tmp_path / "undisturbed")
    undisturbed.go()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        signalled_at(patch, 5, signal.SIGTERM, signal.SIGTERM)
        place.go()
    assert not place.study.trials[0].user_attrs.get(TAKEN_UP)
    assert place.go().state == "complete" and place.weights(0) == undisturbed.weights(0)


def test_one_that_was_killed_before_it_told_its_end_is_told_of(place, monkeypatch):
    claim = place.claim()
    with monkeypatch.context() as patch:
        patch.setattr(place.study, "tell", lambda *words, **facts: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_trial(claim, place.bench)
    calls = signalled_at(monkeypatch, 0)
    assert place.go().state == "complete" and calls == []


def test_one_whose_run_is_gone_begins_anew(place, monkeypatch):
    with monkeypatch.context() as patch:
        signalled_at(patch, 3, signal.SIGTERM)
        place.go()
    shutil.rmtree(place.runs)
    calls = signalled_at(monkeypatch, 0)
    assert place.go().state == "complete" and len(calls) == 6


def test_a_run_of_something_else_is_never_taken_over(place, tmp_path):
    begin(tiny(seed=7), preset="cartpole-ppo", runs_dir=place.runs, name="small-t0000")
    before = place.weights(0)
    ended = place.go()
    assert ended.state == "failed" and "small-t0000" in ended.cause
    assert place.weights(0) == before and place.study.trials[0].state == TrialState.FAIL


def test_a_trial_does_not_go_on_with_what_took_its_runs_place(place, monkeypatch):
    with monkeypatch.context() as patch:
        signalled_at(patch, 3, signal.SIGTERM)
        place.go()
    shutil.rmtree(place.runs)
    begin(tiny(seed=7), preset="cartpole-ppo", runs_dir=place.runs, name="small-t0000")
    ended = place.go()
    assert ended.state == "failed" and "is not the run of this trial; it is left as it is" in ended.cause


def test_a_trial_that_is_not_promising_is_cut_short(place, monkeypatch):
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda self: 32 in self.study.trials[0].intermediate_values)
    ended = place.go()
    trial = place.study.trials[0]
    assert ended.state == "pruned" and ended.value == trial.value == trial.intermediate_values[32]
    assert trial.state == TrialState.PRUNED and list(trial.intermediate_values) == [16, 32]
    assert trial.user_attrs[UPDATES] == 4 and read_status(place.run(0)).status == "stopped"


def test_one_that_was_cut_short_and_left_is_not_trained_again(place, monkeypatch):
    claim = place.claim()
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Trial, "should_prune", lambda self: True)
        patch.setattr(trial_run, "_note_reached", lambda claim, folder: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_trial(claim, place.bench)
    assert place.study.trials[0].user_attrs[PRUNED]
    place.run(0).evaluations.unlink()
    calls = signalled_at(monkeypatch, 0)
    ended = place.go()
    assert (ended.state, calls) == ("pruned", []) and ended.value == place.study.trials[0].intermediate_values[16]


def test_a_trial_at_its_end_is_not_cut_short(place, monkeypatch):
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda self: 48 in self.study.trials[0].intermediate_values)
    assert place.go().state == "complete"


def test_a_trial_that_has_just_reached_its_goal_is_not_cut_short(tmp_path, monkeypatch):
    base = tiny(evaluation=replace(tiny().evaluation, stop_at=0.0, stop_after=2))
    place = Workplace(tmp_path, definition_of(base=base))
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda self: 32 in self.study.trials[0].intermediate_values)
    ended = place.go()
    assert ended.state == "complete" and read_status(place.run(0)).facts["goal_reached"]
    values = list(place.study.trials[0].intermediate_values.values())
    assert len(values) == 2 and ended.value == pytest.approx((values[0] + 2 * values[1]) / 3)  # the third was spared


def test_what_was_reached_before_it_was_left_counts(tmp_path, monkeypatch):
    base = tiny(evaluation=replace(tiny().evaluation, stop_at=0.0, stop_after=2))
    place = Workplace(tmp_path, definition_of(base=base))
    with monkeypatch.context() as patch:
        signalled_at(patch, 3, signal.SIGTERM)
        assert place.go().state == "stopped"
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda self: 32 in self.study.trials[0].intermediate_values)
    assert place.go().state == "complete"


@pytest.mark.parametrize("way", ["final", "mean"])
def test_what_its_time_spared_a_trial_is_not_made_up(tmp_path, monkeypatch, way):
    place = Workplace(tmp_path, definition_of(base=tiny(minutes=1.0), score=way))
    real = Evaluator.evaluate

    def evaluate(self, *words, **facts):
        report = real(self, *words, **facts)
        if report.update == 4:  # and then time is up
            monkeypatch.setattr(Cadence, "finished", lambda self, clock: True)
        return replace(report, metrics={**report.metrics, "evaluation/return_mean": float(report.update)})

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    ended = place.go()
    assert list(place.study.trials[0].intermediate_values.values()) == [2.0, 4.0]
    assert (ended.state, ended.value) == ("complete", 3.0)


@pytest.mark.parametrize("error", [ValueError("the pole\nbroke"), OSError("no")])
def test_a_trial_that_fails_takes_nobody_along(place, monkeypatch, error):
    real = PPOLearner.learn

    def learn(self, rollout, knobs):
        if place.study.trials[-1].number == 0:
            raise error
        return real(self, rollout, knobs)

    monkeypatch.setattr(PPOLearner, "learn", learn)
    ended = place.go()
    assert ended.state == "failed" and ended.cause == f"{type(error).__name__}: {' '.join(str(error).split())}"
    assert ended.is_alarming
    trial = place.study.trials[0]
    assert trial.state == TrialState.FAIL and trial.user_attrs[CAUSE] == ended.cause and trial.user_attrs[UPDATES] == 0
    assert read_status(place.run(0)).status == "failed" and "Traceback" in place.run(0).failure.read_text()
    assert place.go().state == "complete"


def test_numbers_that_are_not_finite_are_a_failure_of_that_trial(place, monkeypatch):
    real = Evaluator.evaluate

    def evaluate(self, *words, **facts):
        report = real(self, *words, **facts)
        return replace(report, metrics={**report.metrics, "evaluation/return_mean": float("nan")})

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    ended = place.go()
    assert ended.state == "failed" and ended.cause == "the evaluation at update 2 says no evaluation/return_mean"
    assert not ended.is_alarming
    assert place.study.trials[0].state == TrialState.FAIL


def test_settings_that_do_not_go_together_fail_their_trial(tmp_path):
    base = tiny(learner=replace(tiny().learner, minibatches=4), collection=replace(tiny().collection, num_lanes=4))
    space = {
        "collection.num_lanes": Choice((4, 2)),
        "model.core": Choice(("none", "gru")),
        "learner.clip": DEFINITION.space["learner.clip"],
    }
    place = Workplace(tmp_path, definition_of(base=base, space=space))
    place.study.enqueue_trial({"collection.num_lanes": 2, "model.core": "gru", "learner.clip": 0.2})
    ended = place.go()
    assert ended.state == "failed" and ended.cause.startswith("with a gru core each minibatch takes whole lanes")
    assert not ended.is_alarming and not place.run(0).path.exists()


def cuda_fails_from(patch, update):
    """Let CUDA fail from an update on, counted over all runs: after an assertion in a kernel it works no more."""
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(1)
        if len(calls) >= update:
            raise RuntimeError("CUDA error: device-side assert triggered\nCUDA kernel errors might be reported later")
        return real(self, rollout, knobs)

    patch.setattr(PPOLearner, "learn", learn)


def test_one_that_cuda_fails_in_is_left_and_made_again_by_another_process(place, tmp_path, monkeypatch):
    undisturbed = Workplace(tmp_path / "undisturbed")
    undisturbed.go()
    for update in (1, 4):
        with monkeypatch.context() as patch:
            cuda_fails_from(patch, update)
            with pytest.raises(CudaFailedError, match=r"^CUDA error: device-side assert triggered$"):
                place.go()
        trial = place.study.trials[0]
        assert trial.state == TrialState.RUNNING and CAUSE not in trial.user_attrs
        assert trial.user_attrs[BROKE] == "CUDA error: device-side assert triggered"
    assert place.go().state == "complete"
    assert place.weights(0) == undisturbed.weights(0) and len(place.study.trials) == 1


def test_one_that_cuda_fails_in_each_time_is_given_up_and_not_the_next(place, monkeypatch):
    with monkeypatch.context() as patch:
        cuda_fails_from(patch, 1)
        for _ in range(MOST_TIMES_TAKEN_UP + 1):
            with pytest.raises(CudaFailedError):
                place.go()
    assert place.go() == Ended(1, "small-t0001", "complete", place.study.trials[1].value)
    assert place.study.trials[0].state == TrialState.FAIL


def test_one_whose_checkpoints_are_all_damaged_takes_nobody_along(place, monkeypatch):
    with monkeypatch.context() as patch:
        cuda_fails_from(patch, 4)
        with pytest.raises(CudaFailedError):
            place.go()
    for weights in place.run(0).checkpoints.glob("*/weights.safetensors"):
        weights.write_bytes(b"")
    ended = place.go()
    assert (ended.state, ended.number) == ("failed", 0) and ended.cause.startswith("every checkpoint in ")
    assert place.study.trials[0].user_attrs[CAUSE] == ended.cause
    assert place.go().state == "complete"


def test_an_evaluation_that_is_only_made_again_is_no_way_on(place, monkeypatch):
    claim = place.claim()
    claim.trial.report(1.0, 16)
    claim.trial.set_user_attr(TAKEN_UP, 2)
    cuda_fails_from(monkeypatch, 3)
    with pytest.raises(CudaFailedError):
        run_trial(claim, place.bench)
    assert place.study.trials[0].user_attrs[TAKEN_UP] == 2


def test_one_that_somebody_gave_up_meanwhile_is_let_go(place, monkeypatch):
    claim = place.claim()
    claim.lock.release()
    give_up(place.study, place.folder, 0)
    ended = run_trial(claim, place.bench)
    assert ended.state == "failed" and ended.cause == "somebody else gave it up meanwhile"
    assert place.study.trials[0].user_attrs[CAUSE].startswith("it was given up, left on")


def test_a_trial_that_is_judged_has_not_taken_its_process_along(place):
    claim = place.claim()
    claim.trial.set_user_attr(TAKEN_UP, 2)
    run_trial(claim, place.bench)
    assert place.study.trials[0].user_attrs[TAKEN_UP] == 0


def test_a_new_study_does_not_bear_the_names_of_runs_that_are_there(tmp_path):
    check_new_names("small", tmp_path / "none")
    (tmp_path / "small-t0003").mkdir()
    (tmp_path / "smaller-t0003").mkdir()
    check_new_names("other", tmp_path)
    with pytest.raises(RunFolderError, match=r"another study called 'small' \(small-t0003\)"):
        check_new_names("small", tmp_path)
