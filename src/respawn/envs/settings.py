"""From the arguments of `gymnasium.make` to a configuration: what all environments refuse in the same words."""

import difflib
from collections.abc import Iterable
from typing import Any, Literal, TypeVar, get_args, get_origin

import dacite
import numpy as np

from respawn.errors import ConfigError

Config = TypeVar("Config")


def check_names(env: str, what: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Refuse a name that there is not, and point to the one that was meant."""
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise ConfigError(f"{env} knows no {what} '{name}'; {hint}")


def make_config(env: str, kind: type[Config], given: dict[str, Any]) -> Config:
    """A config of this kind; lists stand for tuples, whole numbers for numbers, dicts for configs within it."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    try:
        return dacite.from_dict(
            kind,
            plain,
            dacite.Config(strict=True, type_hooks={float: _as_float}, cast=[tuple]),
        )
    except dacite.WrongTypeError as error:
        wanted = error.field_type
        choices = f"one of {', '.join(map(repr, get_args(wanted)))}" if get_origin(wanted) is Literal else None
        raise ConfigError(
            f"{env} wants {choices or getattr(wanted, '__name__', wanted)} for {error.field_path}, not {error.value!r}"
        ) from None
    except (dacite.DaciteError, TypeError, ValueError) as error:
        raise ConfigError(f"{env} cannot be set up so: {error}") from None


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
