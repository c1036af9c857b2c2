"""A game's program as native code, made on the user's machine at first use.

`ensure_code` is all that others need: it answers with a library that was verified against the interpreter, or with
None and a sentence about why the interpreter must do.
"""

import shutil
import time
from pathlib import Path

import filelock

from respawn.worlds.mario import _engine
from respawn.worlds.mario.recompiler.cache import CacheError, Slot, headers_folder
from respawn.worlds.mario.recompiler.compiler import TIMEOUT_SECONDS, CompilerError, find_compiler
from respawn.worlds.mario.recompiler.generate import generate
from respawn.worlds.mario.recompiler.progress import Say, Teller, say_on_stderr
from respawn.worlds.mario.recompiler.verify import UntrustedCodeError, verify

__all__ = ["ensure_code", "say_on_stderr"]


def ensure_code(cartridge: _engine.Cartridge, ines: bytes, *, say: Say = say_on_stderr) -> Path | None:
    """The cartridge's program as a verified library; compiles it if this machine has not done so yet.

    Args:
      cartridge: The game.
      ines: The file it was read from.
      say: Gets each sentence for the user. On a terminal, work in progress is shown as a live line instead.
    """
    teller = Teller(say)
    slot = Slot.of(cartridge.program)
    try:
        return slot.read() or _make_alone(cartridge, ines, slot, teller)
    except (CompilerError, UntrustedCodeError, CacheError) as error:
        reason = str(error)
    except filelock.Timeout:
        reason = f"another process has been compiling for {2 * TIMEOUT_SECONDS // 60} minutes; look what became of it"
    except OSError as error:
        reason = (
            f"the cache folder {slot.folder.parent} cannot be written ({error.strerror or error}); "
            "set XDG_CACHE_HOME to one that can"
        )
    teller.say(f"the game's program is interpreted, several times slower than compiled: {reason}")
    return None


def _make_alone(cartridge: _engine.Cartridge, ines: bytes, slot: Slot, teller: Teller) -> Path:
    lock = slot.lock()
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        with teller.working("another process is compiling a game; waiting for it"):
            lock.acquire(timeout=2 * TIMEOUT_SECONDS)
    try:
        # Whoever held the lock may have done the work.
        return slot.read() or _make(cartridge, ines, slot, teller)
    finally:
        lock.release()


def _make(cartridge: _engine.Cartridge, ines: bytes, slot: Slot, teller: Teller) -> Path:
    compiler = find_compiler()
    began = time.monotonic()
    workshop = slot.workshop()
    try:
        with teller.working("compiling the game's program, once; it takes 10 to 40 s"):
            source, library = workshop / "code.cpp", workshop / "code.so"
            source.write_text(generate(cartridge))
            compiler.compile(source, library, headers_folder())
            frames = verify(ines, library)
        seconds = time.monotonic() - began
        kept = slot.keep(
            workshop, {"compiler": compiler.version, "verified_frames": frames, "seconds": round(seconds, 1)}
        )
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    teller.say(f"compiled in {seconds:.0f} s and found equal to the interpreter over {frames:,} frames")
    return kept
