"""Which trainings a bench measures: presets, with the settings that follow `--`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from respawn.cli.arguments import parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.train import with_whole_rom_option
from respawn.errors import ConfigError
from respawn.presets import find_preset

if TYPE_CHECKING:
    from respawn.training.config import RunConfig


DECIDED: Mapping[str, str] = {
    "--device": "give --device before the --",
    "--updates": "leave it out",
    "--minutes": "leave it out",
    "--collection.num-lanes": "give --lanes before the --",
    "--collection.horizon-steps": "give --horizon before the --",
    "--weights-from": "leave it out, for every training begins with fresh weights",
    "--evaluation.": "leave it out, for nothing is judged",
    "--checkpoints.": "leave it out, for nothing is saved",
}
"""Settings of a training that every bench decides itself, and what to do instead; with a dot at the end: a room's."""


def split_settings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of the bench, and those after `--`, which are a training's."""
    words = list(words)
    if "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def trained(
    preset: str,
    settings: Sequence[str],
    *,
    device: str,
    threads: int | None = None,
    decided: Mapping[str, str] = DECIDED,
) -> "RunConfig":
    """The configuration of a preset with other settings, refused at once where it could not be trained here.

    Args:
      preset: its name.
      settings: as `respawn train` takes them.
      device: where to compute.
      threads: that torch computes with; None: as the preset has it.
      decided: settings that would have no effect, and what to do instead.
    """
    _refuse(settings, decided)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.config import RunConfig
    from respawn.training.device import resolve_device, resolve_threads
    from respawn.worlds.mario.config import MarioConfig

    config = find_preset(preset)
    if settings:
        config = parse(RunConfig, with_whole_rom_option(list(settings)), f"respawn train {preset}", config)
    config = replace(config, device=device, threads=resolve_threads(config.threads if threads is None else threads))
    resolve_device(config.device, wants_gpu=config.wants_gpu)  # refused once, not once a row
    if isinstance(config.world, MarioConfig):
        with engine_must_be_built():
            from respawn.worlds.mario.rom import find_rom

        find_rom(Path(config.world.rom) if config.world.rom else None, config.world.region)
    return config


def _refuse(settings: Sequence[str], decided: Mapping[str, str]) -> None:
    """Refuse settings that would have no effect."""
    for word in settings:
        option = word.partition("=")[0].replace("_", "-")
        setting = option.replace("--no-", "--").replace(".no-", ".")
        for name, instead in decided.items():
            if setting == name or (name.endswith(".") and setting.startswith(name)):
                raise ConfigError(f"{option} is decided by the bench, and would have no effect after --; {instead}")
