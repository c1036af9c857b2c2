"""A run's settings from a TOML file: what it says replaces what a preset says, and everything else stays."""

import difflib
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError
from respawn.schedules.start_files import shipped_start_files
from respawn.training.config import RunConfig, config_from_json, config_to_json

PRESET = "preset"
"""The one key that is not a setting: which preset the file goes by."""
STAGES = "stages"
"""The key that only plans have, which are several runs."""
OPEN_TABLES = frozenset({"world.env_kwargs"})
"""Tables whose names are not ours."""


def read_config_file(path: Path, wanted_by: str = "--config") -> dict[str, Any]:
    """The file as nested data; raises ConfigError where it cannot be read.

    Args:
      path: of the file.
      wanted_by: what asks for it.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{wanted_by} wants a TOML file, and {path} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{wanted_by} wants a TOML file, and {path} is none: {error}") from None
    preset = said.get(PRESET)
    if preset is not None and not isinstance(preset, str):
        raise ConfigError(f"{path}: preset should be the name of a preset, and is {preset!r}")
    return said


def with_config_file(config: RunConfig, path: Path) -> RunConfig:
    """The same run with what a file says; paths in it are taken from the file's folder."""
    said = {name: value for name, value in read_config_file(path).items() if name != PRESET}
    if STAGES in said:
        command = f"respawn plan {shlex.quote(str(path))}"
        raise ConfigError(f"{path} is a plan of several stages, and --config wants one run; try: {command}")
    try:
        return with_settings(config, said, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{path} does not describe a run: {error}") from error


def with_settings(config: RunConfig, said: Mapping[str, Any], folder: Path) -> RunConfig:
    """The same run with other settings where they are said; raises ConfigError naming what does not fit.

    Args:
      config: the run.
      said: settings as nested data.
      folder: that paths are taken from.
    """
    whole = merged(config_to_json(config), _with_whole_paths(said, folder))
    try:
        return config_from_json(whole)
    except ConfigError as error:
        raise ConfigError(str(error).removeprefix("config.json does not fit this version of respawn: ")) from error


def merged(base: Mapping[str, Any], said: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings with others laid over them; raises ConfigError for one that there is not, or of another kind."""
    whole = dict(base)
    for name, value in said.items():
        if name not in base:
            close = difflib.get_close_matches(name, base, n=1)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"there are: {', '.join(base)}"
            raise ConfigError(f"there is no setting {prefix}{name}; {hint}")
        below = base[name]
        if f"{prefix}{name}" in OPEN_TABLES and isinstance(value, dict):
            whole[name] = {**below, **value}
        elif isinstance(below, dict) and isinstance(value, dict):
            whole[name] = merged(below, value, f"{prefix}{name}.")
        else:
            _check_kind(f"{prefix}{name}", below, value)
            whole[name] = value
    return whole


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
