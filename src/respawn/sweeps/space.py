"""What a sweep searches: settings by the names they have on the command line, and what each may be."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from respawn.errors import ConfigError
from respawn.training.config import RunConfig, config_to_json
from respawn.training.config_file import PRESET, with_settings
from respawn.training.plan_file import flattened

NOT_TO_BE_SEARCHED = {
    "seed": "each trial has its own, counted from --seed",
    "updates": "all trials get the same number of decisions; say it with --updates",
    "planned_updates": "all trials get the same number of decisions; say it with --updates",
    "minutes": "a limit of time would reward what is fast, not what is good; say it with --minutes",
    "weights_from": "all trials begin with fresh weights, or with the same; say it with --weights-from",
    "evaluation": "trials that are judged otherwise cannot be compared",
    "recent_episodes": "it changes nothing that a trial is judged by",
    "faults": "it changes nothing that a trial is judged by",
    "checkpoints": "it changes nothing that a trial is judged by",
    "observers": "it changes nothing that a trial is judged by",
    "device": "it changes nothing that a trial is judged by",
    "threads": "it changes nothing that a trial is judged by",
    "wants_gpu": "it changes nothing that a trial is judged by",
}
"""Settings, and rooms of settings, that are the same for all trials, and why."""
SEARCHED_IN_WORLDS = frozenset(
    {
        "rewards", "observation", "actions", "buttons", "frame_skip", "rows_above", "rows_below", "columns_behind",
        "columns_ahead", "picture_size", "frame_stack", "max_of_two",
        "fish", "steering", "neighbours", "neighbour_radius", "neighbour_count", "density_penalty", "density_target",
        "divergence_reward", "forced_reset_steps", "forced_reset_share", "staggered", "spawn_radius", "spawn_distance",
    }
)  # fmt: skip
"""Of a world: what an agent sees, does and is paid, and where fish learn, who are judged elsewhere."""
_RANGE_WORDS = frozenset({"low", "high", "log", "step"})
_MOST_ROUNDING = 1e-8
"""Of a step, that a number may lie beside its grid: Optuna allows as much."""

Plain: TypeAlias = bool | int | float | str


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, both included."""

    low: float
    high: float
    log: bool = False
    """draw the logarithm evenly, for what is known to a factor"""
    step: float | None = None
    is_whole: bool = False

    @property
    def tried(self) -> tuple[Any, ...]:
        """The values that are checked: if both ends fit, so does what lies between, if it is of their kind."""
        # From whole ends a step that is none leads to numbers of another kind.
        return (self.low, self.high) if self.step is None else (self.low, self.low + self.step, self.high)

    def holds(self, value: Any) -> bool:
        """Whether it is one of these numbers."""
        if isinstance(value, bool) or not isinstance(value, Real) or not self.low <= float(value) <= self.high:
            return False
        step = 1.0 if self.is_whole and self.step is None else self.step
        if step is None:
            return True
        steps = (float(value) - self.low) / step
        return abs(steps - round(steps)) < _MOST_ROUNDING

    @property
    def whole_values(self) -> range:
        """All that there are, where they are whole numbers."""
        return range(int(self.low), int(self.high) + 1, int(self.step or 1))


@dataclass(frozen=True)
class Choice:
    """One of some values, which may be lists."""

    values: tuple[Any, ...]

    @property
    def tried(self) -> tuple[Any, ...]:
        """The values that are checked: all."""
        return self.values

    def holds(self, label: Any) -> bool:
        """Whether it is one of these values, as a study keeps it."""
        return label in self.labels

    @property
    def labels(self) -> tuple[Plain, ...]:
        """The values as a study can keep them: a list as its JSON."""
        return tuple(json.dumps(value) if isinstance(value, list) else value for value in self.values)


Span: TypeAlias = Range | Choice
Space: TypeAlias = Mapping[str, Span]
"""What each setting may be, by its whole name with underscores, such as learner.optimizer.learning_rate."""


