"""Command-line arguments through tyro, with mistakes answered in one sentence."""

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import tyro

from respawn.cli.options import words_of
from respawn.cli.shown_types import REGISTRY
from respawn.contracts import settings
from respawn.errors import ConfigError, RunFolderError

Parsed = TypeVar("Parsed")

HELP = ("-h", "--help")

RunName: TypeAlias = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
RunsDirectory: TypeAlias = Annotated[Path, tyro.conf.arg(metavar="DIR")]


def parse(kind: type[Parsed], words: Sequence[str], prog: str, default: Any = None) -> Parsed:
    """The arguments in `words`; raises a RespawnError on a mistake, prints and leaves on --help.

    Args:
      kind: A dataclass with a field for each argument.
      words: What was typed after the command.
      prog: The command, as it is typed.
      default: Where the defaults come from, if not from the class; then bools can also be turned off, by `--no-…`.
    """
    # tyro answers --help and --tyro-print-completion by itself; it would also answer mistakes, but in a box of advice.
    if not any(word in HELP or word.startswith("--tyro-") for word in words):
        words_of(prog, kind, default).check(words)
    options: dict[str, Any] = {} if default is None else {"default": default}
    markers = (tyro.conf.AvoidSubcommands, *(() if default is not None else (tyro.conf.FlagCreatePairsOff,)))
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint), REGISTRY:
            parsed: Parsed = tyro.cli(kind, args=list(words), prog=prog, config=markers, **options)
    except SystemExit as leaving:
        if leaving.code in (0, None):
            raise
        raise ConfigError(_one_sentence(complaint.getvalue(), prog)) from None
    _check_runs_directory(getattr(parsed, "runs", None))
    return parsed


def check_at_least(arguments: object, least: Mapping[str, int]) -> None:
    """Refuse numbers that are too small, by the names they have on the command line; None is no number."""
    settings.check_at_least("--", arguments, least)


def _check_runs_directory(path: object) -> None:
    if isinstance(path, Path) and path.exists() and not path.is_dir():
        raise RunFolderError(f"--runs wants a folder, but {path} is a file; name the folder that holds the runs")


def _one_sentence(complaint: str, prog: str) -> str:
    """What tyro says about a mistake that was not foreseen here, taken out of its box."""
    lines = (re.sub(r"[╭╮╰╯│─]+", " ", line).strip() for line in complaint.splitlines()[1:])
    said = " ".join(re.sub(r"\s+", " ", line) for line in lines if line)
    return f"the arguments cannot be read: {said or 'no reason was given'}; see '{prog} --help'"
