"""The game itself, for tests that play it; elsewhere the fake console does."""

import pytest

from respawn.errors import RomError
from respawn.worlds.mario.rom import Rom, find_rom


def needed_rom() -> Rom:
    """The ROM; whoever asks is skipped where there is none, with what would have to be done."""
    try:
        return find_rom()
    except RomError as error:
        pytest.skip(f"the game itself is needed: {error}")
