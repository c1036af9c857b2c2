"""Dispatch: the first word is a verb, the verb's own file does the rest."""

import importlib
import os
import sys
from collections.abc import Callable, Sequence

from respawn import __version__
from respawn.errors import RespawnError

VERBS = {
    "train": "train an agent from a preset",
    "resume": "go on with a run, exactly where it was left",
    "evaluate": "play episodes with a run's policy and sum them up",
    "runs": "list, show and compare runs",
    "bench": "measure how fast things go here",
    "doctor": "say what this machine has, and what is wrong with it",
}

USAGE = (
    "usage: respawn VERB [...]\n\nA training laboratory for game agents that survives anything.\n\nverbs:\n{verbs}\n\n"
)
USAGE += "'respawn VERB --help' says more. Begin with: respawn train cartpole-ppo"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 done, 1 failed, 2 asked for something that cannot be."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE.format(verbs="\n".join(f"  {verb:<9} {text}" for verb, text in VERBS.items())))
        return 0 if words else 2
    if words[0] == "--version":
        print(f"respawn {__version__}")
        return 0
    if words[0] not in VERBS:
        return _say(f"there is no verb '{words[0]}'; the verbs are: {', '.join(VERBS)}", 2)
    return _guarded(_load(words[0]), words[1:])


def _load(verb: str) -> Callable[[list[str]], int]:
    # Imported only now: torch takes a second to load, and '--help' should not.
    command: Callable[[list[str]], int] = importlib.import_module(f"respawn.cli.{verb}").main
    return command


def _guarded(command: Callable[[list[str]], int], words: list[str]) -> int:
    try:
        return command(words)
    except RespawnError as error:
        return _say(" ".join([str(error), *getattr(error, "__notes__", [])]), error.exit_code)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does; what they wanted they have.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _say(sentence: str, exit_code: int) -> int:
    print(f"respawn: {sentence}", file=sys.stderr)
    return exit_code
