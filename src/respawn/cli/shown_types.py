"""How the types of options are shown in --help: `INT` and not `{None}|INT`, `none` and not an empty default."""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from respawn.cli.options import listed

REGISTRY = ConstructorRegistry()


@REGISTRY.primitive_rule
def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """`int | None`: a number or 'none'; `str | None`, `Path | None`: any word, since 'none' is a good name too."""
    kinds = [kind for kind in get_args(info.type) if kind is not type(None)]
    is_optional = get_origin(info.type) in (Union, types.UnionType) and type(None) in get_args(info.type)
    if not is_optional or len(kinds) != 1 or kinds[0] not in (int, float, str, Path):
        return None
    kind = kinds[0]
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=kind.__name__.upper(),
        instance_from_str=lambda words: None if kind in (int, float) and words[0].lower() == "none" else kind(words[0]),
        is_instance=lambda value: value is None or isinstance(value, kind),
        str_from_instance=lambda value: ["none" if value is None else str(value)],
    )


@REGISTRY.primitive_rule
def _several(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """`tuple[int, ...]`: any number of words, or of items in a word; names without an option may hold a comma."""
    arguments = get_args(info.type)
    if get_origin(info.type) is not tuple or len(arguments) != 2 or arguments[1] is not Ellipsis:
        return None
    kind = arguments[0]
    if kind not in (int, float, str):
        return None
    return _any_number_of_words(
        f"[{kind.__name__.upper()} ...]",
        lambda words: tuple(kind(item) for item in (words if tyro.conf.Positional in info.markers else listed(words))),
        lambda value: [str(item) for item in value],
        tuple,
    )


@REGISTRY.primitive_rule
def _pairs(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """`dict[str, ...]` with plain values: names and values in turn."""
    arguments = get_args(info.type)
    if get_origin(info.type) is not dict or set(get_args(arguments[1])) != {bool, int, float, str}:
        return None
    return _any_number_of_words(
        "[NAME VALUE ...]",
        lambda words: {name: _plain(value) for name, value in zip(words[::2], words[1::2], strict=True)},
        lambda value: [str(item) for pair in value.items() for item in pair],
        dict,
    )


def _any_number_of_words(
    metavar: str, read: Callable[[list[str]], Any], told: Callable[[Any], list[str]], kind: type
) -> PrimitiveConstructorSpec[Any]:
    return PrimitiveConstructorSpec(
        nargs="*",
        metavar=metavar,
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, kind),
        str_from_instance=lambda value: told(value) or ["none"],
    )


def _plain(word: str) -> bool | int | float | str:
    """A word as the narrowest thing it can be."""
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
