"""Command-line arguments through tyro, with mistakes answered in one sentence."""

import contextlib
import io
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import tyro

from respawn.errors import ConfigError

Parsed = TypeVar("Parsed")


def parse(kind: type[Parsed], words: Sequence[str], prog: str, default: Any = None) -> Parsed:
    """The arguments in `words`; raises ConfigError on a mistake, prints and leaves on --help."""
    complaint = io.StringIO()
    options: dict[str, Any] = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(complaint):
            parsed: Parsed = tyro.cli(
                kind, args=list(words), prog=prog, config=(tyro.conf.AvoidSubcommands,), **options
            )
            return parsed
    except SystemExit as leaving:
        if leaving.code in (0, None):
            raise
        raise ConfigError(_one_sentence(complaint.getvalue())) from None


def _one_sentence(complaint: str) -> str:
    """The box of advice that tyro prints, as one line of text."""
    lines = (re.sub(r"[╭╮╰╯│─]+", " ", line).strip() for line in complaint.splitlines()[1:])
    return " ".join(re.sub(r"\s+", " ", line) for line in lines if line) or "the arguments cannot be read; see --help"
