"""What a run is now around its checkpoints, which decides whether it can be resumed from them."""

from dataclasses import replace

from respawn.checkpoints.store import saved
from respawn.checkpoints.verification import Surroundings
from respawn.errors import CheckpointError, RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.streams import row_streams
from respawn.training.config import RunConfig, config_sha256
from respawn.training.first_weights import find_again
from respawn.training.recorded import load_config


def surroundings_of(folder: RunFolder) -> Surroundings:
    """The rows and settings that a run's checkpoints are compared with, as when it is resumed."""
    around = Surroundings(streams=row_streams(folder))
    try:
        config = load_config(folder)
    except RunFolderError as error:
        return replace(around, settings_problem=str(error))
    problem = "" if saved(folder.checkpoints) else _beginning_problem(folder, config)
    return replace(around, config_sha256=config_sha256(config), beginning_problem=problem)


def _beginning_problem(folder: RunFolder, config: RunConfig) -> str:
    """Why a run that was never saved cannot be begun again; empty: it can."""
    try:
        find_again(folder, config)
    except CheckpointError as error:
        return str(error)
    return ""
