"""What options, settings and metrics there are, for pages and sentences that name them."""

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import respawn.cli
from respawn.cli.new_run import TrainArguments
from respawn.cli.options import words_of
from respawn.presets import all_presets
from respawn.training.config import RunConfig

ROOT = Path(__file__).parents[1]
_OF_TRAIN_ITSELF = {"--config", "--rom"}
"""Options that `respawn train` takes before any preset is looked at."""


@cache
def train_options() -> frozenset[str]:
    """All options of `respawn train`, with any preset."""
    found = set(_OF_TRAIN_ITSELF)
    for preset in all_presets().values():
        found |= words_of("respawn train", TrainArguments, TrainArguments(config=preset)).options.keys()
    return frozenset(found)


@cache
def verb_options(verb: str) -> frozenset[str]:
    """All options of a verb, or of any that comes under it, such as 'doctor worlds' under 'doctor'."""
    if verb == "train":
        return train_options()
    found: set[str] = set()
    for module in pkgutil.iter_modules(respawn.cli.__path__, "respawn.cli."):
        name = module.name.rpartition(".")[2]
        if name != verb and not name.startswith(f"{verb}_"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__name__.endswith("Arguments"):
                found |= words_of(f"respawn {verb}", kind).options.keys()
    return frozenset(found)


@cache
def settings() -> frozenset[str]:
    """Every setting of a run by its dotted name, such as `schedules.levels.low`, those of lists and tables included."""
    return frozenset(_fields(RunConfig, ""))


def wrong_options(text: str) -> list[str]:
    """The options in a text that its verb lacks, where code names one, or that `respawn train` does not have."""
    wrong = []
    for code in _spans(text):
        named = re.match(r"respawn ([a-z]+)", code)
        known = verb_options(named[1]) if named else train_options()
        wrong += [option for option in _options(code) if not _is_known(option, known)]
    return wrong


def options_in(text: str) -> list[str]:
    """All options that the code in a text names."""
    return [option for code in _spans(text) for option in _options(code)]


def _spans(text: str) -> list[str]:
    """What is marked as code; commands in quotes count too."""
    spans = re.findall(r"`([^`]+)`|'(respawn [^']+)'", text)
    return [first or second for first, second in spans]


def _options(code: str) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9_.-]*…?", code)


def _is_known(option: str, known: frozenset[str]) -> bool:
    beginning = option.removesuffix("…")
    if beginning != option:
        return any(each.startswith(beginning) for each in known)
    return option in known


def _fields(kind: type, prefix: str) -> Iterator[str]:
    for name, hint in get_type_hints(kind).items():
        if dataclasses.is_dataclass(kind) and name in {field.name for field in dataclasses.fields(kind)}:
            yield f"{prefix}{name}"
            for within in _dataclasses_in(hint):
                yield from _fields(within, f"{prefix}{name}.")


def _dataclasses_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
    for each in get_args(hint):
        yield from _dataclasses_in(each)
