"""A run's settings from a TOML file: what it says replaces what a preset says, and everything else stays."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError
from respawn.schedules.start_files import shipped_start_files
from respawn.training.config import RunConfig, config_from_json, config_to_json

PRESET = "preset"
"""The one key that is not a setting: which preset the file goes by."""


def read_config_file(path: Path) -> dict[str, Any]:
    """The file as nested data; raises ConfigError where it cannot be read."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--config wants a TOML file, and {path} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"--config wants a TOML file, and {path} is none: {error}") from None
    preset = said.get(PRESET)
    if preset is not None and not isinstance(preset, str):
        raise ConfigError(f"{path}: preset should be the name of a preset, and is {preset!r}")
    return said


def with_config_file(config: RunConfig, path: Path) -> RunConfig:
    """The same run with what a file says; paths in it are taken from the file's folder."""
    said = {name: value for name, value in read_config_file(path).items() if name != PRESET}
    base = config_to_json(config)
    try:
        return config_from_json(_merged(base, _with_whole_paths(said, path.parent)))
    except ConfigError as error:
        told = str(error).removeprefix("config.json does not fit this version of respawn: ")
        raise ConfigError(f"{path} does not describe a run: {told}") from error


def _merged(base: Mapping[str, Any], said: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    merged = dict(base)
    for name, value in said.items():
        if name not in base:
            close = difflib.get_close_matches(name, base, n=1)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"there are: {', '.join(base)}"
            raise ConfigError(f"there is no setting {prefix}{name}; {hint}")
        below = base[name]
        if isinstance(below, dict) and isinstance(value, dict):
            merged[name] = _merged(below, value, f"{prefix}{name}.")
        else:
            _check_kind(f"{prefix}{name}", below, value)
            merged[name] = value
    return merged


def _check_kind(name: str, before: Any, value: Any) -> None:
    """Refuse a word where a number belongs, and the like, before the whole is refused with less to say."""
    kinds = {bool: "true or false", str: "a word", int: "a number", float: "a number", list: "a list", dict: "a table"}
    wanted = kinds.get(type(before))
    came = kinds.get(type(value))
    if wanted is not None and came is not None and wanted != came:
        raise ConfigError(f"{name} wants {wanted}, and {value!r} came")


def _with_whole_paths(said: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Files of starts by paths that hold from anywhere, so that a run can be resumed from another folder."""
    whole = dict(said)
    for name, value in said.items():
        if isinstance(value, dict):
            whole[name] = _with_whole_paths(value, folder)
        elif name == "stages" and isinstance(value, list):
            whole[name] = [_with_whole_file(stage, folder) for stage in value]
    return whole


def _with_whole_file(stage: Any, folder: Path) -> Any:
    file = stage.get("file") if isinstance(stage, dict) else None
    if not isinstance(file, str) or file in shipped_start_files():
        return stage
    return {**stage, "file": str((folder / Path(file).expanduser()).absolute())}
