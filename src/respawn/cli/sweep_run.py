"""The part of `respawn sweep` that needs torch and Optuna: a study is opened, worked on and summed up."""

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import optuna
import tyro

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.cli.sweep_telling import Teller, heard_or_not, tell_study
from respawn.errors import ConfigError, StudyError
from respawn.presets import find_preset
from respawn.processes.child import Family
from respawn.processes.limits import usable_cores
from respawn.sweeps.default_space import default_space
from respawn.sweeps.definition import Definition, Direction, Score, default_objective, machine_settings, whole_training
from respawn.sweeps.finals import Final, finals_of, kept_finals
from respawn.sweeps.places import StudyFolder, in_use_by_another, made_folder, study_folder
from respawn.sweeps.publish import publish
from respawn.sweeps.results import write_results
from respawn.sweeps.rows import TrialRow, best_first, trial_rows
from respawn.sweeps.space import read_space
from respawn.sweeps.storage import (
    PrunerName,
    SamplerName,
    open_study,
    storage_failures_told,
    storage_url,
)
from respawn.sweeps.supervisor import Supervisor
from respawn.sweeps.trial_config import check_decisions
from respawn.sweeps.trial_run import check_new_names
from respawn.sweeps.worker import WorkerPlan
from respawn.training.config import RunConfig
from respawn.training.config_file import read_config_file, with_config_file
from respawn.training.device import resolve_device
from respawn.training.trial import try_out


@dataclass(frozen=True)
class SweepArguments:
    """Train many runs of a preset with other settings, to find out which are best."""

    trials: int = 20
    """runs in the study, all counted: typed again with more, it goes on"""
    name: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """of the study; none: the preset"""
    workers: int = 1
    """runs at a time, each in a process of its own"""
    space: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """TOML: what to search; none: what 'respawn sweep space PRESET' says"""
    objective: Annotated[str | None, tyro.conf.arg(metavar="METRIC")] = None
    """the metric of evaluations that counts; none: levels cleared, fish that survive, or else the return"""
    direction: Direction = "maximise"
    """of the objective"""
    score: Score = "final"
    """what a run is worth: mean of its last three evaluations, mean of all, or the best of them"""
    sampler: SamplerName = "tpe"
    """what draws settings"""
    pruner: PrunerName = "median"
    """what cuts runs short that are not promising"""
    finalists: int = 3
    """best runs that are judged again, on fresh seeds; 0: none"""
    final_episodes: int = 100
    """episodes that each of them plays"""
    storage: Annotated[str | None, tyro.conf.arg(metavar="URL")] = None
    """any of Optuna's, or journal:FILE; none: study.db in the study's folder; 'temporary': keep no study"""
    sweeps: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("sweeps")
    """the folder that holds studies"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print what came of it as JSON, and progress elsewhere"""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)


def sweep(preset: str, words: list[str], config_file: Path | None) -> int:
    """Work on a study until it has all its trials; returns the exit code."""
    base = find_preset(preset)
    if config_file is not None:
        base = with_config_file(base, config_file)
    arguments = parse(SweepArguments, words, f"respawn sweep {preset}", SweepArguments(config=base))
    check_at_least(arguments, {"trials": 1, "workers": 1, "finalists": 0, "final_episodes": 1})
    name = preset if arguments.name is None else arguments.name
    folder = study_folder(arguments.sweeps, name)
    definition = _definition(preset, arguments, _plan_is_said(words, config_file))
    with ExitStack() as closing:
        if arguments.storage == "temporary":
            aside = Path(closing.enter_context(TemporaryDirectory(prefix="respawn-sweep-")))
            url = storage_url(StudyFolder(aside), None)
        else:
            url = storage_url(folder, arguments.storage)
        with storage_failures_told():
            return _worked(definition, folder, url, arguments)


