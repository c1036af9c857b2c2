"""The part of `respawn train` that needs torch: a preset and its options become a run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import RunsDirectory, parse
from respawn.cli.closing import failure_told, tell_closing
from respawn.errors import ConfigError, RomError
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder, default_name
from respawn.training.config import RunConfig
from respawn.training.config_file import with_config_file
from respawn.training.launch import begin
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.rom import find_rom


@dataclass(frozen=True)
class TrainArguments:
    """Train an agent."""

    name: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """what to call the run; none: preset, seed and time"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)


def train(preset: str, words: list[str], config_file: Path | None = None) -> int:
    """Begin a run and train it to its end; returns the exit code."""
    base = find_preset(preset)
    if config_file is not None:
        base = with_config_file(base, config_file)
    arguments = parse(TrainArguments, words, f"respawn train {preset}", TrainArguments(config=base))
    if arguments.name == "":
        raise ConfigError("--name wants a name, and an empty one came; leave it out to have the run named for you")
    _check_region(arguments.config)
    name = arguments.name or default_name(preset, arguments.config.seed, arguments.runs)
    with failure_told(RunFolder(arguments.runs / name)):
        folder, outcome = begin(arguments.config, preset=preset, runs_dir=arguments.runs, name=name)
    return tell_closing(folder, outcome)


def _check_region(config: RunConfig) -> None:
    """Refuse the other region's program with the option that plays it, which no verb but this one has."""
    if not isinstance(config.world, MarioConfig):
        return
    wanted = config.world.region
    rom = find_rom(Path(config.world.rom) if config.world.rom else None, wanted)
    if rom.is_mario and rom.title != wanted:
        raise RomError(
            f"{rom.origin} is the {rom.title.upper()} program of Super Mario Bros., and {wanted.upper()} is wanted; "
            f"play it with --world.region {rom.title}, or name another file with --rom"
        )
