"""Metadata files of the A3C system that this one replaces: a JSON file beside each of its checkpoints.

`a3c_world1_stage1_0002000.json` and `…_latest.json` say what the `.pt` of the same name holds. Only what is asked for
here is read; everything else in such a file is kept as it is.
"""

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from respawn.checkpoints.json_text import object_place, place_of, with_member
from respawn.errors import CheckpointAccessError, CheckpointError

NAME = re.compile(r"a3c_world(\d+)_stage(\d+)_(\d+|latest)\.json")
"""What that system calls them."""

AUDIT = "reconstructed_step_source"
"""The field that says how a number of steps was reconstructed."""

COUNTS = "save_state"
"""The field that holds the counters."""

_STEP, _UPDATE = "global_step", "global_update"
_ENVS = (("vector_env", "num_envs"), ("num_envs",))
_ROLLOUT = (
    ("rollout", "num_steps"),
    ("rollout", "rollout_steps"),
    ("rollout_steps",),
    ("num_steps",),
)
"""Where the length of a rollout may stand, in metadata or in a configuration."""
_SETTINGS = ("config", "training_config")
"""Where a whole configuration may stand."""
_MOST_BYTES = 1 << 24
"""Metadata is a few thousand bytes long."""


@dataclass(frozen=True)
class Metadata:
    """One such file."""

    path: Path
    content: bytes
    """as it is on the disk"""
    data: dict[str, Any]

    @property
    def counts(self) -> dict[str, Any]:
        """What holds the counters: a field of their own, or the file itself."""
        held = self.data.get(COUNTS)
        return held if isinstance(held, dict) else self.data

    @property
    def step(self) -> int:
        """The decisions of all environments so far; 0 where it does not say."""
        return whole_number(self.counts, _STEP) or 0

    @property
    def update(self) -> int:
        """The updates so far; 0 where it does not say."""
        return whole_number(self.counts, _UPDATE) or 0

    @property
    def num_envs(self) -> int:
        """The environments; 0 where it does not say."""
        return num_envs_in(self.data)

    @property
    def rollout_steps(self) -> int:
        """The steps of a rollout; 0 where it does not say."""
        return rollout_steps_in(self.data)

    @property
    def is_reconstructed(self) -> bool:
        """Whether its step was computed once."""
        return bool(self.data.get(AUDIT))

    @property
    def assumed_steps(self) -> int:
        """The steps of a rollout that were assumed when its step was computed; 0: none were."""
        audit = self._audit
        # The tool of that system did not say where it had them from: it always assumed them.
        is_assumed = audit.get("rollout_steps_from", "assumed") == "assumed"
        return (whole_number(audit, "rollout_steps") or 0) if is_assumed else 0

    @property
    def first_step(self) -> int:
        """Its step before any was computed."""
        return self.step if not self.is_reconstructed else whole_number(self._audit, "previous_global_step") or 0

    @property
    def _audit(self) -> Mapping[str, Any]:
        audit = self.data.get(AUDIT)
        return audit if isinstance(audit, dict) else {}

    @property
    def payload(self) -> Path:
        """The checkpoint that it describes."""
        return self.path.with_name(self.path.name.partition(".json")[0] + ".pt")


def read_metadata(path: Path) -> Metadata | None:
    """Such a file; None: it is another one, by its name and by what it holds.

    Raises:
      CheckpointAccessError: it may not be read.
      CheckpointError: it is one by its name, and says something else.
    """
    named = NAME.fullmatch(path.name) is not None
    try:
        if not named and path.stat().st_size > _MOST_BYTES:
            return None
        content = path.read_bytes()
    except OSError as error:
        if not named:
            return None
        raise CheckpointAccessError(f"it cannot be read ({error.strerror or error})") from error
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if not named:
            return None
        raise CheckpointError(f"it should hold JSON ({error})") from error
    if isinstance(data, dict) and (named or _has_counts(data)):
        return Metadata(path, content, data)
    if not named:
        return None
    raise CheckpointError(f"it should hold a JSON object, and holds {_kind(data)}")


def num_envs_in(settings: Mapping[str, Any]) -> int:
    """The environments that metadata or a configuration speaks of; 0: it does not."""
    return _first(settings, _ENVS)


def rollout_steps_in(settings: Mapping[str, Any]) -> int:
    """The steps of a rollout that metadata or a configuration speaks of; 0: it does not."""
    return _first(settings, _ROLLOUT)


def whole_number(held: Mapping[str, Any], name: str) -> int | None:
    """A number that is not negative; None where there is none; raises CheckpointError where it is something else."""
    value = held.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CheckpointError(f"{name} should be a whole number from 0 on, and is {value!r}")
    return value


def with_step(metadata: Metadata, step: int, audit: Mapping[str, Any]) -> bytes:
    """The file with another step, and with how it came about; every other byte of it is as it was.

    Raises:
      ValueError: it cannot be written so; it would say something else.
    """
    mark = codecs.BOM_UTF8 if metadata.content.startswith(codecs.BOM_UTF8) else b""
    text = metadata.content.removeprefix(mark).decode()
    file = object_place(text)
    counts = file if metadata.counts is metadata.data else place_of(text, file, COUNTS)
    text = with_member(text, counts, _STEP, step)
    content = mark + with_member(text, file, AUDIT, dict(audit)).encode()
    _check_says(content, _data_with_step(metadata, step, audit))
    return content


def _data_with_step(metadata: Metadata, step: int, audit: Mapping[str, Any]) -> dict[str, Any]:
    """What the file is to say."""
    counts = {**metadata.counts, _STEP: step}
    changed = counts if metadata.counts is metadata.data else {**metadata.data, COUNTS: counts}
    return {**changed, AUDIT: dict(audit)}


def _check_says(content: bytes, data: Mapping[str, Any]) -> None:
    """Raise ValueError where a file would say anything else; asked before there is such a file."""
    try:
        said = json.loads(content.decode("utf-8-sig"))
        says_it = json.dumps(said) == json.dumps(data)  # NaN is not equal to itself, but is written alike
    except (ValueError, RecursionError):
        says_it = False
    if not says_it:
        raise ValueError("its layout is not understood, and it would say something else")


def _has_counts(data: Mapping[str, Any]) -> bool:
    held = data.get(COUNTS)
    return isinstance(held, dict) and (_STEP in held or _UPDATE in held)


def _first(settings: Mapping[str, Any], places: tuple[tuple[str, ...], ...]) -> int:
    within = [settings, *(settings[name] for name in _SETTINGS if isinstance(settings.get(name), dict))]
    for held in within:
        for *path, name in places:
            room: Any = held
            for step in path:
                room = room.get(step) if isinstance(room, Mapping) else None
            found = whole_number(room, name) if isinstance(room, Mapping) else None
            if found:
                return found
    return 0


def _kind(data: Any) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(data), "a number or a truth value")