def _plan_is_said(words: list[str], config_file: Path | None) -> bool:
    """Whether the plan's length was asked for, be it the very one that the preset has."""
    is_typed = any(word.partition("=")[0].replace("_", "-") == "--planned-updates" for word in words)
    return is_typed or (config_file is not None and "planned_updates" in read_config_file(config_file))


def _definition(preset: str, arguments: SweepArguments, plan_is_said: bool) -> Definition:
    base = whole_training(arguments.config, plan_is_said)
    file = arguments.space
    space = default_space(base) if file is None else read_space(file.expanduser(), preset, base)
    objective = arguments.objective or default_objective(base)
    definition = Definition(preset, base, space, objective, arguments.direction, arguments.score)
    check_decisions(definition)
    return definition


def _worked(definition: Definition, folder: StudyFolder, url: str, arguments: SweepArguments) -> int:
    try_out(definition.base)  # whether there is a world and a model at all, before anything is left behind

    def prepare(has_trials: bool) -> None:
        if not has_trials:
            check_new_names(folder.name, arguments.runs)
            at_work_on = folder.at_work_on()
            if at_work_on:
                raise in_use_by_another(folder, at_work_on[0])
        _make_runs_dir(arguments.runs)

    with made_folder(folder):
        study = open_study(url, folder.name, definition, prepare)
    teller = Teller(study, definition, arguments.trials, to_stderr=arguments.json)
    teller.begin(folder.name)
    base = definition.base
    plan = WorkerPlan(
        family=Family(0, 0),
        url=url,
        name=folder.name,
        folder=folder.path.absolute(),
        runs_dir=arguments.runs.absolute(),
        trials=arguments.trials,
        sampler=arguments.sampler,
        pruner=arguments.pruner,
        threads=max(usable_cores() // arguments.workers, 1),
        # Settled here: a worker that no longer finds the GPU is not to go on without it.
        machine={**machine_settings(base), "device": str(resolve_device(base.device, wants_gpu=base.wants_gpu))},
        command=tuple(sys.argv),
    )
    exit_code = Supervisor(plan, folder, teller.hear).work(arguments.workers)
    rows = trial_rows(study, definition)
    finals = kept_finals(study, rows)
    # Before the best are judged again: that takes minutes, and whatever ends it must not take the results along.
    summary = _published(study, definition, folder, rows, finals)
    if not exit_code and _judged_again(study, definition, rows, arguments, teller):
        finals = kept_finals(study, rows)
        summary = _published(study, definition, folder, rows, finals)
    if arguments.json:
        with heard_or_not(sys.stdout):
            print(json.dumps(summary, indent=2))
    else:
        tell_study(folder, definition, rows, finals)
    if exit_code:
        teller.say("Stopped, and saved: the same command goes on where it was.")
        return exit_code
    if all(row.state == "failed" for row in rows):
        raise StudyError(f"all {len(rows)} trials of study {folder.name} failed, the last with: {rows[-1].cause}")
    return 0


def _published(
    study: optuna.Study, definition: Definition, folder: StudyFolder, rows: list[TrialRow], finals: list[Final]
) -> dict[str, Any]:
    """Write all files and draw all figures; returns what the summary says."""
    summary = write_results(folder, definition, rows, finals)
    publish(study, definition, folder, rows, finals)
    return summary


def _judged_again(
    study: optuna.Study, definition: Definition, rows: list[TrialRow], arguments: SweepArguments, teller: Teller
) -> bool:
    """Judge the best once more, unless somebody else is still at work; returns whether that said anything new."""
    if any(row.state == "running" for row in rows):
        teller.say("Others are still at work on this study; the best are judged again when they are done.")
        return False
    before = kept_finals(study, rows)
    best = best_first(rows, definition)[: arguments.finalists]
    finals_of(study, definition, best, arguments.runs, arguments.final_episodes, teller.say)
    return kept_finals(study, rows) != before


def _make_runs_dir(runs: Path) -> None:
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--runs wants a folder, and {runs} cannot be made ({error.strerror})") from None
