"""What a checkpoint means to its run: on which rung it was made, how full replay was, what resuming from it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from respawn import __version__
from respawn.checkpoints.contents import read_structure, shape_of
from respawn.checkpoints.manifest import Manifest
from respawn.checkpoints.verification import OBSERVERS, look_at_rows
from respawn.errors import CheckpointError, ConfigError, RespawnError, RomError, RunFolderError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import describe_machine, read_meta
from respawn.runs.streams import row_streams
from respawn.training.config import RunConfig, config_sha256
from respawn.training.device import resolve_device, resolve_threads
from respawn.training.memory_ladder import after_steps
from respawn.training.recorded import load_config
from respawn.training.run import LADDER
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.rom import find_rom

_LEARNER = "learner"
_VERSIONS = ("cpu", "torch", "numpy", "gymnasium")
"""What of a machine decides the last digits."""


@dataclass(frozen=True)
class Rung:
    """Where on the memory ladder a checkpoint was made."""

    taken: tuple[str, ...]
    num_lanes: int | None
    """None: the run's settings are not known"""
    horizon_steps: int | None


@dataclass(frozen=True)
class ReplayFill:
    """How much a learner keeps for replay."""

    segments: int
    capacity: int
    steps: int
    """of a segment"""
    pushed_decisions: int
    """so far, those that are forgotten again included"""


@dataclass(frozen=True)
class Need:
    """One thing that resuming from a checkpoint takes."""

    what: str
    said: str
    is_met: bool | None
    """None: that is seen when it is tried"""


def rung_of(path: Path, manifest: Manifest, config: RunConfig | None) -> Rung:
    """The rung that a checkpoint was made on; checkpoints of older versions are on the first."""
    held = f"{LADDER}.json" in manifest.files
    taken = read_structure(path, manifest, LADDER).get("taken", ()) if held else ()
    if config is None:
        return Rung(tuple(taken), None, None)
    sizes = after_steps(replace(config, stepped_down=tuple(taken))).collection
    return Rung(tuple(taken), sizes.num_lanes, sizes.horizon_steps)


def replay_fill_of(path: Path, manifest: Manifest) -> ReplayFill | None:
    """How full replay was; None where nothing is kept for it."""
    replay = read_structure(path, manifest, _LEARNER).get("replay")
    if replay is None:
        return None
    try:
        kept = replay["segments"]
        segments = shape_of(path, manifest, _LEARNER, kept["born"]["$array"])[0]
        return ReplayFill(segments, int(kept["capacity"]), int(kept["num_steps"]), int(replay["pushed_decisions"]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        told = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{_LEARNER}.json does not say what this version keeps for replay ({told})") from error


def needs_of(folder: RunFolder, path: Path, manifest: Manifest) -> list[Need]:
    """What resuming a run from a checkpoint takes, and whether it is there."""
    needs = [_program(manifest)]
    try:
        config = load_config(folder)
    except RunFolderError as error:
        needs.append(Need("settings", str(error), False))
    else:
        needs += [_settings(config, manifest), *_of_world(config), *_of_machine(config)]
    return [*needs, _rows(folder, path, manifest), _same_bits(folder)]


def _program(manifest: Manifest) -> Need:
    wrote = f"{manifest.respawn_version} wrote it, this is {__version__}"
    # Else its manifest could not have been read.
    return Need("program", f"a respawn that reads schema {manifest.schema_version}; {wrote}", True)


def _settings(config: RunConfig, manifest: Manifest) -> Need:
    found = config_sha256(config)
    if found == manifest.config_sha256:
        return Need("settings", f"config.json as it was, {found[:12]}", True)
    return Need("settings", f"config.json as it was, {manifest.config_sha256[:12]}; now it is {found[:12]}", False)


def _of_world(config: RunConfig) -> list[Need]:
    world = config.world
    if isinstance(world, MarioConfig):
        try:
            rom = find_rom(Path(world.rom) if world.rom else None, region=world.region, expect=world.region)
        except RomError as error:
            return [Need("game", str(error), False)]
        return [Need("game", rom.origin, True)]
    if isinstance(world, ForeignConfig):
        imports = f", after importing {', '.join(world.imports)}" if world.imports else ""
        return [Need("environment", f"{world.env_id}, which Gymnasium makes{imports}; not tried", None)]
    return []


def _of_machine(config: RunConfig) -> list[Need]:
    needs = []
    try:
        device = resolve_device(config.device, wants_gpu=config.wants_gpu)
        needs.append(Need("device", str(device), True))
    except ConfigError as error:
        needs.append(Need("device", f"{config.device}: {error}", False))
    try:
        needs.append(Need("threads", str(resolve_threads(config.threads)), True))
    except ConfigError as error:
        needs.append(Need("threads", str(error), False))
    return needs


def _rows(folder: RunFolder, path: Path, manifest: Manifest) -> Need:
    verdict = look_at_rows(path, manifest, row_streams(folder))
    if verdict.state == "unknown":
        return Need("rows", f"there is no part '{OBSERVERS}', which says how long the streams were", False)
    if verdict.problems:
        return Need("rows", "; ".join(verdict.problems), False)
    known = read_structure(path, manifest, OBSERVERS)
    told = ", ".join(
        f"{name} {known[name]['bytes']:,}" for name in row_streams(folder) if known.get(name, {}).get("bytes")
    )
    return Need("rows", f"as they were, in bytes: {told}" if told else "none", True)


def _same_bits(folder: RunFolder) -> Need:
    """What makes a resumed run the same bit by bit; without it, it goes on all the same."""
    try:
        meta = read_meta(folder)
    except RespawnError as error:
        return Need("same bits", str(error), False)
    if meta.exact_resume_note:
        return Need("same bits", f"cannot be had: {meta.exact_resume_note}", False)
    here: Mapping[str, Any] = describe_machine()
    differing = [name for name in _VERSIONS if here[name] != meta.machine.get(name)]
    wanted = ", ".join(f"{name} {meta.machine.get(name)}" for name in _VERSIONS)
    if not differing:
        return Need("same bits", wanted, True)
    return Need("same bits", f"{wanted}; here {', '.join(f'{name} {here[name]}' for name in differing)}", False)
