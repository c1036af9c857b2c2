"""Driving the loop to its end, whatever the end is: a limit, a signal, a failure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from respawn.contracts.records import EvaluationReport, Event
from respawn.errors import CheckpointWriteError, ObserverError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import write_status
from respawn.training.failures import STEPPING, cause_of, interruption_recorded, record_failure
from respawn.training.loop import updates
from respawn.training.memory_ladder import Shortage
from respawn.training.run import Run
from respawn.training.shutdown import Shutdown, stop_on_signals

StopWhen: TypeAlias = Callable[[EvaluationReport], str | None]
"""is told of each evaluation, and answers why the run should stop there, or None"""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, for now."""

    status: Literal["finished", "stopped"]
    exit_code: int
    updates: int
    decisions: int
    goal_reached: bool = False
    """whether it became as good as it was to become"""


def drive(run: Run, folder: RunFolder, shortage: Shortage, stop_when: StopWhen | None = None) -> Outcome:
    """Train until a limit is reached or a signal comes, and save; raises what failed, after saving what is safe.

    Args:
      run: what to train.
      folder: where it is kept.
      shortage: knows after which errors the caller goes on with the run: it is closed, and not said to have failed.
      stop_when: is asked after each evaluation whether to stop there, saved and ready to be resumed.
    """
    reason: str | None = None
    run.observers.remember(shortage.observer_failures)
    shutdown = Shutdown()
    # Signals outermost: one that comes while a failure is being saved and recorded must cost neither, and one that
    # comes as late as when their handlers are put back must not be lost on whoever goes on after that failure.
    with (
        shutdown.goes_before(shortage.is_survivable),
        stop_on_signals(shutdown, run.cadence, run.tell),
        _status_kept(run, folder, shortage, shutdown),
    ):
        save_if_due(run)  # so that the run can be resumed from its very first moment
        with shutdown.goes_before(shortage.is_survivable, lambda: run.at_boundary):
            for _ in updates(run):
                if stop_when is not None and run.judged is not None:
                    reason = stop_when(run.judged)
                    run.cadence.stop_requested |= reason is not None
        with shutdown.goes_before(shortage.is_survivable):
            save_if_due(run)
        shutdown.wait_until_told()
        is_cut_short = shutdown.signal is not None or reason is not None
        status: Literal["finished", "stopped"] = "stopped" if is_cut_short else "finished"
        goal_reached = run.cadence.goal_reached
        if goal_reached:
            run.tell(Event("goal_reached", f"goal reached at update {run.clock.updates}: {run.cadence.goal}"))
        message = f"{status} at update {run.clock.updates}"
        message += f" by {shutdown.signal.name}" if shutdown.signal is not None else f": {reason}" if reason else ""
        run.tell(Event(status, message, facts={"update": run.clock.updates}))
        facts = {"updates": run.clock.updates, "decisions": run.clock.decisions, "goal_reached": goal_reached}
        write_status(folder, status, **facts)
        # As of now: a signal that comes while all is being closed changes nothing any more.
        outcome = Outcome(status, shutdown.exit_code, run.clock.updates, run.clock.decisions, goal_reached)
    if run.observers.failures and not outcome.exit_code:
        raise ObserverError(f"the training is whole and saved, but {run.observers.failures[0]}")
    return outcome


def save_if_due(run: Run) -> None:
    """Save unless the checkpoint of this very update is already there."""
    if run.cadence.unsaved(run.clock):
        run.save()


@contextmanager
def _status_kept(run: Run, folder: RunFolder, shortage: Shortage, shutdown: Shutdown) -> Iterator[None]:
    """Say in status.json that the run goes on, and if it fails, that it failed and why; close the run in the end."""
    try:
        with _saved_if_survivable(run, shortage):
            write_status(folder, "running", updates=run.clock.updates, decisions=run.clock.decisions)
            yield
    except BaseException as error:
        if shortage.is_survivable(error):
            with interruption_recorded(folder, STEPPING):
                run.close()
                shutdown.stop_if_asked()
            shortage.note_failures(run.observers.failures)
            raise
        told = shortage.explained(error)
        _save_what_is_safe(run, folder, told)
        if told is error:
            raise
        raise told from error
    finally:
        run.close()


@contextmanager
def _saved_if_survivable(run: Run, shortage: Shortage) -> Iterator[None]:
    """Keep the update before a shortage of memory if it is whole; there is a checkpoint from before in any case."""
    try:
        yield
    except Exception as error:
        if shortage.is_survivable(error) and run.at_boundary:
            try:
                save_if_due(run)
            except CheckpointWriteError:
                pass
            except Exception as second:
                if not shortage.is_survivable(second):
                    raise
        raise


def _save_what_is_safe(run: Run, folder: RunFolder, error: BaseException) -> None:
    """Keep the update before the failure if it is whole, and let everybody know."""
    if isinstance(error, KeyboardInterrupt):
        _note_interruption(run, folder, error)
        return
    run.tell(Event("failed", f"failed at update {run.clock.updates}: {cause_of(error)}", "error"))
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
