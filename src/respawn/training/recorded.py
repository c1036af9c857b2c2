"""The configuration that a run folder holds."""

from respawn.errors import ConfigError, RunFolderError
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig, config_from_json, unsaid_settings


def load_config(folder: RunFolder) -> RunConfig:
    """The configuration that a run folder holds; raises RunFolderError naming the file where it cannot be used."""
    said = read_json_object(folder.config)
    try:
        config = config_from_json(said)
        # A default of today's may be another rule than the one that the run was made by.
        unsaid = unsaid_settings(config, said)
        if unsaid:
            raise ConfigError(f"it does not say {', '.join(unsaid)}, of which the respawn that wrote it did not know")
    except ConfigError as error:  # not typed on the command line
        raise RunFolderError(
            f"{folder.config} cannot be used ({error}); restore it from a copy, or use the respawn that wrote it"
        ) from error
    return config
