"""Plain data that is no configuration, told in the words of our settings rather than in a library's."""

import difflib
import typing
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any

import dacite

from respawn.errors import RespawnError


def told(error: Exception, configuration: type, settings: dacite.Config) -> str:
    """What does not fit, and what would.

    Args:
      error: of dacite, or of a configuration itself.
      configuration: what the data should have been.
      settings: by which it was read.
    """
    if isinstance(error, dacite.UnexpectedDataError):
        return "; ".join(_unknown(name, configuration) for name in sorted(map(str, error.keys)))
    if isinstance(error, dacite.UnionMatchError) and (nearer := _nearer(error, settings)) is not None:
        return nearer
    if isinstance(error, dacite.WrongTypeError):
        return f"{error.field_path} must be {_kind(error.field_type)}, not {error.value!r}"
    return str(error)


def _nearer(error: dacite.UnionMatchError, settings: dacite.Config) -> str | None:
    """What does not fit in the one of several kinds of tables that the data says it is; None: it is none of them."""
    said = error.value.get("kind") if isinstance(error.value, dict) else None
    for one in typing.get_args(error.field_type):
        if said is None or said != getattr(one, "kind", None):
            continue
        try:
            dacite.from_dict(one, error.value, settings)
        except dacite.DaciteFieldError as inner:
            inner.update_path(str(error.field_path))
            return told(inner, one, settings)
        except (dacite.DaciteError, RespawnError, TypeError, ValueError) as inner:
            return told(inner, one, settings)
    return None


def _unknown(name: str, configuration: type) -> str:
    close = difflib.get_close_matches(name, _names(configuration), n=1)
    return f"there is no setting called {name}" + (f"; did you mean {close[0]}?" if close else "")


def _kind(wanted: Any) -> str:
    """A type as people would say it."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is typing.Literal:
        return " or ".join(str(choice) for choice in inner)
    if origin in (typing.Union, UnionType):
        return " or ".join(_kind(one) for one in inner)
    if origin is tuple and inner[1:] == (...,):
        return f"a list, each of it {_kind(inner[0])}"
    if origin is tuple:
        return f"a list of {len(inner)}: {', '.join(_kind(one) for one in inner)}"
    if is_dataclass(wanted):
        return f"a table with {', '.join(field.name for field in fields(wanted))}"
    known = {float: "a number", int: "a whole number", str: "a text", bool: "true or false", type(None): "left out"}
    return known.get(wanted, str(wanted))


def _names(kind: Any) -> set[str]:
    """The names of all settings within."""
    names: set[str] = set()
    if is_dataclass(kind) and isinstance(kind, type):
        for name, inner in typing.get_type_hints(kind).items():
            names |= {name} | _names(inner)
    for inner in typing.get_args(kind):
        names |= _names(inner)
    return names
