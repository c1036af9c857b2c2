"""Command-line arguments through tyro, with mistakes answered in one sentence."""

import contextlib
import io
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeAlias, TypeVar

import tyro

from respawn.cli.options import CommandWords, words_of
from respawn.cli.shown_types import REGISTRY
from respawn.contracts import settings
from respawn.errors import ConfigError, RunFolderError

Parsed = TypeVar("Parsed")

HELP = ("-h", "--help")

_CODES = re.compile(r"\x1b\[[0-9;]*m")
"""What colours a terminal."""
_NUMBERS = {int: "a whole number", float: "a number"}

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
        known = words_of(prog, kind, default)
        known.check(words)
        _check_numbers_without_option(known, words)
    options: dict[str, Any] = {} if default is None else {"default": default}
    markers = (tyro.conf.AvoidSubcommands, *(() if default is not None else (tyro.conf.FlagCreatePairsOff,)))
    complaint, page = io.StringIO(), _Page(sys.stdout)
    try:
        with contextlib.redirect_stderr(complaint), contextlib.redirect_stdout(page), REGISTRY:
            parsed: Parsed = tyro.cli(kind, args=list(words), prog=prog, config=markers, **options)
    except SystemExit as leaving:
        if leaving.code in (0, None):
            print(_folded(page.getvalue()), end="")
            raise
        raise ConfigError(_one_sentence(complaint.getvalue(), prog)) from None
    _check_runs_directory(getattr(parsed, "runs", None))
    return parsed


def check_at_least(arguments: object, least: Mapping[str, int]) -> None:
    """Refuse numbers that are too small, by the names they have on the command line; None is no number."""
    settings.check_at_least("--", arguments, least)


def _check_numbers_without_option(known: CommandWords, words: Sequence[str]) -> None:
    loose = [words[place] for place in known.loose_places(words)]
    for positional, word in zip(known.positionals, loose, strict=False):
        wanted = _NUMBERS.get(positional.kind)
        if wanted is None:
            continue
        try:
            positional.kind(word)
        except ValueError:
            raise ConfigError(
                f"{positional.name} wants {wanted}, but '{word}' came; see '{known.command} --help'"
            ) from None


def _check_runs_directory(path: object) -> None:
    if isinstance(path, Path) and path.exists() and not path.is_dir():
        raise RunFolderError(f"--runs wants a folder, but {path} is a file; name the folder that holds the runs")


def _one_sentence(complaint: str, prog: str) -> str:
    """What tyro says about a mistake that was not foreseen here, taken out of its box."""
    lines = (re.sub(r"[╭╮╰╯│─]+", " ", line).strip() for line in complaint.splitlines()[1:])
    said = " ".join(re.sub(r"\s+", " ", line) for line in lines if line)
    return f"the arguments cannot be read: {said or 'no reason was given'}; see '{prog} --help'"


class _Page(io.StringIO):
    """What tyro prints, in colours where it would be shown in colours."""

    def __init__(self, shown_on: TextIO) -> None:
        super().__init__()
        self._shown_on = shown_on

    def isatty(self) -> bool:
        """Whether it will be shown in a terminal."""
        return self._shown_on.isatty()


def _folded(page: str) -> str:
    """The same with a usage that fits the terminal: tyro writes it into one line, however long it becomes."""
    usage, end, rest = page.partition("\n")
    columns = shutil.get_terminal_size().columns
    if "usage:" not in usage or len(_CODES.sub("", usage)) <= columns:
        return page
    # An option and its value stay together.
    lines = textwrap.wrap(
        re.sub(r"(?<=\w) (?=[^\[\]]*\])", "\0", usage), columns, subsequent_indent="  ", break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ") + end + rest
