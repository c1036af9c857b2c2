"""One trial: a run of its own, judged as it goes, cut short where it is not promising, and told of in the study."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import optuna
from optuna.trial import TrialState

from respawn.checkpoints.store import find_newest
from respawn.contracts.records import EvaluationReport
from respawn.errors import (
    CheckpointError,
    ConfigError,
    LearningError,
    MemoryLimitError,
    RespawnError,
    RunFolderError,
)
from respawn.learners.out_of_memory import in_short
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_evaluations
from respawn.sweeps.broken_cuda import CudaFailedError, cuda_failure
from respawn.sweeps.claims import BROKE, CAUSE, PRUNED, Claim
from respawn.sweeps.definition import Definition
from respawn.sweeps.places import run_name
from respawn.sweeps.score import reaches_goal, score, value_of, values_of
from respawn.sweeps.trial_config import trial_config
from respawn.training.config import RunConfig, config_to_json, deciding_numbers
from respawn.training.launch import begin, settled, take_up
from respawn.training.recorded import load_config

WEIGHTS, UPDATES, DECISIONS = "weights_sha256", "updates", "decisions"
"""Attributes of a trial: what its newest checkpoint holds, and how far it came."""
OF_SETTINGS = (ConfigError, LearningError, MemoryLimitError)
"""Errors that what was drawn for a trial may be the cause of; others have drawn something else."""
Heard: TypeAlias = Callable[[int, int, float], None]
"""is told of an evaluation: which trial, after how many decisions, what value"""


@dataclass(frozen=True)
class Ended:
    """How a trial ended, for now."""

    number: int
    run: str
    state: Literal["complete", "pruned", "failed", "stopped"]
    value: float | None = None
    cause: str = ""
    exit_code: int = 0
    """of a trial that a signal stopped"""
    is_alarming: bool = False
    """whether it failed by what may befall the next trials as well, rather than by what was drawn for it"""


@dataclass(frozen=True)
class Bench:
    """Where and how trials are run by this process."""

    study: optuna.Study
    definition: Definition
    name: str
    runs_dir: Path
    threads: int | None
    heard: Heard = lambda number, decisions, value: None


def run_trial(claim: Claim, bench: Bench) -> Ended:
    """Train a claimed trial to its end, tell the study, and let go of it; a signal leaves it to be taken up again.

    So does a failure of CUDA's, and raises CudaFailedError: no trial can be trained in this process any more.
    """
    folder = RunFolder(bench.runs_dir / run_name(bench.name, claim.number))
    try:
        return _trained_or_failed(claim, bench, folder)
    except optuna.exceptions.UpdateFinishedTrialError:
        return Ended(claim.number, folder.name, "failed", cause="somebody else gave it up meanwhile")
    except KeyboardInterrupt:
        claim.forget_losses()  # it was told to stop, and took nobody along
        raise
    finally:
        claim.lock.release()


def _trained_or_failed(claim: Claim, bench: Bench, folder: RunFolder) -> Ended:
    try:
        return _trained(claim, bench, folder)
    except (RespawnError, OSError, RuntimeError, ValueError, MemoryError) as error:
        broken = cuda_failure(error)
        if broken is not None:
            claim.trial.set_user_attr(BROKE, in_short(broken))
            raise CudaFailedError(in_short(broken)) from error
        # It is this trial that failed: the others have other settings.
        cause = " ".join(f"{'' if isinstance(error, RespawnError) else type(error).__name__ + ': '}{error}".split())
        claim.trial.set_user_attr(CAUSE, cause)
        with suppress(CheckpointError, OSError):  # damaged ones may be why it failed, and then the cause says so
            _note_reached(claim, folder)
        bench.study.tell(claim.trial, state=TrialState.FAIL)
        is_alarming = not isinstance(error, OF_SETTINGS)
        return Ended(claim.number, folder.name, "failed", cause=cause, is_alarming=is_alarming)


def _trained(claim: Claim, bench: Bench, folder: RunFolder) -> Ended:
    config = settled(trial_config(bench.definition, claim.drawn, claim.number, bench.threads))
    if not claim.trial.user_attrs.get(PRUNED):
        exit_code = _train(claim, bench, folder, config)
        if exit_code:
            claim.forget_losses()
            _note_reached(claim, folder)
            return Ended(claim.number, folder.name, "stopped", exit_code=exit_code)
    _note_reached(claim, folder)
    if claim.trial.user_attrs.get(PRUNED):
        told = bench.study.tell(claim.trial, state=TrialState.PRUNED)
        return Ended(claim.number, folder.name, "pruned", told.value)
    goal_reached = bool(read_status(folder).facts.get("goal_reached"))
    value = score(values_of(folder, bench.definition), bench.definition, goal_reached=goal_reached)
    bench.study.tell(claim.trial, value)
    return Ended(claim.number, folder.name, "complete", value)


def _train(claim: Claim, bench: Bench, folder: RunFolder, config: RunConfig) -> int:
    """Begin the trial's run or go on with it; returns the exit code of a signal that stopped it, or 0."""
    reported = set(bench.study.trials[claim.number].intermediate_values)
    # Those since the checkpoint that a trial is taken up from are made again, and then take the place of these.
    judged = {report.update: report for report in read_evaluations(folder)} if claim.is_taken_up else {}

    def stop_when(report: EvaluationReport) -> str | None:
        value = value_of(report, bench.definition)
        step = bench.definition.step_of(report.update, config.evaluation.every_updates)
        bench.heard(claim.number, step, value)
        if step not in reported:
            claim.trial.report(value, step)
            reported.add(step)
            # Only now: a trial that dies of the same update each time would else be taken up for ever.
            claim.forget_losses()
        judged[report.update] = report
        so_far = [judged[update] for update in sorted(judged) if update <= report.update]
        # A run that ends anyway is spared nothing, and pruned it could not be the best.
        is_over = report.update >= config.last_update or reaches_goal(so_far, config)
        if not is_over and claim.trial.should_prune():
            claim.trial.set_user_attr(PRUNED, True)
            return f"pruned by the sweep: {bench.definition.objective} {value:.4g} is not promising"
        return None

    if not claim.is_taken_up or not folder.path.exists():
        # `begin` never adopts a folder: one that is there is of something else, and fails the trial.
        _, outcome = begin(
            config, preset=bench.definition.preset, runs_dir=bench.runs_dir, name=folder.name, stop_when=stop_when
        )
        return outcome.exit_code
    _check_own(folder, config)
    if read_status(folder).status == "finished":  # it was left between its end and telling the study
        return 0
    return take_up(folder, stop_when=stop_when).exit_code


