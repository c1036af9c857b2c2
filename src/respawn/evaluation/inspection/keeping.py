"""Which checkpoints a run has, whether they are whole, and whether it can be resumed from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from respawn.checkpoints.resumption import what_resuming_does, what_resuming_run_does
from respawn.checkpoints.store import saved
from respawn.checkpoints.verification import Examined, Surroundings, examine_all
from respawn.runs.layout import RunFolder


@dataclass(frozen=True)
class Keeping:
    """What a run can be resumed from."""

    whole: tuple[str, ...]
    """those whose files are as they were written, oldest first"""
    damaged: dict[str, str]
    """what is wrong with each, by name"""
    unusable: dict[str, str]
    """why each cannot be read though it is not damaged, by name: a newer version's, or somebody else's"""
    set_aside: tuple[str, ...]
    """damaged ones that a resume moved out of the way"""
    half_written: tuple[str, ...]
    newest_update: int | None
    """of the newest whole one"""
    newest_age_seconds: float | None
    refusal: str
    """why resuming would be refused; empty: it would not be"""
    hurdles: dict[str, tuple[str, ...]]
    """what stands against resuming from the newest whole one, by side: its parts, the run's rows or its settings"""
    older_to_go_on_from: str | None
    """the newest one before it that the run could be resumed from, if those in its way were not there"""
    in_its_way: tuple[str, ...]
    """those, oldest first: later ones that resuming would not pass over"""


def look_at_checkpoints(folder: RunFolder, around: Surroundings, now: float) -> Keeping:
    """Read every file of every checkpoint, and the rows that they know of.

    Args:
      folder: the run.
      around: what they are compared with.
      now: seconds since 1970.
    """
    examined = examine_all(lambda: saved(folder.checkpoints), around)
    whole = _of_state(examined, "whole")
    newest = whole[-1].manifest if whole else None
    refusal = what_resuming_run_does(folder, around, examined).refusal
    older, in_its_way = _way_back(examined, whole)
    return Keeping(
        whole=tuple(each.path.name for each in whole),
        damaged={each.path.name: "; ".join(each.problems) for each in _of_state(examined, "damaged")},
        unusable={each.path.name: "; ".join(each.problems) for each in _of_state(examined, "unreadable")},
        set_aside=_names(folder, "damaged-*"),
        half_written=_names(folder, ".writing-*"),
        newest_update=None if newest is None else newest.updates,
        newest_age_seconds=None if newest is None else _age(newest.saved_at, now),
        refusal=refusal,
        hurdles=whole[-1].hurdles if whole else {},
        older_to_go_on_from=older,
        in_its_way=in_its_way,
    )


def _way_back(examined: Sequence[Examined], whole: Sequence[Examined]) -> tuple[str | None, tuple[str, ...]]:
    """The newest checkpoint before the last whole one that can be resumed from, and what is in the way."""
    for at in range(len(examined) - 1, 0, -1):
        path = what_resuming_does(examined[:at]).path
        if path is not None and path != whole[-1].path:
            later = examined[[each.path for each in examined].index(path) + 1 :]
            return path.name, tuple(each.path.name for each in later if each.verdicts["files"].state != "damaged")
    return None, ()


def _of_state(examined: Sequence[Examined], state: str) -> list[Examined]:
    """Those whose files are so."""
    return [each for each in examined if each.verdicts["files"].state == state]


def _age(saved_at: str, now: float) -> float:
    return max(0.0, now - datetime.fromisoformat(saved_at).timestamp())


def _names(folder: RunFolder, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.checkpoints.glob(pattern)))
