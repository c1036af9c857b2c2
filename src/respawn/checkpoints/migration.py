"""Mending metadata of the A3C system that this one replaces: step counts of 0, which its overlapped collection left.

What was not counted is computed: updates times environments times the steps of a rollout. Where the steps of a rollout
are not known they are assumed, and the file says so, so that it can be mended again once they are.
"""

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from respawn.checkpoints.reference_metadata import Metadata, read_metadata, with_step
from respawn.checkpoints.reference_payload import NOTHING_KNOWN, Payload, read_payload
from respawn.errors import CheckpointError
from respawn.runs.metadata import utc_now
from respawn.runs.whole_files import written_whole

Outcome: TypeAlias = Literal[
    "updated",
    "would_update",
    "no_update_info",
    "missing_num_envs",
    "already_has_step",
    "current_step>=computed",
    "already_reconstructed",
    "unreadable",
    "not_written",
]
"""The names are those of the system that wrote the files, but for the last two."""

FAILED: frozenset[Outcome] = frozenset({"unreadable", "not_written"})

USUAL_ROLLOUT_STEPS = 64
"""What that system's rollouts had unless they were told otherwise."""

FORMULA = "global_step = global_update * num_envs * rollout_steps"

Source: TypeAlias = Literal["metadata", "checkpoint", "assumed"]


@dataclass(frozen=True)
class Wishes:
    """How to go about it."""

    rollout_steps: int | None = None
    """of a rollout, where neither metadata nor checkpoint say, or others were assumed before; None: the usual"""
    dry_run: bool = False
    """only say what would be done"""
    backup: bool = True
    """keep each file as it was, once, as NAME.json.bak"""
    update_if_lower: bool = False
    """also raise steps that are lower than what is computed"""

    @property
    def assumed_steps(self) -> int:
        """Of a rollout, where nobody says."""
        return USUAL_ROLLOUT_STEPS if self.rollout_steps is None else self.rollout_steps


@dataclass(frozen=True)
class Mending:
    """What came of one file."""

    path: Path
    outcome: Outcome
    step_before: int | None = None
    step_after: int | None = None
    """as computed, written or not; None: it was not computed"""
    update: int | None = None
    update_from: Source | None = None
    num_envs: int | None = None
    rollout_steps: int | None = None
    rollout_steps_from: Source | None = None
    note: str = ""
    """what else is to be said, or what went wrong"""


@dataclass(frozen=True)
class Migration:
    """What came of a folder."""

    folder: Path
    files: tuple[Mending, ...]
    passed_over: int
    """JSON files that are something else"""
    problems: tuple[str, ...] = ()
    """folders that could not be looked into"""

    @property
    def outcomes(self) -> dict[Outcome, int]:
        """How many files came to what, the most first."""
        return dict(Counter(file.outcome for file in self.files).most_common())

    @property
    def has_failed(self) -> bool:
        """Whether anything could not be read or written."""
        return bool(self.problems) or any(file.outcome in FAILED for file in self.files)


def migrate(folder: Path, wishes: Wishes, tell: Callable[[str, float], None] = lambda doing, share: None) -> Migration:
    """Mend all metadata in a folder and below it.

    Args:
      folder: where to look.
      wishes: how to go about it.
      tell: is told which file is at hand, and how many of all have been.
    """
    problems: list[str] = []
    paths = list(_json_files(folder, problems))
    files = []
    for number, path in enumerate(paths):
        tell(path.name, number / len(paths))
        mended = _of_file(path, wishes)
        if mended is not None:
            files.append(mended)
    return Migration(folder, tuple(files), len(paths) - len(files), tuple(problems))


def _json_files(folder: Path, problems: list[str]) -> Iterator[Path]:
    """Every JSON file once, whichever links lead to it, in the order of names."""

    def note(error: OSError) -> None:
        problems.append(f"{error.filename} cannot be looked into ({error.strerror})")

    seen: set[Path] = set()
    for place, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix == ".json" and not name.startswith(".") and path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def _of_file(path: Path, wishes: Wishes) -> Mending | None:
    """Mend one file; None: it is no such metadata."""
    try:
        metadata = read_metadata(path)
        if metadata is None:
            return None
        mending = _planned(metadata, wishes)
    except CheckpointError as error:
        return Mending(path, "unreadable", note=str(error))
    if mending.outcome != "updated":
        return mending
    try:
        _write(metadata, mending, wishes)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        return replace(mending, outcome="not_written", note=f"it could not be written ({told})")
    return mending