def _check_own(folder: RunFolder, config: RunConfig) -> None:
    """Raise RunFolderError if a run is not the one that the trial began."""
    if _recognised_by(load_config(folder)) != _recognised_by(config):
        raise RunFolderError(f"{folder.path} is not the run of this trial; it is left as it is")


def _recognised_by(config: RunConfig) -> dict[str, Any]:
    """What a run does not lose, however often it is taken up: not how many threads it has, nor what memory left it."""
    numbers = deciding_numbers(config_to_json(config))
    return {name: numbers[name] for name in ("seed", "world", "model", "schedules", "evaluation")}


def _note_reached(claim: Claim, folder: RunFolder) -> None:
    """Say in the study how far the run came, and which weights it came to."""
    if not folder.checkpoints.is_dir():
        return
    found = find_newest(folder.checkpoints)
    if found is not None:
        claim.trial.set_user_attr(UPDATES, found.manifest.updates)
        claim.trial.set_user_attr(DECISIONS, found.manifest.decisions)
        claim.trial.set_user_attr(WEIGHTS, found.manifest.weights_sha256)


def check_new_names(name: str, runs_dir: Path) -> None:
    """Refuse a new study whose trials' runs would bear the names of runs that are there."""
    taken = sorted(path.name for path in runs_dir.glob(f"{name}-t[0-9][0-9][0-9][0-9]"))
    if taken:
        raise RunFolderError(
            f"{runs_dir} holds runs of another study called '{name}' ({taken[0]}), which are never taken over; give "
            "another --name, or move them"
        )
