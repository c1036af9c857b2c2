"""What resuming a run would do: from which checkpoint it would go on, or why it would be refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from respawn.checkpoints.verification import Examined, Surroundings
from respawn.errors import CheckpointError, RespawnError
from respawn.runs.layout import RunFolder, problem_of
from respawn.runs.reader import read_rows


@dataclass(frozen=True)
class Resumption:
    """What resuming would do."""

    path: Path | None
    """the checkpoint it would take up; None: none"""
    passed_over: tuple[str, ...] = ()
    """the names of newer ones, which are damaged"""
    refusal: str = ""
    """why it would be refused, if it would"""


def what_resuming_does(examined: Sequence[Examined]) -> Resumption:
    """What resuming would do with these, oldest first."""
    passed_over: list[str] = []
    for each in reversed(examined):
        files = each.verdicts["files"]
        if files.state == "damaged":
            passed_over.append(each.path.name)
            continue
        # From here on nothing is passed over: going back further would throw away what may well be whole.
        hurdles = list(each.hurdles.values())
        refusal = f"{each.path.name}: {hurdles[0][0]}" if hurdles else ""
        return Resumption(None if refusal else each.path, tuple(passed_over), refusal)
    return Resumption(None, tuple(passed_over), "every checkpoint is damaged" if passed_over else "")


def what_resuming_run_does(folder: RunFolder, around: Surroundings, examined: Sequence[Examined]) -> Resumption:
    """What resuming a run would do, by its own files first, and then by its checkpoints.

    Args:
      folder: the run.
      around: what its checkpoints were compared with.
      examined: all of them, oldest first.
    """
    problem = problem_of(folder) or around.settings_problem
    if not problem and not examined:
        problem = around.beginning_problem
        try:
            check_nothing_is_lost(folder)
        except RespawnError as error:
            problem = str(error)  # that comes first
    return Resumption(None, (), problem) if problem else what_resuming_does(examined)


def check_nothing_is_lost(folder: RunFolder) -> None:
    """Raise CheckpointError if a run without checkpoints has made updates; else it can be begun at its beginning."""
    if next(read_rows(folder.updates), None) is not None:
        raise CheckpointError(
            f"run {folder.name} has made updates, but {folder.checkpoints} holds no checkpoint; "
            "put the checkpoints back, or start a new run"
        )
