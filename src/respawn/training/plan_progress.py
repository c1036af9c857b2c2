"""How far a plan has come in a folder of runs, and whether what is left of it can be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from respawn.checkpoints.store import find_newest
from respawn.errors import ConfigError, RespawnError, RunFolderError
from respawn.runs.layout import RunFolder, find
from respawn.runs.metadata import read_meta, read_status
from respawn.training.choose import reached_limit
from respawn.training.config import RunConfig, config_to_json, deciding_numbers
from respawn.training.first_weights import check_fit, named_source
from respawn.training.launch import settled
from respawn.training.plan_file import Plan, Stage, flattened
from respawn.training.recorded import load_config
from respawn.training.trained import find_trained
from respawn.training.trial import Fitting, try_out
from respawn.worlds.mario.config import MarioConfig

LIMITS = ("updates", "planned_updates", "minutes")
LIMITS_OF_EVALUATION = ("stop_at", "stop_after")
MOST_DIFFERENCES = 4
"""As many are named in a sentence."""


@dataclass(frozen=True)
class Progress:
    """How far a stage has come."""

    stage: Stage
    state: Literal["new", "begun", "finished", "gone"]
    """gone: its run is not there, and need not be, for the stage after it has begun with its weights"""
    folder: RunFolder
    where: str = ""
    """of a finished one: how far it came, to follow on 'finished'"""


def progress_of(plan: Plan, runs_dir: Path) -> tuple[Progress, ...]:
    """What there is of each stage; raises ConfigError where that is not of this plan as it is now."""
    found = [_found(stage, runs_dir) for stage in plan.stages]
    for progress in found:
        if progress.state != "new":
            _check_settings(plan, progress)
    for before, after in pairwise(found):
        if before.state != "new" and after.state != "new":
            _check_carried(before, after)
    last_begun = max((number for number, progress in enumerate(found) if progress.state != "new"), default=0)
    return tuple(
        replace(progress, state="gone") if progress.state == "new" and number < last_begun else progress
        for number, progress in enumerate(found)
    )


def only(progress: Sequence[Progress], name: str) -> tuple[Progress, ...]:
    """One stage alone; raises ConfigError where the stage before it has not got so far."""
    place = next(number for number, one in enumerate(progress) if one.stage.name == name)
    if place > 0 and progress[place].state == "new" and progress[place - 1].state != "finished":
        before = progress[place - 1].stage.name
        raise ConfigError(
            f"--only {name}: it begins with the weights of stage '{before}', which is not finished; "
            f"first: --only {before}"
        )
    return (progress[place],)


def try_what_is_left(progress: Sequence[Progress], runs_dir: Path) -> None:
    """Put together every run that is still to be trained, without training; raises an error naming the stage."""
    offered: Fitting | None = None
    for number, one in enumerate(progress):
        if one.state not in ("new", "begun"):
            offered = None
            continue
        try:
            config = _to_be_trained(one)
            wanted = try_out(config)
            if one.state == "new" and offered is not None:
                _check_next(progress[number - 1].stage, offered, wanted)
            elif one.state == "new" and config.weights_from:
                check_fit(find_trained(runs_dir, *named_source(config.weights_from)), config, wanted)
        except RespawnError as error:
            raise in_stage(one.stage, error) from error
        offered = wanted


def _to_be_trained(progress: Progress) -> RunConfig:
    """What will be put together: of a stage that was begun, what it has, and where it is to go on if that is said."""
    said = progress.stage.config
    if progress.state == "new":
        return settled(said)
    there = load_config(progress.folder)
    if said.device != "auto":
        there = replace(there, device=said.device)
    if isinstance(said.world, MarioConfig) and isinstance(there.world, MarioConfig) and said.world.rom:
        there = replace(there, world=replace(there.world, rom=said.world.rom))
    return there


def in_stage(stage: Stage, error: RespawnError) -> RespawnError:
    """The same error, naming the stage that it came in."""
    told = RespawnError(f"stage '{stage.name}': {error}")
    told.exit_code = error.exit_code
    for note in getattr(error, "__notes__", []):
        told.add_note(note)
    return told


def _found(stage: Stage, runs_dir: Path) -> Progress:
    folder = RunFolder(runs_dir / stage.run)
    if not folder.path.exists():
        return Progress(stage, "new", folder)
    try:
        folder = find(runs_dir, stage.run)
        reached = reached_limit(folder, load_config(folder))
        is_over = reached is not None and read_status(folder).status == "finished"
    except RespawnError as error:
        raise in_stage(stage, error) from error
    if reached is None or not is_over:
        return Progress(stage, "begun", folder)
    return Progress(stage, "finished", folder, reached.where)


def _check_settings(plan: Plan, progress: Progress) -> None:
    stage, there = progress.stage, load_config(progress.folder)
    # A number of threads that is left to the machine is another on another machine; where it computes is not compared.
    wanted = replace(stage.config, threads=stage.config.threads or there.threads, device="cpu")
    differing = _differences(there, settled(wanted))
    if differing:
        more = f" and {len(differing) - MOST_DIFFERENCES} more" if len(differing) > MOST_DIFFERENCES else ""
        raise ConfigError(
            f"stage '{stage.name}' was begun with other settings than {plan.path} has now: in run {stage.run} "
            f"{'; '.join(differing[:MOST_DIFFERENCES])}{more}; put the plan and its options back as they "
            f"were, call it otherwise with --name, or delete {progress.folder.path} and the runs of later stages"
        )


def _differences(there: RunConfig, wanted: RunConfig) -> list[str]:
    run, plan = _that_matters(there), _that_matters(wanted)
    # What is at its usual value is left out of what matters, and has a value all the same.
    in_run, in_plan = flattened(config_to_json(there)), flattened(config_to_json(wanted))
    return [
        f"{name} is {_shown(in_run.get(name))} and not {_shown(in_plan.get(name))}"
        for name in dict.fromkeys((*run, *plan))
        if run.get(name) != plan.get(name)
    ]


def _that_matters(config: RunConfig) -> dict[str, Any]:
    plain = config_to_json(config)
    limits: Mapping[str, Any] = {name: plain[name] for name in LIMITS}
    goal = {name: plain["evaluation"][name] for name in LIMITS_OF_EVALUATION}
    numbers = deciding_numbers(plain)
    return flattened({**numbers, **limits, "evaluation": {**numbers["evaluation"], **goal}})


def _shown(value: object) -> str:
    return {None: "none", "": "empty"}.get(value, str(value)) if isinstance(value, str | None) else str(value)


def _check_carried(before: Progress, after: Progress) -> None:
    """Refuse a stage that goes on from weights which the stage before it does not end with."""
    began = read_meta(after.folder).weights_from or {}
    found = find_newest(before.folder.checkpoints)
    if found is not None and found.manifest.weights_sha256 == began.get("weights_sha256"):
        return
    now = "has no checkpoint" if found is None else f"has others now, of update {found.manifest.updates:,}"
    raise RunFolderError(
        f"stage '{after.stage.name}' began with the weights of run {before.stage.run} at update "
        f"{began.get('updates', 0):,}, which {now}; go on with that run by 'respawn resume' if it was left, or delete "
        f"{after.folder.path} and the runs of later stages"
    )


def _check_next(before: Stage, offered: Fitting, wanted: Fitting) -> None:
    misfit = offered.misfit(wanted)
    if misfit is not None:
        raise ConfigError(
            f"the weights of stage '{before.name}', which it is to begin with, are {misfit}; give both the same "
            "observations, actions and model"
        )
