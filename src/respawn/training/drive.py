"""Driving the loop to its end, whatever the end is: a limit, a signal, a failure."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from respawn.contracts.records import Event
from respawn.errors import CheckpointWriteError, ObserverError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import write_status
from respawn.training.loop import updates
from respawn.training.run import Run
from respawn.training.shutdown import stop_on_signals


@dataclass(frozen=True)
class Outcome:
    """How a run ended, for now."""

    status: Literal["finished", "stopped"]
    exit_code: int
    updates: int
    decisions: int
    goal_reached: bool = False
    """whether it became as good as it was to become"""


def drive(run: Run, folder: RunFolder) -> Outcome:
    """Train until a limit is reached or a signal comes, and save; raises what failed, after saving what is safe."""
    with _status_kept(run, folder), stop_on_signals(run.cadence, run.tell) as shutdown:
        save_if_due(run)  # so that the run can be resumed from its very first moment
        for _ in updates(run):
            pass
        save_if_due(run)
        shutdown.wait_until_told()
        status: Literal["finished", "stopped"] = "finished" if shutdown.signal is None else "stopped"
        goal_reached = run.cadence.goal_reached
        if goal_reached:
            run.tell(Event("goal_reached", f"goal reached at update {run.clock.updates}: {run.cadence.goal}"))
        message = f"{status} at update {run.clock.updates}"
        message += f" by {shutdown.signal.name}" if shutdown.signal is not None else ""
        run.tell(Event(status, message, facts={"update": run.clock.updates}))
        facts = {"updates": run.clock.updates, "decisions": run.clock.decisions, "goal_reached": goal_reached}
        write_status(folder, status, **facts)
    if run.observers.failures and shutdown.signal is None:
        raise ObserverError(f"the training is whole and saved, but {run.observers.failures[0]}")
    return Outcome(status, shutdown.exit_code, run.clock.updates, run.clock.decisions, goal_reached)


def save_if_due(run: Run) -> None:
    """Save unless the checkpoint of this very update is already there."""
    if run.cadence.unsaved(run.clock):
        run.save()


@contextmanager
def _status_kept(run: Run, folder: RunFolder) -> Iterator[None]:
    """Say in status.json that the run goes on, and if it fails, that it failed and why; close the run in the end."""
    try:
        write_status(folder, "running", updates=run.clock.updates, decisions=run.clock.decisions)
        yield
    except BaseException as error:
        _save_what_is_safe(run, folder, error)
        raise
    finally:
        run.close()


def _save_what_is_safe(run: Run, folder: RunFolder, error: BaseException) -> None:
    """Keep the update before the failure if it is whole, and let everybody know."""
    if isinstance(error, KeyboardInterrupt):
        _note_interruption(run, folder, error)
        return
    run.tell(Event("failed", f"failed at update {run.clock.updates}: {_cause(error)}", "error"))
    if run.at_boundary and not isinstance(error, CheckpointWriteError):
        # The failure came after an update was whole (in an evaluation, say): all of that update can be kept.
        try:
            save_if_due(run)
        except Exception as second:  # noqa: BLE001 - told with the first error, which is the one to report
            error.add_note(f"and its last update could not be saved: {second}")
    record_failure(folder, error, updates=run.clock.updates, decisions=run.clock.decisions)


def _note_interruption(run: Run, folder: RunFolder, error: KeyboardInterrupt) -> None:
    """Nothing failed: somebody did not wait until the run was saved."""
    reason = str(error) or "it was interrupted in the middle of an update"
    run.tell(Event("stopped", f"stopped at update {run.clock.updates}, and not saved: {reason}", "warning"))
    try:
        write_status(folder, "stopped", updates=run.clock.updates, decisions=run.clock.decisions, cause=reason)
    except OSError as second:
        error.add_note(f"and that could not be recorded in {folder.path}: {second}")


def record_failure(folder: RunFolder, error: BaseException, *, updates: int = 0, decisions: int = 0) -> None:
    """Leave the traceback in failure.txt and the cause in status.json."""
    try:
        folder.failure.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        write_status(folder, "failed", updates=updates, decisions=decisions, cause=_cause(error))
    except OSError as second:
        # A full disk can make this fail too; the first error is the one to report.
        error.add_note(f"and the failure itself could not be recorded in {folder.path}: {second}")


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip()
