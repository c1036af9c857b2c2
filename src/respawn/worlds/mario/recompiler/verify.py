"""Whether compiled code does what the interpreter does, to the last bit of a console's state."""

from pathlib import Path

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.generate import probing_buttons

FRAMES = 1_500
SEEDS = (1, 2)


class UntrustedCodeError(Exception):
    """Compiled code cannot be used or went another way; the message is one clause that says why or where."""


def verify(ines: bytes, library: Path, *, frames: int = FRAMES, seeds: tuple[int, ...] = SEEDS) -> int:
    """Play the same buttons with and without the code; answers how many frames were equal."""
    interpreted = _engine.Cartridge(ines)
    compiled = _engine.Cartridge(ines)
    try:
        compiled.load_code(str(library))
    except ValueError as error:  # such as from a disk that programs may not run from
        raise UntrustedCodeError(f"what the compiler made does not load ({error})") from None
    for seed in seeds:
        expected, found = _engine.Console(interpreted), _engine.Console(compiled)
        for frame, buttons in enumerate(probing_buttons(frames, seed)):
            expected.frame(buttons)
            found.frame(buttons)
            if expected.save() != found.save():
                fields = found.fields()
                other = [name for name, value in expected.fields().items() if fields[name] != value]
                raise UntrustedCodeError(
                    f"it differs from the interpreter in frame {frame} of seed {seed}: {', '.join(other)}"
                )
    return frames * len(seeds)
