"""respawn sweep drop NAME TRIAL."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import parse
from respawn.cli.sweep_show import study_that_is_there
from respawn.sweeps.claims import give_up
from respawn.sweeps.places import study_folder
from respawn.sweeps.storage import storage_failures_told


@dataclass(frozen=True)
class DropArguments:
    """Give up a trial whose machine is gone; it then counts as failed."""

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """of the study"""
    trial: Annotated[int, tyro.conf.Positional, tyro.conf.arg(metavar="TRIAL")]
    """its number; 'respawn sweep show NAME' names those that are running"""
    storage: Annotated[str | None, tyro.conf.arg(metavar="URL")] = None
    """where the study is kept; none: study.db in the study's folder"""
    sweeps: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("sweeps")
    """the folder that holds studies"""


def drop(words: list[str]) -> int:
    """Have a trial fail that nobody will take up."""
    arguments = parse(DropArguments, words, "respawn sweep drop")
    folder = study_folder(arguments.sweeps, arguments.name)
    with storage_failures_told():
        study, _ = study_that_is_there(folder, arguments.storage)
        give_up(study, folder, arguments.trial)
    print(f"Trial {arguments.trial} is given up; its run stays as it is.")
    return 0
