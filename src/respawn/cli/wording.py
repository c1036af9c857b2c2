"""Words that several commands share."""

import shlex
from pathlib import Path

from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status

_LONGEST_CAUSE = 400


def command_for(verb: str, folder: RunFolder, *words: str) -> str:
    """The command that does `verb` to a run, ready to be pasted into the same shell; `words` stand before its name."""
    path = folder.path if folder.path.name not in ("", "..") else folder.path.resolve()
    where = [] if path.parent == Path("runs") else ["--runs", str(path.parent)]
    return shlex.join(["respawn", verb, *words, path.name, *where])


def command_to_go_on(folder: RunFolder, updates: int) -> str:
    """The command that trains a run on; where a limit of the run would end it at once, with a higher one."""
    config = read_json_object(folder.config)
    last = config.get("updates") or config.get("planned_updates") or 0
    command = command_for("resume", folder)
    if updates >= last:
        return f"{command} --updates {2 * max(1, updates)}"
    if read_status(folder).facts.get("goal_reached"):
        return f"{command} --updates {last}"
    return f"{command} --minutes {2 * config['minutes']:g}" if config.get("minutes") else command


def counted(number: int, thing: str) -> str:
    """How many there are of something."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def in_one_line(error: BaseException) -> str:
    """An error as part of a sentence; its kind is named unless it is one of ours and says all by itself."""
    message = " ".join(str(error).split())
    if not type(error).__module__.startswith("respawn."):
        message = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return message if len(message) <= _LONGEST_CAUSE else f"{message[: _LONGEST_CAUSE - 1]}…"
