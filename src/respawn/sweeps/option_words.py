"""Settings as options of `respawn train`."""

import shlex
from collections.abc import Mapping
from typing import Any

from respawn.training.config_file import OPEN_TABLES


def option_words(settings: Mapping[str, Any]) -> str | None:
    """Settings by whole names as they are typed; None: some of them have no option, and belong in a file."""
    words: list[str] = []
    for name, value in settings.items():
        if any(name.startswith(f"{table}.") for table in OPEN_TABLES) or not _can_be_typed(value):
            return None
        words += _typed(name, value)
    return shlex.join(words)


def _can_be_typed(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and not any(isinstance(each, dict | list) for each in value)
    return not isinstance(value, dict)


def _typed(name: str, value: Any) -> list[str]:
    room, _, last = name.rpartition(".")
    prefix, option = (f"--{room}." if room else "--").replace("_", "-"), last.replace("_", "-")
    if isinstance(value, bool):
        return [f"{prefix}{option}" if value else f"{prefix}no-{option}"]
    values = value if isinstance(value, list) else ["none" if value is None else value]
    return [f"{prefix}{option}", *(repr(each) if isinstance(each, float) else str(each) for each in values)]
