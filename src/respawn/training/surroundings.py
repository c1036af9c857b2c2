"""What a run is now around its checkpoints, which decides whether it can be resumed from them."""

from dataclasses import replace

from respawn.checkpoints.verification import Surroundings
from respawn.errors import RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.streams import row_streams
from respawn.training.config import config_sha256
from respawn.training.recorded import load_config


def surroundings_of(folder: RunFolder) -> Surroundings:
    """The rows and settings that a run's checkpoints are compared with, as when it is resumed."""
    around = Surroundings(streams=row_streams(folder))
    try:
        return replace(around, config_sha256=config_sha256(load_config(folder)))
    except RunFolderError as error:
        return replace(around, settings_problem=str(error))
