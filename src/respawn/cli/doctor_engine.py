"""respawn doctor engine."""

import contextlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.markup import escape

from respawn.cli.arguments import parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, print_facts
from respawn.contracts.settings import check_above
from respawn.worlds.mario.rom import Rom, find_rom

if TYPE_CHECKING:
    from respawn.worlds.mario.engine import Cartridge


@dataclass(frozen=True)
class DoctorEngineArguments:
    """Say how the NES engine runs here, and check its fast ways against slow ones.

    The exit code is 1 if anything differs. An interpreted game is only slow.
    """

    rom: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the game; none: RESPAWN_ROM, the user's config, the ROM composed before in the cache, or one composed now from an
    installed gym-super-mario-bros"""
    seconds: float = 10.0
    """how long to check"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Examine the engine."""
    arguments = parse(DoctorEngineArguments, words, "respawn doctor engine")
    check_above("--", arguments, {"seconds": 0})
    rom = find_rom(arguments.rom)
    with engine_must_be_built():
        from respawn.worlds.mario import self_check
    cartridge, facts = examine(rom)
    with progress_bar() as tell:
        checks = self_check.check_engine(cartridge, arguments.seconds, tell)
    problems = [f"{check.name}: {check.difference}" for check in checks if check.difference is not None]
    found = {
        **facts,
        "checks": [asdict(check) for check in checks],
        "frames_checked": sum(check.frames for check in checks),
        "problems": problems,
    }
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        _show(found)
    return 1 if problems else 0


def examine(rom: Rom) -> "tuple[Cartridge, dict[str, Any]]":
    """The game, recompiled if that is possible, and how the engine runs it; plain data."""
    from respawn.worlds.mario import _engine
    from respawn.worlds.mario.engine import engine_version, open_cartridge, simd_path, simd_paths
    from respawn.worlds.mario.recompiler import ensure_code, say_on_stderr

    said: list[str] = []

    def say(sentence: str) -> None:
        said.append(sentence)
        say_on_stderr(sentence)

    cartridge = open_cartridge(rom, interpret=True)
    library = ensure_code(cartridge, rom.data, say=say)
    if library is not None:
        try:
            cartridge.load_code(str(library))
        except ValueError as error:
            said.append(str(error))
    folder, size = _code_cache()
    return cartridge, {
        "engine": engine_version(),
        "module": _engine.__file__,
        "module_compiler": _compiler_of(Path(_engine.__file__)),
        "simd_path": simd_path(),
        "simd_paths": simd_paths(),
        "recompiled": cartridge.recompiled,
        "interpreted_because": None if cartridge.recompiled else said[-1],
        "code": None if library is None else str(library),
        "code_made": None if library is None else _record_of(library),
        "cache": str(folder),
        "cache_bytes": size,
        "rom": rom.origin,
        "rom_sha256": rom.sha256,
        "rom_title": rom.title,
    }


def _code_cache() -> tuple[Path, int]:
    """Where compiled code is kept, and how much there is."""
    from respawn.worlds.mario.files import user_cache_folder

    folder = user_cache_folder() / "code"
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # another process may be tidying up
            size += path.stat().st_size if path.is_file() else 0
    return folder, size


def _record_of(library: Path) -> dict[str, Any]:
    """How the code was made, as the recompiler noted it."""
    try:
        record = json.loads(library.with_suffix(".json").read_text())
    except (OSError, ValueError):
        return {}
    return {name: record.get(name) for name in ("compiler", "verified_frames", "seconds")}


def _compiler_of(module: Path) -> str | None:
    """What the module was compiled with: compilers leave their names in what they make."""
    named = re.search(rb"(GCC: \([^)\n]{1,80}\) [\d.]+|clang version [\d.]+)", module.read_bytes())
    return named[1].decode() if named else None


def _show(found: dict[str, Any]) -> None:
    usable = ", ".join(found["simd_paths"])
    compiled = found["code_made"] or {}
    print_facts(
        f"NES engine {found['engine']}",
        {
            "built by": found["module_compiler"] or "a compiler that left no name",
            "pictures": f"{found['simd_path']} (usable: {usable})",
            "game": "recompiled" if found["recompiled"] else "interpreted",
            "compiled by": compiled.get("compiler") or "",
            "cache": f"{found['cache']} ({found['cache_bytes'] / 2**20:.1f} MiB)",
            "ROM": f"{found['rom']} ({_title(found['rom_title'])})",
            "SHA-256": found["rom_sha256"],
            **{check["name"]: _verdict(check) for check in found["checks"]},
        },
    )
    target = console()
    for problem in found["problems"]:
        target.print(f"[bold red]problem[/]: {escape(problem)}")
    if not found["recompiled"]:
        target.print(f"[yellow]warning[/]: {escape(str(found['interpreted_because']))}")
    if not found["problems"]:
        target.print(f"[green]nothing differs[/] in {found['frames_checked']:,} frames")


def _title(title: str) -> str:
    return "neither known Super Mario Bros." if title == "other" else f"Super Mario Bros., {title.upper()}"


def _verdict(check: dict[str, Any]) -> str:
    if check["difference"] is None:
        return f"the same over {check['frames']:,} frames"
    return f"differ after {check['frames']:,} frames"
