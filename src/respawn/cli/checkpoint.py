"""respawn checkpoint inspect|verify|migrate."""

import importlib
from collections.abc import Callable

from respawn.cli.arguments import HELP
from respawn.errors import ConfigError

COMMANDS = ("inspect", "verify", "migrate")

USAGE = """usage: respawn checkpoint {inspect,verify,migrate} [...]

  inspect RUN[@NAME]  what is in a checkpoint, and what resuming it takes
  verify RUN          whether every file of a run's checkpoints is whole
  migrate FOLDER      mend step counts of 0 in metadata files of the A3C
                      system that this one replaces (a3c_world1_stage1_….json)

A checkpoint can also be named by the path of its folder.
'respawn checkpoint inspect --help' and so on say more."""


def main(words: list[str]) -> int:
    """Look at checkpoints, or mend what describes them."""
    if words and words[0] in HELP:
        print(USAGE)
        return 0
    if not words or words[0] not in COMMANDS:
        came = f"not '{words[0]}'" if words else "and nothing came"
        raise ConfigError(
            f"'respawn checkpoint' wants one of {', '.join(COMMANDS)}, {came}; see 'respawn checkpoint --help'"
        )
    command: Callable[[list[str]], int] = importlib.import_module(f"respawn.cli.checkpoint_{words[0]}").main
    return command(words[1:])
