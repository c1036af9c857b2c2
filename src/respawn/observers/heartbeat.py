"""A sign of life at even intervals, whatever the run is doing; and an alarm when nothing moves any more.

Written straight to its own file by a thread of its own, not through the hub: a run that hangs inside an observer still
has a heart that beats. What that thread cannot do, such as write to a full disk, is told of and ends no watching.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

import psutil

from respawn.contracts.records import Beat, Event, Record
from respawn.contracts.saveable import StateTree
from respawn.observers.jsonl import JsonlStream
from respawn.observers.slow_steps import SlowSteps
from respawn.observers.stack_dumps import LastResort, try_to_dump
from respawn.observers.stillness import Stillness
from respawn.observers.thread_phases import Doing, ThreadPhases
from respawn.observers.throttle import EverySeconds
from respawn.observers.ticker import Ticker
from respawn.observers.whereabouts import Whereabouts

RATE_BEATS = 8
"""Beats that rates are taken over."""
JUMP_SECONDS = 2.0
"""Two clocks that drift apart by more than this between two looks were not drifting: one was set."""
LONGEST_LOOK_SECONDS = 1.0
SHORTEST_LOOK_SECONDS = 0.05
SHORTEST_REARM_SECONDS = 1.0
"""The last resort is a thread of its own each time it is armed, so not at every look."""


@dataclass(frozen=True)
class HeartbeatLimits:
    """How often the heart beats, and when it sounds an alarm."""

    beat_seconds: float
    stall_seconds: float
    """0: nothing counts as standing still"""
    ends_when_hung: bool = False
    """whether the process ends, with exit code 1, where native code never lets the thread that watches run again"""


@dataclass(frozen=True)
class Alarms:
    """Who is called when something is wrong."""

    on_failure: Callable[[Exception], None]
    """is told, once and in the thread of whoever gives the heart a record, of what it could not do"""
    on_stall: Callable[[str], None] = lambda sentence: None
    """is called when nothing moves any more, after everybody was told"""


class Heartbeat:
    """Beats, and watches that the run moves. The file is history: resuming adds to it."""

    def __init__(
        self,
        stream: JsonlStream,
        phases: ThreadPhases,
        slow_steps: SlowSteps,
        traces: Path,
        notify: Callable[[Record], None],
        limits: HeartbeatLimits,
        alarms: Alarms,
        begins_at: tuple[int, int] = (0, 0),
    ) -> None:
        """Begin to beat.

        Args:
          stream: where beats go.
          phases: what threads say they are doing.
          slow_steps: looks at the same.
          traces: where stacks are dumped.
          notify: is told of alarms, and shown each beat; must come back also where the hub hangs (`told_beside`).
          limits: how often, how long.
          alarms: who is called.
          begins_at: update and decisions that beats have until there is an update.
        """
        self._stream = stream
        self._phases = phases
        self._slow_steps = slow_steps
        self._traces = traces
        self._tell = notify
        self._limits = limits
        self._alarms = alarms
        self._has_failed = False
        self._untold: Exception | None = None  # the first failure, until somebody knows
        self._process = psutil.Process()
        self._process.cpu_percent()  # the first call measures nothing
        self._where = Whereabouts(begins_at)
        self._history: deque[tuple[float, int, int]] = deque(maxlen=RATE_BEATS)  # seconds, updates, decisions
        self._due = EverySeconds(limits.beat_seconds, time.monotonic)
        self._rearm_seconds = max(SHORTEST_REARM_SECONDS, limits.stall_seconds / 10)
        self._rearm_due = EverySeconds(self._rearm_seconds, time.monotonic)
        look_seconds = _look_seconds(limits, slow_steps)
        self._stillness = Stillness(look_seconds, time.monotonic)
        self._stalled_at: float | None = None
        self._clocks = (time.time(), time.monotonic())
        self._last_resort = LastResort(traces / f"hung-{time.time():.0f}.txt", ends_process=limits.ends_when_hung)
        self._beat()
        self._due.due()
        with suppress(OSError):  # a folder that cannot be used: raised again when it is due, where it harms no run
            self._keep_armed()  # before the first look: native code may keep it from ever coming
        self._ticker = Ticker("heartbeat", look_seconds, self._look)

    def receive(self, record: Record) -> None:
        """Know how far the run is."""
        were_known = self._where.are_known
        self._where.note(record)
        if self._where.are_known and not were_known:
            self._begin_rates()  # a run that was taken up has not made all its updates just now
        self._ticker.check()
        error, self._untold = self._untold, None
        if error is not None:
            self._alarms.on_failure(error)

    def state(self) -> StateTree:
        """How far the run is; the beats until now are on the disk then. They are history: nothing goes back to them."""
        self._attempt(self._stream.state)
        return self._where.state()

    def restore(self, state: StateTree) -> None:
        """Know how far the run is again, and go on after the beats that are there."""
        self._stream.restore(state)
        self._where.restore(state)
        self._begin_rates()

    def close(self) -> None:
        """Beat once more, and stop, and raise what failed if nobody was told; safe to call twice."""
        self._ticker.close()
        self._last_resort.disarm()
        if not self._stream.is_closed:
            try:
                # It may have come to its end since the last look, and nobody is to be left with an alarm.
                self._has_moved_again(self._stillness.seconds(self._phases.last_move()))
                self._attempt(self._beat)
            finally:
                self._stream.close()
        self._ticker.check()
        error, self._untold = self._untold, None
        if error is not None:
            raise error

    def _look(self) -> None:
        for part in (self._keep_armed, self._tell_of_last_resort, self._watch_clock, self._watch_steps):
            self._attempt(part)
        is_due = self._due.due()
        if self._watch_for_stall() or is_due:
            self._attempt(self._beat_and_show)

    def _attempt(self, part: Callable[[], object]) -> None:
        """Do it; where it fails, go on watching. `receive` tells of the first failure, for the rest will be alike."""
        try:
            part()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: told of by `receive`, or raised by `close`
            if not self._has_failed:
                self._has_failed, self._untold = True, error

    def _watch_steps(self) -> None:
        self._slow_steps.look(self._phases.look())

    def _keep_armed(self) -> None:
        if self._limits.stall_seconds > 0 and self._rearm_due.due():
            self._last_resort.arm(1.5 * self._limits.stall_seconds + self._rearm_seconds + LONGEST_LOOK_SECONDS)

    def _tell_of_last_resort(self) -> None:
        path = self._last_resort.fired()
        if path is not None:
            message = (
                "for a long time not even the thread that watches could run: native code held the interpreter, or the "
                f"process was stopped; the stacks of all threads are in {path.parent.name}/{path.name}"
            )
            self._tell(Event("hung", message, "error", {"trace": str(path)}))

    def _watch_for_stall(self) -> bool:
        """Sound the alarm once when the run stands still; answers whether it moves again."""
        idle, limit = self._stillness.seconds(self._phases.last_move()), self._limits.stall_seconds
        if limit > 0 and idle > limit and self._stalled_at is None:
            self._stalled_at = time.monotonic()
            self._alarm(idle)
        return self._has_moved_again(idle)

    def _has_moved_again(self, idle: float) -> bool:
        """Tell so, if it stood still before."""
        if self._stalled_at is None or idle >= self._limits.stall_seconds:
            return False
        stood = time.monotonic() - self._stalled_at + self._limits.stall_seconds
        self._stalled_at = None
        self._tell(Event("moving_again", f"the run moves again after it stood still for {stood:.0f} s"))
        return True

    def _alarm(self, idle: float) -> None:
        doing = self._phases.look()
        where = "; ".join(f"{each.thread} is in '{each.phase}'" for each in doing) or "no thread says what it does"
        sentence = f"nothing has moved for {idle:.0f} s: {where}"
        facts: dict[str, str | float] = {"idle_seconds": idle}
        facts |= {each.thread: each.phase for each in doing}
        kept = try_to_dump(self._traces, "stalled", sentence, doing)
        self._tell(Event("stalled", sentence + kept.said, "error", {**facts, **kept.facts}))
        self._attempt(self._beat)  # last: what stands still may be the disk, and then so does this
        self._alarms.on_stall(sentence + kept.said)

    def _watch_clock(self) -> None:
        """Tell when the system's clock was set: times in the streams are its, spans of time are not."""
        wall, steady = time.time(), time.monotonic()
        jumped = (wall - self._clocks[0]) - (steady - self._clocks[1])
        self._clocks = (wall, steady)
        if abs(jumped) > JUMP_SECONDS:
            message = (
                f"the system's clock jumped by {jumped:+.0f} s (it was set, or the machine slept): times in the "
                "streams jump too; limits and rates go by another clock and do not"
            )
            self._tell(Event("clock_jumped", message, "warning", {"seconds": jumped}))

    def _beat_and_show(self) -> None:
        beat = self._next_beat()
        if not beat.is_stalled:  # of that they were told
            self._tell(beat)
        self._stream.receive(beat)

    def _beat(self) -> None:
        self._stream.receive(self._next_beat())

    def _next_beat(self) -> Beat:
        update, decisions = self._where.update_and_decisions()
        history = self._history
        history.append((time.monotonic(), update, decisions))
        doing = self._phases.look()
        phases = {each.thread: each.phase for each in doing}
        metrics = {**_rates(history), "heartbeat/rollout_share": _rollout_share(doing), **self._about_process()}
        return Beat(update, decisions, phases, self._stalled_at is not None, metrics)

    def _begin_rates(self) -> None:
        self._history = deque([(time.monotonic(), *self._where.update_and_decisions())], maxlen=RATE_BEATS)

    def _about_process(self) -> dict[str, float]:
        process = self._process
        with process.oneshot():
            return {
                "heartbeat/idle_seconds": self._phases.idle_seconds(),
                "heartbeat/rss_mib": process.memory_info().rss / 2**20,
                "heartbeat/cpu_percent": process.cpu_percent(),
                "heartbeat/threads": float(process.num_threads()),
                "heartbeat/open_files": float(process.num_fds()) if hasattr(process, "num_fds") else float("nan"),
            }


def _look_seconds(limits: HeartbeatLimits, slow_steps: SlowSteps) -> float:
    """Often enough for all that is to be seen."""
    wanted = min(limits.beat_seconds, limits.stall_seconds / 4 or inf, slow_steps.look_seconds)
    return max(SHORTEST_LOOK_SECONDS, min(wanted, LONGEST_LOOK_SECONDS))


def _rollout_share(doing: Sequence[Doing]) -> float:
    """How much of the rollout under way is gathered; 0 where none is."""
    return max((each.share for each in doing), default=0.0)


def _rates(history: Sequence[tuple[float, int, int]]) -> dict[str, float]:
    (began, first_update, first_decisions), (now, update, decisions) = history[0], history[-1]
    span = max(now - began, 1e-9)
    return {
        "heartbeat/updates_per_second": (update - first_update) / span,
        "heartbeat/decisions_per_second": (decisions - first_decisions) / span,
    }
