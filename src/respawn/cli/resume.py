"""respawn resume [RUN]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import parse
from respawn.cli.closing import tell_closing
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder, find
from respawn.training.choose import choose_run
from respawn.training.launch import take_up


@dataclass(frozen=True)
class ResumeArguments:
    """Go on with a run, exactly where it was left.

    Without a name, the newest run that has something left to do is taken, and it is said which and why.
    """

    run: Annotated[str | None, tyro.conf.Positional] = None
    """name of the run, or path of its folder; none: the newest that can go on"""
    runs: Path = Path("runs")
    """the folder that holds the runs"""
    updates: int | None = None
    """go on until this many updates are made in all; none: to the limit the run was begun with"""
    minutes: float | None = None
    """go on until this many minutes were trained in all"""
    preset: str | None = None
    """without a name: only runs of this preset"""
    device: str | None = None
    """compute here instead of where the run was begun"""


def main(words: list[str]) -> int:
    """Resume a run."""
    arguments = parse(ResumeArguments, words, "respawn resume")
    folder = _named(arguments) or _chosen(arguments)
    outcome = take_up(folder, updates=arguments.updates, minutes=arguments.minutes, device=arguments.device)
    tell_closing(folder, outcome)
    return outcome.exit_code


def _named(arguments: ResumeArguments) -> RunFolder | None:
    if arguments.run is None:
        return None
    if arguments.preset is not None:
        raise RunFolderError(
            "--preset narrows the search for a run and makes no sense beside a run's name; leave one out"
        )
    return find(arguments.runs, arguments.run)


def _chosen(arguments: ResumeArguments) -> RunFolder:
    choice = choose_run(arguments.runs, preset=arguments.preset, updates=arguments.updates)
    print(choice.reason)
    return choice.folder
