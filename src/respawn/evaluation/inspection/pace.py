"""How fast a run is, where its time goes, and whether it gets anywhere."""

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, median

from respawn.contracts.records import UpdateReport

_BESIDE = 1.01
"""Shares that add up to more than this overlap."""
NOW_ROWS = 20
"""Rows that speak for now; those before them for before."""
SHARES = ("time/collect_share", "time/learn_share", "time/idle_share", "time/other_share")
PROGRESS = ("world/forward_share", "episode/x")
"""What says that anything was gained, the first that a world tells."""
FINITE = ("loss/policy", "loss/value", "loss/total", "gradient/norm", "policy/entropy", "value/mean")
_SPEED = "time/decisions_per_second"
_SECONDS = "time/update_seconds"


@dataclass(frozen=True)
class Pace:
    """How a run goes."""

    rows: int
    first_row_update: int | None
    """above 1 where older rows were let go of, or are not looked at"""
    now_per_second: float | None
    """decisions, the median of the newest rows"""
    before_per_second: float | None
    """... of all rows before those that are looked at; None: there are none"""
    now_seconds: float
    """how long the newest rows took"""
    before_seconds: float
    """... and those before them"""
    longest_seconds: float
    """the longest of the newest updates"""
    shares: dict[str, float]
    """of the newest rows' time, what the loop did: collect, learn, idle and other"""
    first_episode_update: int | None
    """the first row with a finished episode"""
    progress_metric: str | None
    first_progress_update: int | None
    """the first with positive progress; None: there was none, or the world does not tell"""
    progress_now: float | None
    """its mean over the newest rows"""
    return_now: float | None
    return_best: float | None
    not_finite: dict[str, int]
    """how many rows had a loss or gradient that is not finite"""
    first_not_finite_update: int | None
    is_not_finite_now: bool
    """in the newest row"""
    replay_fills: bool = False
    """replay is not full yet, so that the process is to grow"""
    replay_full_update: int = 0
    """the first update since which it is full; 0 where there is none"""


class _Walk:
    """What is remembered of rows while they go by; a few bytes of each."""

    def __init__(self) -> None:
        self.speeds = array("d")
        self.recent: deque[UpdateReport] = deque(maxlen=NOW_ROWS)
        self.rows = 0
        self.first_row: int | None = None
        self.first_episode: int | None = None
        self.progress_metric: str | None = None
        self.first_progress: int | None = None
        self.best: float | None = None
        self.not_finite: dict[str, int] = {}
        self.first_not_finite: int | None = None
        self.last_not_finite: int | None = None
        self.seconds = 0.0
        self.replay_fills = False
        self.replay_full = 0

    def note(self, report: UpdateReport) -> None:
        metrics = report.metrics
        self.rows += 1
        if self.first_row is None:
            self.first_row = report.update
        self.recent.append(report)
        self.speeds.append(metrics.get(_SPEED, 0.0))
        self.seconds += metrics.get(_SECONDS, 0.0)
        if self.first_episode is None and report.episodes > 0:
            self.first_episode = report.update
        self._note_progress(report)
        self._note_replay(report)
        value = metrics.get("return/mean")
        if value is not None and isfinite(value):
            self.best = value if self.best is None else max(self.best, value)
        for name in FINITE:
            if not isfinite(metrics.get(name, 0.0)):
                self.not_finite[name] = self.not_finite.get(name, 0) + 1
                self.last_not_finite = report.update
                if self.first_not_finite is None:
                    self.first_not_finite = report.update

    def _note_progress(self, report: UpdateReport) -> None:
        if self.progress_metric is None:
            self.progress_metric = next((name for name in PROGRESS if name in report.metrics), None)
        metric = self.progress_metric
        if metric is not None and self.first_progress is None and report.metrics.get(metric, 0.0) > 0:
            self.first_progress = report.update

    def _note_replay(self, report: UpdateReport) -> None:
        were_filling, self.replay_fills = self.replay_fills, report.metrics.get("replay/fill", 1.0) < 1
        if were_filling and not self.replay_fills:
            self.replay_full = report.update


def measure_pace(updates: Iterable[UpdateReport]) -> Pace:
    """Go over all rows once."""
    walk = _Walk()
    for report in updates:
        walk.note(report)
    speeds, recent = [speed for speed in walk.speeds if speed > 0], walk.recent
    now, before = speeds[-NOW_ROWS:], speeds[:-NOW_ROWS]
    lasted = [row.metrics.get(_SECONDS, 0.0) for row in recent]
    return Pace(
        rows=walk.rows,
        first_row_update=walk.first_row,
        now_per_second=median(now) if now else None,
        before_per_second=median(before) if before else None,
        now_seconds=sum(lasted),
        before_seconds=walk.seconds - sum(lasted),
        longest_seconds=max(lasted, default=0.0),
        shares=_shares(recent),
        first_episode_update=walk.first_episode,
        progress_metric=walk.progress_metric,
        first_progress_update=walk.first_progress,
        progress_now=_mean(walk.progress_metric, recent),
        return_now=recent[-1].metrics.get("return/mean") if recent else None,
        return_best=walk.best,
        not_finite=walk.not_finite,
        first_not_finite_update=walk.first_not_finite,
        is_not_finite_now=bool(recent) and walk.last_not_finite == recent[-1].update,
        replay_fills=walk.replay_fills,
        replay_full_update=walk.replay_full,
    )


def _mean(metric: str | None, rows: Sequence[UpdateReport]) -> float | None:
    values = [row.metrics[metric] for row in rows if metric in row.metrics] if metric is not None else []
    return fmean(values) if values else None


def _shares(rows: Sequence[UpdateReport]) -> dict[str, float]:
    """Where the loop's time went; where others collect beside it, collecting is no part of that."""
    told = [row.metrics for row in rows if all(name in row.metrics for name in (*SHARES, _SECONDS))]
    whole = sum(row[_SECONDS] for row in told)
    if whole <= 0:
        return {}
    shares = {
        name.removeprefix("time/").removesuffix("_share"): sum(row[name] * row[_SECONDS] for row in told) / whole
        for name in SHARES
    }
    if sum(shares.values()) > _BESIDE:
        del shares["collect"]
    return shares
