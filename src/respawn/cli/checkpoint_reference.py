"""What a file of the A3C system that this one replaces is, in words."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.checkpoints.reference_metadata import AUDIT, NAME, Metadata, read_metadata
from respawn.checkpoints.reference_payload import Payload, read_payload
from respawn.cli.tables import number, print_facts
from respawn.errors import CheckpointError
from respawn.runs.sizes import size

_NOT_OURS = "It cannot be resumed or played here: its network is another one."
_SETTINGS = ("action_type", "frame_skip", "frame_stack")


def is_reference(path: Path) -> bool:
    """Whether a path names a file that may be one of that system's; what lies beside a manifest is ours."""
    return path.is_file() and not (path.parent / "manifest.json").is_file()


def inspect_reference(path: Path, *, as_json: bool) -> int:
    """Say what a file is; the metadata beside a `.pt` is enough to say it, without which the `.pt` itself is asked."""
    if path.suffix == ".pt" and not path.with_suffix(".json").exists():
        _tell(_of_payload(path, _asked(path)), as_json=as_json)
        return 0
    metadata = _read(path.with_suffix(".json") if path.suffix == ".pt" else path)
    _tell(_of_metadata(metadata), as_json=as_json)
    return 0


def _read(path: Path) -> Metadata:
    try:
        metadata = read_metadata(path)
    except CheckpointError as error:
        raise CheckpointError(f"{path} cannot be used: {error}; restore it from {path.name}.bak or a copy") from error
    if metadata is None:
        raise CheckpointError(
            f"{path} is neither part of a checkpoint of ours nor metadata of the system that this one replaces "
            "(a3c_world1_stage1_0002000.json); name a run, RUN@NAME or a checkpoint's folder"
        )
    return metadata


def _asked(path: Path) -> Payload:
    try:
        return read_payload(path)
    except CheckpointError as error:
        raise CheckpointError(f"{path} has no metadata beside it, and says nothing itself: {error}") from error


def _tell(told: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(told, indent=2))
        return
    print_facts(
        str(told["path"]), {name.replace("_", " "): _said(fact) for name, fact in told.items() if name != "path"}
    )


def _said(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {_said(value) or 'none'}" for name, value in fact.items())
    return "" if fact is None else number(fact)


def _of_metadata(metadata: Metadata) -> dict[str, Any]:
    data, counts = metadata.data, metadata.counts
    payload = metadata.payload
    level = f"world {data.get('world')}-{data.get('stage')}"
    kind = counts.get("type") or ("latest" if metadata.path.stem.endswith("latest") else "checkpoint")
    reason = counts.get("reason")
    return {
        "path": str(metadata.path),
        "what": f"metadata of a checkpoint of the A3C system that this one replaces, {level}",
        "saved": data.get("timestamp"),
        "kind": f"{kind}, because of {reason}" if reason not in (None, "normal") else str(kind),
        "update": metadata.update,
        "step": _step(metadata),
        "reconstructed": data.get(AUDIT),
        "settings": {name: data[name] for name in _SETTINGS if name in data},
        "environments": data.get("vector_env"),
        "model": data.get("model"),
        "replay": data.get("replay"),
        "checkpoint": f"{payload.name}, {size(payload.stat().st_size)}"
        if payload.exists()
        else f"no {payload.name} beside it",
        "here": _NOT_OURS,
    }


def _step(metadata: Metadata) -> str:
    if metadata.step or not metadata.update:
        return number(metadata.step)
    folder = shlex.quote(str(metadata.path.parent))
    return f"0, which it did not count; see: respawn checkpoint migrate {folder} --dry-run"


def _of_payload(path: Path, payload: Payload) -> dict[str, Any]:
    named = NAME.fullmatch(path.with_suffix(".json").name)
    level = f", world {named[1]}-{named[2]}" if named else ""
    return {
        "path": str(path),
        "what": f"a checkpoint of the A3C system that this one replaces{level}, without its metadata",
        "update": payload.update,
        "step": payload.step,
        "holds": ", ".join(payload.holds),
        "model": f"{payload.num_tensors:,} tensors, {payload.numbers:,} numbers",
        "here": _NOT_OURS,
    }
