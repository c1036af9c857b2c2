"""Recording how a run failed, so that whoever looks at its folder knows, also where it was never put together."""

import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from respawn.checkpoints.store import find_newest
from respawn.contracts.records import Event
from respawn.errors import CheckpointError, RunFolderError
from respawn.learners.out_of_memory import gpu_is_full, host_is_full
from respawn.observers.jsonl import JsonlStream
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status, write_status

NOT_KEPT, NOT_RECORDED = "and its traceback could not be kept", "and that it failed could not be recorded"
"""How notes on an error begin."""

STEPPING = "it stepped down the memory ladder"
ASSEMBLING = "it was put together, or made ready to be"
"""What a run was in the middle of."""


def cause_of(error: BaseException) -> str:
    """What failed, in a line, however many its message has."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def record_failure(folder: RunFolder, error: BaseException, *, updates: int, decisions: int) -> None:
    """Leave the traceback in failure.txt and the cause in status.json.

    A full disk can make that fail too; then notes on the error, which is the one to report, say so.
    """
    try:
        folder.failure.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError as second:
        error.add_note(f"{NOT_KEPT}: {second}")
        with suppress(OSError):
            folder.failure.unlink(missing_ok=True)  # that of an earlier failure, or half of this one
    try:
        write_status(folder, "failed", updates=updates, decisions=decisions, cause=cause_of(error))
    except OSError as second:
        error.add_note(f"{NOT_RECORDED}: {second}")


def record_alone(folder: RunFolder, error: BaseException) -> None:
    """The same, and the event that tells of it, where there is no run that could do so."""
    updates, decisions = _saved(folder)
    record_failure(folder, error, updates=updates, decisions=decisions)
    event = Event("failed", f"failed before update {updates + 1}: {cause_of(error)}", "error")
    with (
        suppress(OSError, RunFolderError),  # that the folder cannot be written to was noted just now
        closing(JsonlStream(folder.events, Event, truncate_on_restore=False)) as events,
    ):
        events.receive(event)


@contextmanager
def failure_recorded(folder: RunFolder, refusals: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """While inside, a run is put together. A failure is its own, or its world's: recorded, and resuming tries again.

    Args:
      folder: the run.
      refusals: errors that whoever asked for it is to mend; they change nothing.
    """
    try:
        yield
    except refusals:
        raise
    except Exception as error:
        if not gpu_is_full(error) and not host_is_full(error):  # else there may be a way on, or more to say
            record_alone(folder, error)
        raise


@contextmanager
def interruption_recorded(folder: RunFolder, meanwhile: str) -> Iterator[None]:
    """While inside, a run that says to be running is none; a signal finds nobody else to say that it is not."""
    try:
        yield
    except KeyboardInterrupt as error:
        if folder.path.exists() and read_status(folder).status == "running":
            updates, decisions = _saved(folder)
            cause = f"it was interrupted while {meanwhile}"
            try:
                write_status(folder, "stopped", updates=updates, decisions=decisions, cause=cause)
            except OSError as second:
                error.add_note(f"and that could not be recorded in {folder.path}: {second}")
        raise


def _saved(folder: RunFolder) -> tuple[int, int]:
    """Updates and decisions of the newest checkpoint; none where there is none that can be read."""
    try:
        found = find_newest(folder.checkpoints)
    except CheckpointError:
        return 0, 0
    return (0, 0) if found is None else (found.manifest.updates, found.manifest.decisions)


def is_noted(error: BaseException, note: str) -> bool:
    """Whether one of the notes above is on an error."""
    return any(each.startswith(note) for each in getattr(error, "__notes__", ()))
