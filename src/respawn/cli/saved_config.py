"""Whether the configuration in a run folder can be used, asked before anything is done to the run."""

from respawn.errors import ConfigError, RunFolderError
from respawn.runs.layout import RunFolder
from respawn.training.launch import load_config


def check_saved_config(folder: RunFolder) -> None:
    """Raise RunFolderError naming the file: what is wrong in it was not typed on the command line."""
    try:
        load_config(folder)
    except ConfigError as error:
        raise RunFolderError(
            f"{folder.config} cannot be used ({error}); restore it from a copy, or use the respawn that wrote it"
        ) from error
