"""Which words a command takes, known without tyro, so that a mistake can be answered in one sentence of our own."""

import difflib
import types
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from respawn.errors import ConfigError

_WANTED = {int: "a whole number", float: "a number", str: "a word", Path: "a path"}
_MOST_SUGGESTIONS = 3


@dataclass(frozen=True)
class Option:
    """One option: `--name value`, or for a bool `--name` and `--no-name`."""

    name: str
    kind: Any

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool

    @property
    def takes_many(self) -> bool:
        """Whether all words up to the next option are its values."""
        return get_origin(self.kind) in (tuple, dict)


@dataclass(frozen=True)
class Positional:
    """A word that has no name before it."""

    name: str
    required: bool
    takes_many: bool
    kind: Any = str


@dataclass(frozen=True)
class CommandWords:
    """All that a command takes."""

    command: str
    """as typed, such as 'respawn train cartpole-ppo'"""
    options: dict[str, Option]
    positionals: tuple[Positional, ...]

    def check(self, words: Sequence[str]) -> None:
        """Raise ConfigError for the first word that does not fit."""
        left = list(words)
        loose: list[str] = []
        while left:
            word = left.pop(0)
            if _is_option(word):
                self._check_option(word, left)
            else:
                loose.append(word)
        self._check_loose(loose)

    def loose_places(self, words: Sequence[str]) -> list[int]:
        """Where among the words those are that belong to no option; words that `check` refuses may be taken for one."""
        places: list[int] = []
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if not _is_option(word):
                places.append(place - 1)
                continue
            name, equals, _ = word.partition("=")
            option = self.options.get(name.replace("_", "-"))
            if option is None or option.is_flag or equals:
                continue
            first = place
            while place < len(words) and not _is_option(words[place]) and (option.takes_many or place == first):
                place += 1
        return places

    def _check_option(self, word: str, left: list[str]) -> None:
        """Check an option and take its values from what is left of the words."""
        name, equals, value = word.partition("=")
        option = self.options.get(name.replace("_", "-"))
        if option is None:
            raise ConfigError(self._unknown(name))
        if option.is_flag:
            if equals:
                raise ConfigError(f"{name} takes no value, but '{value}' came; leave it out{self._see_help}")
            return
        values = [value] if equals else []
        while not equals and left and not _is_option(left[0]) and (option.takes_many or not values):
            values.append(left.pop(0))
        if not values and not option.takes_many:
            raise ConfigError(f"{name} wants {_wanted(option.kind)}, and nothing came{self._see_help}")
        problem = _misfit(option.kind, values)
        if problem is not None:
            raise ConfigError(f"{name} wants {problem}{self._see_help}")

    def _check_loose(self, loose: list[str]) -> None:
        required = [positional.name for positional in self.positionals if positional.required]
        if len(loose) < len(required):
            missing = " and ".join(required[len(loose) :])
            raise ConfigError(f"'{self.command}' wants {missing}, and nothing came{self._see_help}")
        for positional, word in zip(self.positionals, loose, strict=False):
            if not word and Path in _alternatives(positional.kind):
                raise ConfigError(f"{positional.name} wants {_misfit(positional.kind, [word])}{self._see_help}")
        if any(positional.takes_many for positional in self.positionals) or len(loose) <= len(self.positionals):
            return
        extra = loose[len(self.positionals)]
        name = f"--{extra.replace('_', '-')}"
        hint = f"; did you mean {name}?" if name in self.options else ""
        raise ConfigError(f"'{self.command}' has no use for the word '{extra}'{hint or '; leave it out'}")

    def _unknown(self, name: str) -> str:
        close = self._close_to(name.replace("_", "-"))
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        return f"there is no option {name} for '{self.command}'; {hint}'{self.command} --help' lists all"

    def _close_to(self, name: str) -> list[str]:
        """Options that look alike, or whose last part does: `--learning-rate` is in the optimizer's group."""
        close = difflib.get_close_matches(name, self.options, n=1, cutoff=0.75)
        last_parts = {option: option.removeprefix("--").rpartition(".")[2] for option in self.options}
        alike = difflib.get_close_matches(
            name.removeprefix("--").rpartition(".")[2], set(last_parts.values()), cutoff=0.8
        )
        close += [option for part in alike for option in self.options if last_parts[option] == part]
        return list(dict.fromkeys(close))[:_MOST_SUGGESTIONS]

    @property
    def _see_help(self) -> str:
        return f"; see '{self.command} --help'"


def words_of(command: str, kind: type, default: Any = None) -> CommandWords:
    """The words that the fields of a dataclass become, given the instance that holds its defaults."""
    options: dict[str, Option] = {}
    positionals: list[Positional] = []
    _gather(kind, default, "", options, positionals)
    return CommandWords(command, options, tuple(positionals))


def listed(words: Sequence[str]) -> list[str]:
    """The items of an option that takes several: `a b` and `a,b` are the same."""
    items: list[str] = []
    for word in words:
        items += [item.strip() for item in word.split(",") if item.strip()] or [word]
    return items


def _gather(kind: Any, default: Any, prefix: str, options: dict[str, Option], positionals: list[Positional]) -> None:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint, notes = _unwrapped(hints[field.name])
        value = getattr(default, field.name, None)
        given = next((note.name for note in notes if getattr(note, "name", None) is not None), None)
        name = given or field.name.replace("_", "-")
        if tyro.conf.Suppress in notes:
            continue
        if tyro.conf.Positional in notes:
            required = field.default is MISSING and field.default_factory is MISSING
            positionals.append(Positional(name.upper(), required, get_origin(hint) is tuple, hint))
        elif is_dataclass(value):
            _gather(type(value), value, prefix if given == "" else f"{prefix}{name}.", options, positionals)
        else:
            for spelling in (name, f"no-{name}") if hint is bool and default is not None else (name,):
                options[f"--{prefix}{spelling}"] = Option(f"--{prefix}{spelling}", hint)


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its annotations, and the annotations."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[0], get_args(hint)[1:]
    return hint, ()


def _is_option(word: str) -> bool:
    """Whether a word names an option; a negative number does not."""
    return word.startswith("-") and len(word) > 1 and _misfit(float, [word]) is not None


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _wanted(kind: Any) -> str:
    """What an option of this type wants, in words."""
    if get_origin(kind) is tuple:
        return f"{_wanted(get_args(kind)[0])}, or several"
    if get_origin(kind) is dict:
        return "pairs of a name and a value"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(str(choice) for choice in get_args(kind))}"
    return " or ".join(_WANTED.get(one, "a value") for one in _alternatives(kind) if one is not type(None))


def _misfit(kind: Any, values: Sequence[str]) -> str | None:
    """What is wanted and what came, if the values do not fit; else None."""
    if get_origin(kind) is dict:
        return None if len(values) % 2 == 0 else f"{_wanted(kind)}, but '{values[-1]}' has no value"
    several = get_origin(kind) is tuple
    one = get_args(kind)[0] if several else kind
    for value in listed(values) if several else values:
        if not value and Path in _alternatives(one):
            return f"{_wanted(kind)}, and an empty name came"
        if not any(_fits(alternative, value) for alternative in _alternatives(one)):
            return f"{_wanted(kind)}, but '{value}' came"
    return None


def _fits(kind: Any, value: str) -> bool:
    if kind is type(None):
        return value.lower() == "none"
    if get_origin(kind) is Literal:
        return value in [str(choice) for choice in get_args(kind)]
    if kind in (int, float):
        try:
            kind(value)
        except ValueError:
            return False
    return True
