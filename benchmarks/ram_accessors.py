"""Which way of reading nes-py's memory lets gym-super-mario-bros be made under this NumPy, and why do others not?

Four ways, each in a single process without workers, locks or threads of anyone else's: as it comes; with only the ROM's
header read wide; with the header wide and the memory copied to int64 once, which is what the reference system did when
all of its 40 trials with workers timed out; and with the live memory read wide, as in gym_super_mario_bros_shim.py.

One that does not come up in time is asked for its stack, its frames are counted, and the console's own clock is
compared with the one that the environment sees.
"""

import argparse
import contextlib
import faulthandler
import io
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from harness import keep, show
from live_ram import WidenedRam

FORMS = {
    "as it comes": "nothing is changed",
    "header wide": "the ROM's header is read wide, the memory as it comes",
    "frozen copy": "the header is read wide, the memory is copied to int64 once",
    "live and wide": "the header is read wide, and so is each read of the live memory",
}
CLOCK = slice(0x07F8, 0x07FB)
STEPS = 1_000
STACK_LINES = 12


def environment(form: str) -> tuple[type[Any], dict[str, Any]]:
    """The class with its memory read in this way, and a place where it leaves what it has made."""
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from gym_super_mario_bros import SuperMarioBrosEnv
        from nes_py._rom import ROM
    seen: dict[str, Any] = {"frames": 0}

    class Console(SuperMarioBrosEnv):  # type: ignore[misc, unused-ignore]
        def _ram_buffer(self) -> Any:
            live = super()._ram_buffer()
            read = {"frozen copy": lambda: live.astype(np.int64), "live and wide": lambda: WidenedRam(live)}
            seen["live"], seen["read"] = live, read.get(form, lambda: live)()
            return seen["read"]

        def _frame_advance(self, action: int) -> None:
            seen["frames"] += 1
            super()._frame_advance(action)

    if form != "as it comes":
        ROM.header = property(lambda rom: rom.raw_data[:16].astype(int))
    return Console, seen


def attempt(form: str, limit_seconds: float, result: Path) -> None:
    """In a process of its own: make the environment and step it; whatever becomes of it stands in a file."""
    console, seen = environment(form)
    began = time.perf_counter()

    def give_up() -> None:
        with tempfile.TemporaryFile("w+") as stacks:
            faulthandler.dump_traceback(stacks, all_threads=True)
            stacks.seek(0)
            stack = stacks.read()
        clocks = {"clock of the console": digits(seen["live"]), "clock that is read": digits(seen["read"])}
        told = {"outcome": "hangs", "frames": seen["frames"], **clocks, "stack": main_thread(stack)}
        result.write_text(json.dumps(told))

    alarm = threading.Timer(limit_seconds, give_up)
    alarm.daemon = True
    alarm.start()
    try:
        env = console(target=(1, 1))
        alarm.cancel()
        made = time.perf_counter() - began
        env.reset()
        furthest = 0
        for _ in range(STEPS):
            _, _, done, info = env.step(0x82)  # right and B
            furthest = max(furthest, int(info["x_pos"]))
            if done:
                env.reset()
        told = {"outcome": "works", "made in seconds": made, "steps": STEPS, "furthest x": furthest}
    except (OverflowError, ValueError) as problem:
        alarm.cancel()
        at = problem.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = "" if at is None else f"{Path(at.tb_frame.f_code.co_filename).name}, {at.tb_frame.f_code.co_name}"
        told = {"outcome": "raises", "error": f"{type(problem).__name__}: {problem}", "where": where}
    result.write_text(json.dumps({**told, "frames": seen["frames"]}))


def digits(memory: Any) -> list[int]:
    return [int(digit) for digit in memory[CLOCK]]


def main_thread(stack: str) -> list[str]:
    """Where the process stands that makes the environment, innermost first, without the folders of this machine."""
    own = stack.split("\n\n")[-1].splitlines()[1:]
    return [line.strip().replace(line.split('"')[1], Path(line.split('"')[1]).name) for line in own if '"' in line][
        :STACK_LINES
    ]


def try_form(form: str, limit_seconds: float) -> dict[str, Any]:
    """One form in a child that is ended when its time is up."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        words = [sys.executable, __file__, "--form", form, "--seconds", str(limit_seconds), "--result", str(result)]
        child = subprocess.Popen(words)
        deadline = time.monotonic() + limit_seconds + 60  # imports, and a thousand steps
        try:
            while child.poll() is None and not result.exists() and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(0.5)  # the file is small: whoever began it is done now
        finally:
            child.kill()
            child.wait()
        found: dict[str, Any] = json.loads(result.read_text())
    return {"what": FORMS[form], **found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a constructor may take")
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.form is not None:
        attempt(arguments.form, arguments.seconds, arguments.result)
        return 0
    forms = {form: try_form(form, arguments.seconds) for form in FORMS}
    rows = [
        [form, found["outcome"], found["frames"], found.get("error") or "\n".join(found.get("stack", [])[:3])]
        for form, found in forms.items()
    ]
    show(f"gym-super-mario-bros under NumPy {np.__version__}", ["memory", "it", "frames", "because"], rows)
    versions = {name: version(name) for name in ("numpy", "gym-super-mario-bros", "nes-py")}
    results = {"limit_seconds": arguments.seconds, "versions": versions, "forms": forms}
    keep("ram_accessors", "which way of reading nes-py's memory lets the environment be made?", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