def _planned(metadata: Metadata, wishes: Wishes) -> Mending:
    """What is to be done with a file; `updated` where it is to be written."""
    before = metadata.step
    is_known_better = wishes.rollout_steps is not None and metadata.assumed_steps not in (0, wishes.rollout_steps)
    if before > 0 and not (wishes.update_if_lower or is_known_better):
        outcome: Outcome = "already_reconstructed" if metadata.is_reconstructed else "already_has_step"
        return Mending(metadata.path, outcome, before)
    mending = _as_known(metadata, wishes)
    if mending.update is None:
        return replace(mending, outcome="no_update_info")
    if mending.num_envs is None:
        return replace(mending, outcome="missing_num_envs")
    computed = mending.update * mending.num_envs * (mending.rollout_steps or wishes.assumed_steps)
    if computed == before or computed <= (metadata.first_step if is_known_better else before):
        return replace(mending, outcome="current_step>=computed", step_after=computed)
    return replace(mending, outcome="would_update" if wishes.dry_run else "updated", step_after=computed)


def _as_known(metadata: Metadata, wishes: Wishes) -> Mending:
    """What a step is computed from: by the metadata, and where that says nothing, by the checkpoint beside it."""
    payload, note = NOTHING_KNOWN, ""
    if not (metadata.update and metadata.num_envs and metadata.rollout_steps):
        payload, note = _asked(metadata)
    update, update_from = _first_said(metadata.update, payload.update)
    num_envs, _ = _first_said(metadata.num_envs, payload.num_envs)
    rollout_steps, rollout_steps_from = _first_said(metadata.rollout_steps, payload.rollout_steps)
    return Mending(
        path=metadata.path,
        outcome="updated",
        step_before=metadata.step,
        update=update,
        update_from=update_from,
        num_envs=num_envs,
        rollout_steps=rollout_steps or wishes.assumed_steps,
        rollout_steps_from=rollout_steps_from or "assumed",
        note=note,
    )


def _asked(metadata: Metadata) -> tuple[Payload, str]:
    """What the checkpoint says, and why it says nothing if it does not."""
    if not metadata.payload.exists():
        is_needed = not (metadata.update and metadata.num_envs)
        return NOTHING_KNOWN, f"{metadata.payload.name} is not there to be asked" if is_needed else ""
    try:
        return read_payload(metadata.payload), ""
    except CheckpointError as error:
        return NOTHING_KNOWN, str(error)


def _first_said(by_metadata: int, by_checkpoint: int) -> tuple[int | None, Source | None]:
    """A number and who said it; nobody did if both are 0."""
    if by_metadata:
        return by_metadata, "metadata"
    return (by_checkpoint, "checkpoint") if by_checkpoint else (None, None)


def _write(metadata: Metadata, mending: Mending, wishes: Wishes) -> None:
    """Write the file as it should be, whole or not at all; before that, once, a copy of what it was."""
    assert mending.step_after is not None
    content = with_step(metadata, mending.step_after, _audit(mending, metadata.first_step))
    target = metadata.path.resolve()  # a link stays one
    backup = target.with_name(f"{target.name}.bak")
    if wishes.backup and not backup.exists():
        _write_like(target, backup, metadata.content)
    _write_like(target, target, content)


def _write_like(model: Path, path: Path, content: bytes) -> None:
    """Write a file whole, with the permissions of another."""
    with written_whole(path) as file:
        file.write(content)
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), stat.S_IMODE(model.stat().st_mode))


def _audit(mending: Mending, first_step: int) -> dict[str, Any]:
    """How the step came about, for whoever reads the file later."""
    if mending.update_from == "checkpoint":
        method = "checkpoint_plus_rollout"
    else:
        method = "assumed_rollout_steps" if mending.rollout_steps_from == "assumed" else "known_rollout_steps"
    return {
        "method": method,
        "rollout_steps": mending.rollout_steps,
        "rollout_steps_from": mending.rollout_steps_from,
        "formula": FORMULA,
        "computed_at": utc_now(),
        "checkpoint_global_update": mending.update if mending.update_from == "checkpoint" else None,
        "previous_global_step": first_step,
    }
