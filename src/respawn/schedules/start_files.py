"""Files of hard starts: JSON with velocities or with whole states, read with care and written with provenance."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError
from respawn.runs.json_files import write_json_atomically

VELOCITY = "predator_velocity"
"""what a state calls the velocity that a file of velocities is a list of"""


@dataclass(frozen=True)
class HardStart:
    """A beginning from a file or from an evaluation, before it has a place in the queue."""

    state: Mapping[str, Any]
    """numbers and nested lists of numbers, by name"""
    features: Mapping[str, float] = field(default_factory=dict)
    """what it is like, such as speed and heading_deg"""
    kind: str = ""
    """its own kind; empty: that of its stage"""
    label: str = ""


def shipped_start_files() -> tuple[str, ...]:
    """Names of the files that come with the package."""
    files = (file.name for file in _shipped_folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in files if name.endswith(".json")))


def read_start_file(name: str) -> tuple[HardStart, ...]:
    """The starts of a file, given by its path or by the name of one that comes with the package.

    Raises ConfigError, in one sentence that names the file and the entry, if there is anything wrong with it.
    """
    data = _read_json(name)
    starts = [
        *(_from_velocity(name, f"velocities[{i}]", velocity) for i, velocity in _entries(name, data, "velocities")),
        *_from_clusters(name, data),
        *(_from_state(name, f"starts[{i}]", entry) for i, entry in _entries(name, data, "starts")),
    ]
    if not starts:
        raise ConfigError(
            f"{name} holds no starts: expected velocities, starts or summary.clusters with at least one entry; "
            "name another file"
        )
    return tuple(starts)


def write_start_file(
    path: Path,
    starts: Sequence[HardStart],
    *,
    source: str,
    note: str,
    report: Mapping[str, Any] | None = None,
    selection: Mapping[str, Any] | None = None,
    generated_at: str | None = None,
) -> None:
    """Write starts and where they come from.

    Args:
      path: the file.
      starts: at least one; those that are a velocity and nothing else are written as the older format has them.
      source: a path, or what they were made from.
      note: what for.
      report: the composition before and after a filter, as `filter_starts` tells it.
      selection: what they were chosen by.
      generated_at: when, in ISO format; None: now.
    """
    if not starts:
        raise ConfigError(f"{path} would hold no starts; keep at least one, or write no file")
    data: dict[str, Any] = {
        "generated_at": generated_at or datetime.now(UTC).isoformat(timespec="seconds"),
        "source": source,
        "note": note,
    }
    if selection:
        data["selection"] = dict(selection)
    if report:
        data |= {"before": report["before"], "after": report["after"], "clusters": report["after"]["clusters"]}
    if all(set(start.state) == {VELOCITY} and not start.kind and not start.label for start in starts):
        data["velocities"] = [list(start.state[VELOCITY]) for start in starts]
    else:
        data["starts"] = [_entry(start) for start in starts]
    write_json_atomically(path, data)


def velocity_features(velocity: Sequence[float]) -> dict[str, float]:
    """How fast and whereto, in degrees from 0 to 360, counter-clockwise from the right."""
    x, y = velocity
    return {"speed": math.hypot(x, y), "heading_deg": math.degrees(math.atan2(y, x)) % 360.0}


def checked_start(where: str, state: Any, features: Any, *, kind: str = "", label: str = "") -> HardStart:
    """A start of plain data; raises ConfigError naming `where` if it is none. Lists are copied."""
    if not isinstance(state, Mapping) or not state:
        raise ConfigError(f"{where}.state must be an object with numbers in it, not {_shown(state)}; correct it")
    if not isinstance(features, Mapping):
        raise ConfigError(f"{where}.features must be an object, not {_shown(features)}; correct it or leave it out")
    checked = {str(name): _numbers(f"{where}.state.{name}", value) for name, value in state.items()}
    told = {str(name): float(_number(f"{where}.features.{name}", value)) for name, value in features.items()}
    if _is_velocity(checked.get(VELOCITY)):
        told = {**velocity_features(checked[VELOCITY]), **told}
    return HardStart(checked, told, kind, label)


def scaled(start: HardStart, scale: float) -> HardStart:
    """The same start with its velocity times `scale`; one that has no velocity stays as it is."""
    velocity = start.state.get(VELOCITY)
    if scale == 1.0 or not _is_velocity(velocity):
        return start
    assert velocity is not None
    state = {**start.state, VELOCITY: [scale * part for part in velocity]}
    return HardStart(state, {**start.features, **velocity_features(state[VELOCITY])}, start.kind, start.label)


def _shipped_folder() -> Traversable:
    return resources.files("respawn") / "starts"


def _read_json(name: str) -> Mapping[str, Any]:
    try:
        text = _file(name).read_text(encoding="utf-8")
        data = json.loads(text)
    except FileNotFoundError:
        known = ", ".join(shipped_start_files())
        raise ConfigError(f"there is no file of starts '{name}'; give a path, or one of {known}") from None
    except OSError as error:
        raise ConfigError(f"the file of starts '{name}' cannot be read ({error}); check its permissions") from error
    except ValueError as error:  # neither JSON nor even UTF-8
        raise ConfigError(f"the file of starts '{name}' should hold JSON, but {error}; correct it") from error
    if not isinstance(data, dict):
        raise ConfigError(f"the file of starts '{name}' should hold a JSON object, not {_shown(data)}; correct it")
    return data


def _file(name: str) -> Traversable | Path:
    return _shipped_folder() / f"{name}.json" if name in shipped_start_files() else Path(name).expanduser()


def _entries(name: str, data: Mapping[str, Any], key: str) -> Iterator[tuple[int, Any]]:
    entries = data.get(key, [])
    if not isinstance(entries, list):
        raise ConfigError(f"{name}: {key} must be a list, not {_shown(entries)}; correct it")
    return iter(enumerate(entries))


def _from_velocity(name: str, where: str, velocity: Any) -> HardStart:
    if not isinstance(velocity, list) or len(velocity) != 2:
        raise ConfigError(f"{name}: {where} must be a pair of numbers, not {_shown(velocity)}; correct it")
    return checked_start(f"{name}: {where}", {VELOCITY: velocity}, {})


def _from_clusters(name: str, data: Mapping[str, Any]) -> list[HardStart]:
    """Starts out of a report on the worst seeds: each cluster's sample."""
    summary = data.get("summary", {})
    if not isinstance(summary, Mapping):
        raise ConfigError(f"{name}: summary must be an object, not {_shown(summary)}; correct it")
    starts = []
    for i, cluster in _entries(name, summary, "clusters"):
        sample = cluster.get("sample") if isinstance(cluster, Mapping) else None
        if isinstance(sample, Mapping) and VELOCITY in sample:
            where = f"summary.clusters[{i}].sample.{VELOCITY}"
            starts.append(_from_velocity(name, where, sample[VELOCITY]))
    return starts


def _from_state(name: str, where: str, entry: Any) -> HardStart:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{name}: {where} must be an object with a state, not {_shown(entry)}; correct it")
    kind, label = entry.get("kind") or "", entry.get("label") or ""
    if not isinstance(kind, str) or not isinstance(label, str):
        raise ConfigError(f"{name}: {where} must have words for its kind and its label, not other things; correct it")
    return checked_start(
        f"{name}: {where}",
        entry.get("state"),
        entry.get("features") or {},
        kind=kind.strip().lower(),
        label=label,
    )


def _entry(start: HardStart) -> dict[str, Any]:
    named = {name: word for name, word in (("kind", start.kind), ("label", start.label)) if word}
    return {**named, "state": dict(start.state), "features": dict(start.features)}


def _is_velocity(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value)


def _numbers(where: str, value: Any) -> Any:
    """Numbers in nested lists and objects, copied."""
    if isinstance(value, list | tuple):
        return [_numbers(f"{where}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(name): _numbers(f"{where}.{name}", item) for name, item in value.items()}
    return _number(where, value)


def _number(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{where} must be a number, not {_shown(value)}; correct it")
    if not math.isfinite(value):
        raise ConfigError(f"{where} must be finite, not {value}; correct it")
    return value


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
