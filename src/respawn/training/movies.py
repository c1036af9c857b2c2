"""Our own episodes as controller movies."""

from pathlib import Path

from respawn.errors import MovieError
from respawn.evaluation.out_files import prepare_place
from respawn.training.config import RunConfig
from respawn.training.film import Take
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.movie import Played
from respawn.worlds.mario.rom import find_rom


def check_movie(path: Path, config: RunConfig) -> MarioConfig:
    """Refuse what no movie can be written of, before anything is played for it; answers the world that it is of."""
    from respawn.worlds.mario.recording import check_recordable

    if not isinstance(config.world, MarioConfig):
        raise MovieError("a controller movie can be written of Mario only, and this policy plays another world")
    if config.world.region != "ntsc":
        raise MovieError(
            "a controller movie says for which console it is, and ours runs PAL's program at NTSC's speed, which no "
            "other does; play with --world.region ntsc"
        )
    check_recordable(path, config.world.levels)
    prepare_place(path, "--movie")
    return config.world


def write_take(path: Path, config: RunConfig, take: Take, about: str) -> Played:
    """Write an episode that was filmed as a movie, and play it from power-on; see `recording.record`."""
    from respawn.worlds.mario.recording import record

    world = check_movie(path, config)
    rom = find_rom(Path(world.rom) if world.rom else None, region=world.region, expect=world.region)
    return record(path, rom, take.waited_frames, take.held, about)
