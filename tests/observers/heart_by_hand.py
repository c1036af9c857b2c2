"""A heart that beats by hand, on a clock that is set by hand, and what it says."""

from dataclasses import dataclass, field

import pytest

from respawn.contracts.records import Beat, Event, Record, UpdateReport
from respawn.observers import heartbeat as module
from respawn.observers.heartbeat import Alarms, Heartbeat, HeartbeatLimits
from respawn.observers.jsonl import JsonlStream
from respawn.observers.slow_steps import SlowStepLimits, SlowSteps
from respawn.observers.thread_phases import ThreadPhases
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_beats


class Clock:
    """Stands in for the module `time`: a wall clock and a steady one that are set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.wall_is_ahead = 1.7e9

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now + self.wall_is_ahead


class ByHand:
    """Stands in for a ticker: ticks when told to."""

    def __init__(self, name: str, seconds: float, tick) -> None:
        self.seconds, self.tick, self.error, self.closed = seconds, tick, None, False

    def check(self) -> None:
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def close(self) -> None:
        self.closed = True


@dataclass
class Watched:
    """A heart that beats by hand, and what it said."""

    folder: RunFolder
    clock: Clock
    phases: ThreadPhases
    heart: Heartbeat
    ticker: ByHand
    told: list[Event] = field(default_factory=list)
    shown: list[Beat] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    def pass_seconds(self, seconds: float) -> None:
        """Time passes, and it looks as often as it would."""
        end = self.clock.now + seconds
        while self.clock.now < end - 1e-9:
            self.clock.now = min(self.clock.now + self.ticker.seconds, end)
            self.ticker.tick()

    def beats(self) -> list[Beat]:
        return [beat for _, beat in read_beats(self.folder)]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.told]


def watch(
    folder: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    beat_seconds=30.0,
    stall_seconds=300.0,
    step_seconds=15.0,
    begins_at=(0, 0),
) -> Watched:
    clock, told, shown, ended, failed, tickers = Clock(), [], [], [], [], []

    def by_hand(*arguments):
        tickers.append(ByHand(*arguments))
        return tickers[0]

    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "Ticker", by_hand)
    phases = ThreadPhases(clock.monotonic)
    slow = SlowSteps(SlowStepLimits(step_seconds, 5, 120.0), folder.traces, told.append, clock.monotonic)
    limits = HeartbeatLimits(beat_seconds, stall_seconds)

    def tell(record: Record) -> None:
        (shown if isinstance(record, Beat) else told).append(record)

    heart = Heartbeat(
        stream(folder), phases, slow, folder.traces, tell, limits, Alarms(failed.append, ended.append), begins_at
    )
    return Watched(folder, clock, phases, heart, tickers[0], told, shown, ended, failed)


def stream(folder: RunFolder) -> JsonlStream:
    return JsonlStream(folder.heartbeats, Beat, truncate_on_restore=False)


def report(update: int) -> UpdateReport:
    return UpdateReport(update, 100 * update, 400 * update, update, {})
