"""A game's program as native code, made on the user's machine at first use.

`ensure_code` is all that others need: it answers with a library that was verified against the interpreter, or with
None and a sentence about why the interpreter must do.
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import filelock

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.cache import Slot, headers_folder
from respawn.worlds.mario.recompiler.compiler import Compiler, CompilerError, find_compiler
from respawn.worlds.mario.recompiler.generate import generate
from respawn.worlds.mario.recompiler.verify import CodeDiffersError, verify

__all__ = ["ensure_code"]

Say = Callable[[str], None]


def say_on_stderr(sentence: str) -> None:
    """One line, where it disturbs no output that a program reads."""
    print(f"respawn: {sentence}", file=sys.stderr, flush=True)


def ensure_code(cartridge: _engine.Cartridge, ines: bytes, *, say: Say = say_on_stderr) -> Path | None:
    """The cartridge's program as a verified library; compiles it if this machine has not done so yet."""
    try:
        compiler = find_compiler()
        slot = Slot.of(cartridge.program_hash, compiler)
        ready = slot.read()
        if ready is not None:
            return ready
        lock = slot.lock()
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            say("another process is compiling the game's program; waiting for it")
            lock.acquire()
        try:
            # Whoever held the lock may have done the work.
            return slot.read() or _make(cartridge, ines, slot, compiler, say)
        finally:
            lock.release()
    except (CompilerError, CodeDiffersError, OSError) as error:
        say(f"the game's program is interpreted, at about a fifth of the speed: {error}")
        return None


def _make(cartridge: _engine.Cartridge, ines: bytes, slot: Slot, compiler: Compiler, say: Say) -> Path:
    began = time.monotonic()
    say("compiling the game's program to native code, once; it takes 10 to 40 seconds")
    workshop = slot.workshop()
    try:
        source, library = workshop / "code.cpp", workshop / "code.so"
        source.write_text(generate(cartridge))
        compiler.compile(source, library, headers_folder())
        frames = verify(ines, library)
        seconds = time.monotonic() - began
        kept = slot.keep(
            workshop, {"compiler": compiler.version, "verified_frames": frames, "seconds": round(seconds, 1)}
        )
        say(f"compiled in {seconds:.0f} s and found equal to the interpreter over {frames:,} frames")
        return kept
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
