"""What a person wants to know at a glance, gathered from records and put into words; console.py shows it."""

import time
from collections.abc import Callable

from respawn.contracts.records import Beat, EvaluationReport, Record, UpdateReport
from respawn.contracts.saveable import StateTree

_LEARNING_METRICS = {
    "policy loss": "loss/policy",
    "value loss": "loss/value",
    "entropy": "policy/entropy",
    "lag": "weights/lag",
}
_SCORES = ("evaluation/cleared", "evaluation/survival_mean", "evaluation/return_mean")
"""What an evaluation is judged by: levels cleared, or fish that survived, where there are any; else the return."""
_RATES = frozenset({"evaluation/cleared", "evaluation/survival_mean"})
"""Those of them that are shares of one."""


class Progress:
    """How far a run is, how fast it goes and how well it does."""

    def __init__(
        self,
        total_updates: int | None,
        total_minutes: float | None,
        first_update: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total_updates = total_updates
        self._total_minutes = total_minutes
        self._first_update = first_update
        self._now = now
        self._began = self._noted = now()
        self._report: UpdateReport | None = None
        self._score = _SCORES[-1]
        self._best: tuple[float, int] | None = None  # score, update
        self._latest: float | None = None
        self._beat: Beat | None = None  # the last one, if no update came since

    def note(self, record: Record) -> None:
        """Take note of an update, of an evaluation, or of a sign of life between two updates."""
        if isinstance(record, UpdateReport):
            self._report = record
            self._noted = self._now()
            self._beat = None
        elif isinstance(record, Beat):
            self._beat = record
        elif isinstance(record, EvaluationReport) and any(name in record.metrics for name in _SCORES):
            score = next(name for name in _SCORES if name in record.metrics)
            if score != self._score:
                self._score, self._best = score, None  # a share and a return cannot be compared
            self._latest = record.metrics[self._score]
            if self._best is None or self._latest > self._best[0]:
                self._best = (self._latest, record.update)

    def state(self) -> StateTree:
        """The best evaluation so far."""
        value, update = self._best or (None, None)
        return {"best": value, "best_update": update, "score": self._score}

    def restore(self, state: StateTree) -> None:
        """Know the best evaluation again."""
        self._best = None if state["best"] is None else (state["best"], state["best_update"])
        self._score = state.get("score", self._score)

    @property
    def update(self) -> int:
        """The last update that was reported."""
        return self._first_update if self._report is None else self._report.update

    @property
    def is_between_updates(self) -> bool:
        """Whether the last that was heard is a sign of life: the next update takes long."""
        return self._beat is not None

    @property
    def fraction(self) -> float | None:
        """How much of the run is done, by the limit that will end it; None for a run without an end."""
        fractions = []
        if self._total_updates is not None:
            fractions.append(self.update / max(1, self._total_updates))
        if self._total_minutes is not None:
            fractions.append(self._trained_seconds() / max(1e-9, 60 * self._total_minutes))
        return min(1.0, max(fractions)) if fractions else None

    @property
    def seconds_left(self) -> float | None:
        """How long it will take if it goes on as since the start of this process; None when nobody can know."""
        left = []
        if self._total_updates is not None and self.update > self._first_update:
            seconds_per_update = (self._noted - self._began) / (self.update - self._first_update)
            left.append((self._total_updates - self.update) * seconds_per_update - (self._now() - self._noted))
        if self._total_minutes is not None:
            left.append(60 * self._total_minutes - self._trained_seconds() - (self._now() - self._noted))
        return max(0.0, min(left)) if left else None

    def headline(self) -> list[str]:
        """Percent, updates and time left."""
        words = []
        if self.fraction is not None:
            words.append(f"{int(100 * self.fraction + 1e-9)}%")
        of = "" if self._total_updates is None else f"/{self._total_updates}"
        words.append(f"update {self.update}{of}")
        left = self.seconds_left
        words.append(f"{duration(self._now() - self._began)} gone" if left is None else f"{duration(left)} left")
        return words

    def figures(self) -> list[tuple[str, str]]:
        """Labels and values of how the run does."""
        metrics = {} if self._report is None else self._report.metrics
        figures = [] if self._beat is None else [("now", _doing(self._beat))]
        if self._report is not None:
            rate = metrics.get("time/decisions_per_second")
            figures.append(("decisions", f"{self._report.decisions:,}" + ("" if rate is None else f" ({rate:,.0f}/s)")))
        if "episode/cleared" in metrics:
            figures.append(("cleared", percent(metrics["episode/cleared"])))
        if "episode/x" in metrics:
            figures.append(("x", f"{metrics['episode/x']:,.0f}"))
        if "episode/survival" in metrics:
            figures.append(("survival", percent(metrics["episode/survival"])))
        if "return/mean" in metrics:
            figures.append(("return", number(metrics["return/mean"])))
        if self._latest is not None:
            figures.append(("evaluation", score_shown(self._score, self._latest)))
        if self._best is not None:
            figures.append(("best", f"{score_shown(self._score, self._best[0])} at {self._best[1]}"))
        return figures

    def learning(self) -> list[tuple[str, str]]:
        """Labels and values of how the last update went."""
        metrics = {} if self._report is None else self._report.metrics
        return [(label, number(metrics[name])) for label, name in _LEARNING_METRICS.items() if name in metrics]

    def _trained_seconds(self) -> float:
        here = self._noted - self._began
        return here if self._report is None else self._report.metrics.get("time/total_seconds", here)


def _doing(beat: Beat) -> str:
    share = beat.metrics.get("heartbeat/rollout_share", 0.0)
    if share > 0:
        return f"{percent(share)} of a rollout"
    return ", ".join(dict.fromkeys(beat.phases.values())) or "nothing"


def number(value: float) -> str:
    """A number short enough to read while it changes."""
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e9 else f"{value:.4g}"


def score_shown(name: str, value: float) -> str:
    """The value of an evaluation's metric, as a person reads it."""
    return percent(value) if name in _RATES else number(value)


def percent(share: float) -> str:
    """A share of one, as 7.5 % or 100 %."""
    return f"{100 * share:.3g} %"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, as 0:07, 12:34 or 1:02:03."""
    minutes, second = divmod(round(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}"
