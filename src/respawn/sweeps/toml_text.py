"""Settings as TOML that `respawn train --config` reads: one line for each, by its whole name."""

import json
import re
from collections.abc import Mapping
from typing import Any

from respawn.training.config_file import OPEN_TABLES

_BARE = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def toml_lines(settings: Mapping[str, Any]) -> list[str]:
    """A line `name = value` for each setting; what TOML cannot say, which is that there is none, is left out."""
    return [f"{_key(name)} = {toml_value(value)}" for name, value in settings.items() if value is not None]


def _key(name: str) -> str:
    for table in OPEN_TABLES:  # names in it are not ours, and may be anything
        if name.startswith(f"{table}."):
            return f"{table}.{json.dumps(name.removeprefix(f'{table}.'), ensure_ascii=False)}"
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def toml_value(value: Any) -> str:
    """One value, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        inside = ", ".join(toml_lines(value))
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(toml_value(each) for each in value)}]"
