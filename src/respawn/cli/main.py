"""Dispatch: the first word is a verb, the verb's own file does the rest."""

import contextlib
import difflib
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from respawn import __version__
from respawn.cli.pipes import forget_stdout, open_closed_streams
from respawn.errors import ConfigError, RespawnError

VERBS = {
    "demo": "teach an agent to clear a level of Mario, and film it",
    "train": "train an agent: Mario, or another preset",
    "resume": "go on with a run, exactly where it was left",
    "plan": "train several runs in turn, each with the weights of the last",
    "sweep": "train many runs to find the best settings",
    "evaluate": "play episodes with a run's policy and sum them up",
    "play": "watch a trained policy in the terminal, or in a window",
    "video": "film a trained policy",
    "policy": "show what a policy thinks, step by step, or compare ways to play it",
    "map": "draw where a policy's episodes end on a picture of the level",
    "plot": "draw how a run went: figures, a film and a page, from its folder",
    "runs": "list, show, inspect, sum up, compare and export runs",
    "checkpoint": "look into checkpoints, verify them, mend another system's",
    "movie": "play a controller movie on the console and say where it got to",
    "bench": "measure: bench overlap, engine, world, train, replay",
    "doctor": "say what is wrong with this machine, or: doctor engine, rom, worlds",
}

SPINS = "1000"
"""Times that a thread of torch's looks whether the others are done before it sleeps."""

USAGE = """usage: respawn VERB [...]

A training laboratory for game agents that survives anything.

verbs:
{verbs}

'respawn VERB --help' says more. Begin with: respawn demo"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 done, 1 failed, 2 asked for something that cannot be."""
    open_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and str(Path.cwd()) not in sys.path:
        # As `python -m respawn` does: --world.imports then finds a module that lies in the current folder.
        sys.path.insert(0, str(Path.cwd()))
    try:
        exit_code = _run(words)
        sys.stdout.flush()  # here, where a reader that is gone is no mishap
        return exit_code
    except RespawnError as error:
        return _say(" ".join([str(error), *getattr(error, "__notes__", [])]), error.exit_code)
    except KeyboardInterrupt as error:
        said = " ".join(["interrupted", *getattr(error, "__notes__", [])])
        return _say(said, getattr(error, "exit_code", 128 + signal.SIGINT))
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does; what they wanted they have.
        forget_stdout()
        return 0
    except OSError as error:
        refused = isinstance(error, PermissionError | FileNotFoundError | NotADirectoryError)
        sentence = f"the system refuses: {error}; check that the place exists, is yours and has room"
        return _say(sentence, 2 if refused else 1)
    except Exception as error:  # noqa: BLE001 - the edge of the process, and it is recorded
        traceback.print_exc()
        return _say(f"{type(error).__name__} is no answer to expect from respawn; please report the lines above", 1)


class Terminated(KeyboardInterrupt):
    """What Ctrl-C cleans up after is cleaned up after this as well. A training saves first, by itself."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(number)


def main_and_leave() -> NoReturn:
    """Run the command of this process's own words, and end the process."""
    ending = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else 'nohup' says no
        ending.append(signal.SIGHUP)
    for number in ending:
        signal.signal(number, _terminate)
    exit_code = main()
    # All is said and done: a signal that comes now would only spoil the exit code.
    for number in (signal.SIGINT, *ending):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(exit_code)


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(USAGE.format(verbs="\n".join(f"  {verb:<10} {text}" for verb, text in VERBS.items())))
        return 0 if words else 2
    if words[0] == "--version":
        print(f"respawn {__version__}")
        return 0
    if words[0] not in VERBS:
        close = difflib.get_close_matches(words[0], VERBS, n=1)
        hint = f"did you mean {close[0]}? The" if close else "the"
        raise ConfigError(f"there is no verb '{words[0]}'; {hint} verbs are: {', '.join(VERBS)}")
    # Read when torch is loaded. Its threads would wait for each other at full speed, and where something else is at
    # work on their cores too, that takes many times as long as sleeping: docs/decisions/0012-threads-that-sleep.md.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    # Imported only now: torch takes seconds to load, and '--help' should not.
    command: Callable[[list[str]], int] = importlib.import_module(f"respawn.cli.{words[0]}").main
    return command(words[1:])


def _say(sentence: str, exit_code: int) -> int:
    with contextlib.suppress(OSError):  # a terminal that is closed: the exit code is heard by whoever started this
        print(f"respawn: {' '.join(sentence.split())}", file=sys.stderr)
    return exit_code
