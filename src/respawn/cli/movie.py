"""respawn movie FILE.fm2."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console as Terminal
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from respawn.cli.arguments import parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.tables import print_facts
from respawn.worlds.mario.fm2 import read_movie
from respawn.worlds.mario.movie import Console, Played, play
from respawn.worlds.mario.rom import Rom, find_rom

_LINES_A_TICK = 256


@dataclass(frozen=True)
class MovieArguments:
    """Play a controller movie (FCEUX, .fm2) from power-on, and say where it got to."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE.fm2")]
    """the movie"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """the game; none: RESPAWN_ROM, the user's config, the ROM composed before in the cache, or one composed now from an
    installed gym-super-mario-bros"""
    interpret: bool = False
    """use no recompiled code"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Play a movie."""
    arguments = parse(MovieArguments, words, "respawn movie")
    movie = read_movie(arguments.file)
    rom = find_rom(arguments.rom)
    console = _open_console(rom, arguments.interpret)
    with _progress(arguments.file.name, len(movie)) as on_frame:
        played = play(movie, console, is_mario=rom.is_mario, on_frame=on_frame)
    if arguments.json:
        print(json.dumps(asdict(played) | {"rom_sha256": rom.sha256}, indent=2))
    else:
        _show(arguments.file.name, rom, played)
    return 0


def _open_console(rom: Rom, interpret: bool) -> Console:
    with engine_must_be_built():
        from respawn.worlds.mario.engine import open_console
    console: Console = open_console(rom, interpret=interpret)
    return console


@contextlib.contextmanager
def _progress(name: str, lines: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal, nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=lines)

        def tick(line: int) -> None:
            if line % _LINES_A_TICK == 0:
                progress.update(task, completed=line)

        yield tick


def _show(name: str, rom: Rom, played: Played) -> None:
    facts: dict[str, Any] = {"frames": f"{played.frames:,}"}
    if rom.is_mario:
        won = f"yes, at frame {played.won_at_frame:,}" if played.won_at_frame is not None else "no"
        facts |= {"level": f"{played.world}-{played.stage}", "lives": str(played.lives), "won": won}
    print_facts(name, facts | {"RAM": f"{played.ram_hash} (SHA-256)", "ROM": rom.origin})
