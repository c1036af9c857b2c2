"""How a new run begins with the weights of one that cannot be resumed."""

from respawn.cli.wording import command_for
from respawn.errors import RespawnError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta


def words_to_begin_anew(folder: RunFolder) -> str:
    """The command, and what else it must be given; empty where it would be refused too."""
    # Imported only now: torch takes seconds to load.
    from respawn.presets import find_preset
    from respawn.training.trained import load_run

    try:
        preset = read_meta(folder).preset
        usual, own = find_preset(preset), load_run(folder).config
    except RespawnError:
        return ""
    command = command_for("train", folder, preset, "--weights-from")
    fits = (usual.world, usual.model) == (own.world, own.model)
    return command if fits else f"{command} and the --world and --model settings that it has"
