"""respawn sweep show NAME, respawn sweep space PRESET."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import optuna
import tyro

from respawn.cli.arguments import parse
from respawn.cli.sweep_telling import tell_study
from respawn.errors import RunFolderError
from respawn.presets import check_preset_name, find_preset
from respawn.sweeps.default_space import default_space
from respawn.sweeps.definition import Definition
from respawn.sweeps.finals import kept_finals
from respawn.sweeps.places import StudyFolder, make_folder, study_folder
from respawn.sweeps.publish import publish
from respawn.sweeps.results import summarised, write_results
from respawn.sweeps.rows import TrialRow, trial_rows
from respawn.sweeps.space import space_to_plain
from respawn.sweeps.storage import load_study, storage_failures_told, storage_url
from respawn.sweeps.toml_text import toml_lines


@dataclass(frozen=True)
class ShowArguments:
    """How a study is doing, without going on with it."""

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """of the study"""
    storage: Annotated[str | None, tyro.conf.arg(metavar="URL")] = None
    """where it is kept; none: study.db in the study's folder"""
    sweeps: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("sweeps")
    """the folder that holds studies"""
    redraw: bool = False
    """also write its files and draw its figures anew, from the study"""
    json: bool = False
    """print it as JSON"""


@dataclass(frozen=True)
class SpaceArguments:
    """What is searched without --space, as TOML to begin with."""

    preset: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PRESET")]
    """whose"""


def show(words: list[str]) -> int:
    """Print the state of a study."""
    arguments = parse(ShowArguments, words, "respawn sweep show")
    folder = study_folder(arguments.sweeps, arguments.name)
    with storage_failures_told():
        study, definition = study_that_is_there(folder, arguments.storage)
        rows = trial_rows(study, definition)
        finals = kept_finals(study, rows)
        if arguments.redraw:
            make_folder(folder)
            write_results(folder, definition, rows, finals)
            publish(study, definition, folder, rows, finals)
    if arguments.json:
        print(json.dumps(summarised(folder.name, definition, rows, finals), indent=2))
    else:
        tell_study(folder, definition, rows, finals)
        for line in filter(None, map(_worth_knowing, rows)):
            print(line)
    return 0


def _worth_knowing(row: TrialRow) -> str:
    """What there is to say of a trial that the table of the best does not; nothing, of most."""
    if row.foreign:
        return (
            f"Trial {row.trial} is passed over: respawn did not draw it, as the study's space does not hold its "
            f"{', '.join(row.foreign)}"
        )
    if row.state == "failed":
        return f"Trial {row.trial} failed: {row.cause}"
    if row.state == "running":
        return f"Trial {row.trial} is running, or was left: run {row.run} on {row.host}"
    if row.state == "waiting":
        return f"Trial {row.trial} waits: it was enqueued, and is tried with --trials {row.trial + 1} or more"
    return ""


def study_that_is_there(folder: StudyFolder, storage: str | None) -> tuple[optuna.Study, Definition]:
    """A study and what it is; raises RunFolderError naming those that there are, where it is none of them."""
    if storage is None and not folder.database.exists():
        there = ", ".join(sorted(path.parent.name for path in folder.path.parent.glob("*/study.db"))) or "none"
        raise RunFolderError(
            f"there is no study '{folder.name}' in {folder.path.parent.absolute()} (there: {there}); begin it with "
            "'respawn sweep', or say where it is with --sweeps DIR or --storage URL"
        )
    return load_study(storage_url(folder, storage), folder.name)


def show_space(words: list[str]) -> int:
    """Print the space that a preset is searched in."""
    preset = parse(SpaceArguments, words, "respawn sweep space").preset
    check_preset_name(preset)
    plain = space_to_plain(default_space(find_preset(preset)))
    print("\n".join(toml_lines({"preset": preset, **plain})))
    return 0