def read_space(path: Path, preset: str, base: RunConfig) -> dict[str, Span]:
    """The space in a TOML file, known to fit `base`; raises ConfigError with one sentence where it does not."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--space wants a TOML file, and {path} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"--space wants a TOML file, and {path} is none: {error}") from None
    named = said.pop(PRESET, preset)
    if named != preset:
        raise ConfigError(f"{path} is for the preset {named}, and {preset} was asked for; leave out one of them")
    try:
        space = space_from_plain(said, base)
        check_space(space, base)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return space


def space_from_plain(said: Mapping[str, Any], base: RunConfig) -> dict[str, Span]:
    """Spans by whole names from nested or dotted data; kinds are told by what the settings are in `base`."""
    kinds = flattened(config_to_json(base))
    space = {name: _span(name, value, kinds.get(name)) for name, value in _gathered(said, "").items()}
    if not space:
        raise ConfigError("there is nothing to search; name a setting, such as learner.optimizer.learning_rate")
    return space


def space_to_plain(space: Space) -> dict[str, Any]:
    """The same as data that JSON and TOML can hold."""
    return {name: _plain(span) for name, span in space.items()}


def check_space(space: Space, base: RunConfig) -> None:
    """Refuse settings that there are not, values that they cannot have, and what all trials must have alike."""
    for name, span in space.items():
        for value in span.tried:
            with_settings(base, nested({name: value}), Path())
        room, _, rest = name.partition(".")
        for part in (name, room):
            if part in NOT_TO_BE_SEARCHED:
                raise ConfigError(f"{name} is not to be searched: {NOT_TO_BE_SEARCHED[part]}")
        if room == "world" and rest.partition(".")[0] not in SEARCHED_IN_WORLDS:
            raise ConfigError(
                f"{name} is not to be searched: trials would be judged in worlds that differ, and could not be "
                "compared; say it on the command line, for all of them"
            )


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by whole names as nested data."""
    tree: dict[str, Any] = {}
    for name, value in settings.items():
        *rooms, last = name.split(".")
        place = tree
        for room in rooms:
            place = place.setdefault(room, {})
        place[last] = value
    return tree


def _gathered(said: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Values by whole names: a table with a low or a high is a value, any other leads deeper."""
    found: dict[str, Any] = {}
    for name, value in said.items():
        whole = prefix + name.replace("-", "_")
        if isinstance(value, Mapping) and not (value.keys() & _RANGE_WORDS):
            found.update(_gathered(value, f"{whole}."))
        else:
            found[whole] = value
    return found


def _span(name: str, value: Any, now: Any) -> Span:
    if isinstance(value, list):
        return _choice(name, value)
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{name} should say what to try, as {{low = 1, high = 8}} or [1, 2, 4], not {value!r}; what all trials "
            "have alike belongs on the command line"
        )
    unknown = value.keys() - _RANGE_WORDS
    if unknown or not {"low", "high"} <= value.keys():
        raise ConfigError(f"{name} should have low and high, and may have log and step; it has {', '.join(value)}")
    _check_numbers(name, value)
    _check_order(name, value)
    low, high, step = value["low"], value["high"], value.get("step")
    is_whole = not isinstance(now, float) and all(isinstance(one, int) for one in (low, high, step or 1))
    return Range(low, high, value.get("log", False), step, is_whole)


def _check_numbers(name: str, value: Mapping[str, Any]) -> None:
    for word in ("low", "high", "step"):
        number = value.get(word, 1)
        if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
            raise ConfigError(f"{name}: {word} should be a number, not {number!r}")
    if not isinstance(value.get("log", False), bool):
        raise ConfigError(f"{name}: log should be true or false, not {value['log']!r}")


def _check_order(name: str, value: Mapping[str, Any]) -> None:
    low, high, step, log = value["low"], value["high"], value.get("step"), value.get("log", False)
    if not low < high:
        raise ConfigError(f"{name}: low ({low:g}) must be below high ({high:g})")
    if log and low <= 0:
        raise ConfigError(f"{name}: low must be above 0 where log is true, not {low:g}")
    if log and step is not None:
        raise ConfigError(f"{name}: log and step exclude each other; leave out one of the two")
    if step is not None and not 0 < step <= high - low:
        raise ConfigError(f"{name}: step must be above 0 and at most high minus low ({high - low:g}), not {step:g}")


def _choice(name: str, values: list[Any]) -> Choice:
    kinds = (bool, int, float, str, list)
    if len(values) < 2 or not all(isinstance(value, kinds) for value in values):
        raise ConfigError(f"{name} should list at least two values to choose from, not {values!r}")
    choice = Choice(tuple(values))
    if len({json.dumps(label) for label in choice.labels}) != len(values):
        raise ConfigError(f"{name} lists a value twice in {values!r}; leave out one")
    return choice


def _plain(span: Span) -> Any:
    if isinstance(span, Choice):
        return list(span.values)
    said: dict[str, Any] = {"low": span.low, "high": span.high}
    if span.log:
        said["log"] = True
    if span.step is not None:
        said["step"] = span.step
    return said
