"""From a cartridge to C++: the rooms of this package, one after the other."""

import random
from collections.abc import Iterator

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.checks import Checks
from respawn.worlds.mario.recompiler.emit import Emitter
from respawn.worlds.mario.recompiler.program import PROGRAM_START, Program
from respawn.worlds.mario.recompiler.walk import Walk

PROBE_FRAMES = 1_200
START_BUTTON = 0x08


def probing_buttons(frames: int, seed: int) -> bytes:
    """Random play that also gets past a title screen: each choice is held for a while, Start is tapped now and then."""
    chance = random.Random(seed)
    buttons = bytearray()
    while len(buttons) < frames:
        held = chance.randrange(256) & ~START_BUTTON
        if chance.random() < 0.2 or len(buttons) < 300:
            buttons += bytes([START_BUTTON] * 4)
        buttons += bytes([held] * chance.randrange(4, 40))
    return bytes(buttons[:frames])


def executed_addresses(cartridge: _engine.Cartridge) -> Iterator[int]:
    """Where the program was seen to run: finds what is only reached through computed jumps."""
    seen = _engine.Console(cartridge).coverage(probing_buttons(PROBE_FRAMES, seed=0))
    return (PROGRAM_START + offset for offset, executed in enumerate(seen) if executed)


def generate(cartridge: _engine.Cartridge) -> str:
    """The program of a cartridge as C++."""
    program = Program(cartridge.program, _engine.opcode_table())
    checks = Checks(Walk(program, executed_addresses(cartridge)))
    return Emitter(program, checks, set(cartridge.idle_heads), cartridge.program_hash).source()
