"""respawn resume [RUN]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.contracts.settings import check_above
from respawn.errors import ConfigError, RunFolderError
from respawn.presets import check_preset_name
from respawn.runs.layout import RunFolder, find
from respawn.runs.metadata import read_status
from respawn.weights import is_shipped


@dataclass(frozen=True)
class ResumeArguments:
    """Go on with a run, exactly where it was left.

    Without RUN, the newest run that has something left to do is taken.
    """

    run: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")] = None
    """name of the run, or path of its folder; none: the newest that can go on"""
    updates: int | None = None
    """go on until this many updates are made in all; none: to the limit the run was begun with"""
    minutes: float | None = None
    """go on until this many minutes were trained in all; none: to the limit the run was begun with"""
    device: str | None = None
    """compute here; none: where the run was begun"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game, if it lies elsewhere now; none: where the run was begun with it"""
    preset: Annotated[str | None, tyro.conf.arg(metavar="PRESET")] = None
    """without RUN: only runs of this preset; none: of any"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""


def main(words: list[str]) -> int:
    """Resume a run."""
    arguments = parse(ResumeArguments, words, "respawn resume")
    check_at_least(arguments, {"updates": 1})
    check_above("--", arguments, {"minutes": 0})
    if arguments.preset is not None:
        check_preset_name(arguments.preset)
    named = _named(arguments)
    folder = _chosen(arguments) if named is None else named
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.closing import failure_told, tell_closing
    from respawn.training.launch import take_up
    from respawn.training.recorded import load_config

    load_config(folder)  # before anything is done to the run: whether it can be used at all
    finished = None if named is None else _finished(named, arguments)
    if finished is not None:
        print(finished)
        return 0
    with failure_told(folder):
        outcome = take_up(
            folder,
            updates=arguments.updates,
            minutes=arguments.minutes,
            device=arguments.device,
            rom=arguments.rom,
        )
    return tell_closing(folder, outcome)


def _named(arguments: ResumeArguments) -> RunFolder | None:
    if arguments.run is None:
        return None
    if arguments.preset is not None:
        raise ConfigError("--preset narrows the search for a run and makes no sense beside a run's name; leave one out")
    if is_shipped(arguments.runs, arguments.run):
        raise RunFolderError(
            f"there is no run '{arguments.run}' in {arguments.runs.absolute()}, and the weights '{arguments.run}' that "
            "come with respawn cannot be resumed; begin a run with: respawn train mario"
        )
    return find(arguments.runs, arguments.run)


def _chosen(arguments: ResumeArguments) -> RunFolder:
    from respawn.training.choose import choose_run

    choice = choose_run(arguments.runs, preset=arguments.preset, updates=arguments.updates, minutes=arguments.minutes)
    print(choice.reason)
    return choice.folder


def _finished(folder: RunFolder, arguments: ResumeArguments) -> str | None:
    """That there is nothing to do, in a sentence; None if there is something.

    Raises:
      ConfigError: a new limit was given, and the run is beyond it.
    """
    from respawn.checkpoints.store import find_newest
    from respawn.training.choose import reached_limit
    from respawn.training.goal import with_new_limits
    from respawn.training.recorded import load_config

    if folder.is_locked():  # whoever tries to take it up is told by whom
        return None
    config = load_config(folder)
    wanted = with_new_limits(config, find_newest(folder.checkpoints), arguments.updates, arguments.minutes)
    reached = reached_limit(folder, wanted)
    if reached is None:
        return None
    if (wanted.last_update, wanted.minutes) != (config.last_update, config.minutes):
        raise ConfigError(
            f"run {folder.name} is finished {reached.where}: limits count from the beginning of the run, and the one "
            f"that comes first ends it; give a higher {reached.option}"
        )
    if read_status(folder).status != "finished":  # it was left between its last update and its end, which is to be made
        return None
    return f"Run {folder.name} is finished {reached.where}; give a higher {reached.option} to go on."
