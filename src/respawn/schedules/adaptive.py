"""The adaptive channel: a signal leaves a band, and a knob goes a step towards a bound."""

import difflib
import math
from collections import deque
from collections.abc import Mapping
from statistics import fmean
from typing import Literal, TypeAlias

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.errors import ConfigError
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.compose import KnobSchedule, Lock

ADAPTIVE = "adaptive"

MoveEvent: TypeAlias = Literal["raise", "lower", "hold", "cooling", "filling", "missing"]


class AdaptiveChannel:
    """Any signal to any knob. Moves at most once for each report that has the signal, and for no other."""

    def __init__(self, config: AdaptiveConfig, beneath: KnobSchedule) -> None:
        """Lay the channel over what else decides the knob.

        Args:
          config: what it listens to and how it moves.
          beneath: the knob's curve, its windows, or its setting; raises ConfigError where the two cannot share it.
        """
        self._config = config
        self._check_meeting(beneath)
        self._reach = beneath.reach
        self._beneath = Lock(config.knob, beneath)
        self._seen: deque[float] = deque(maxlen=config.window)
        self._average_ema: float | None = None
        # None: the window has not been full yet, and what lies beneath decides alone.
        self._value: float | None = None
        self._moved_at: int | None = None
        self._waited_updates = 0

    def _check_meeting(self, beneath: KnobSchedule) -> None:
        config = self._config
        if beneath.bends and config.mode == "replace" and not config.anneal_lock:
            raise ConfigError(
                f"a curve or windows and an adaptive channel both decide '{config.knob}'; set the channel's "
                "anneal_lock so that it takes over, or its mode to 'scale', or keep the curve constant"
            )
        if config.mode == "scale" and beneath.reach == (0.0, 0.0):
            raise ConfigError(
                f"the adaptive channel of {config.knob}: its mode is 'scale', and the knob's setting is 0, so there is "
                "nothing to scale; set the knob, or the mode to 'replace'"
            )
        if config.anneal_lock and not beneath.bends:
            raise ConfigError(f"{config.prefix}anneal_lock has no curve to lock; leave it out")

    @property
    def owns(self) -> frozenset[str]:
        """The one knob."""
        return frozenset({self._config.knob})

    @property
    def bends(self) -> bool:
        """Whether the knob ever changes."""
        return True

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of all that it may ever decide."""
        lowest, highest = self._config.lowest, self._config.highest
        if self._config.mode == "replace":
            return min(lowest, *self._reach), max(highest, *self._reach)
        ends = [base * factor for base in self._reach for factor in (lowest, highest)]
        return min(ends), max(ends)

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """What lies beneath, replaced or scaled as soon as the window has been full."""
        if self._value is None:
            value = self._beneath.value(clock)
        else:
            value = self._value if self._config.mode == "replace" else self._value * self._beneath.value(clock)
        return {self._config.knob: value}

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """Take in the signal, and move if it is time to."""
        if isinstance(report, EvaluationReport) != self._config.by_evaluations:
            return ()
        newest = report.metrics.get(self._config.signal)
        if newest is None or not math.isfinite(newest):
            self._wait(report)
            return (self._ruling(report.update, None, "missing"),)
        self._waited_updates = 0
        weight = 2.0 / (self._config.window + 1)
        before = newest if self._average_ema is None else self._average_ema
        self._average_ema = before + weight * (newest - before)
        self._seen.append(newest)
        return (self._ruling(report.update, newest, self._move(report.update)),)

    def _wait(self, report: UpdateReport | EvaluationReport) -> None:
        """Refuse to go on for ever by a signal that nobody gives."""
        config = self._config
        if self._seen or config.comes_late:
            return
        self._waited_updates += 1
        if self._waited_updates >= config.patience_updates:
            close = difflib.get_close_matches(config.signal, report.metrics, n=1)
            hint = f"did you mean {close[0]}?" if close else f"updates have {', '.join(sorted(report.metrics))}"
            raise ConfigError(
                f"{config.prefix}signal '{config.signal}' has not appeared in {self._waited_updates} updates; {hint}"
            )

    def _move(self, update: int) -> MoveEvent:
        config = self._config
        if len(self._seen) < config.window:
            return "filling"
        if self._value is None:
            self._take_over(Clock(updates=update))
        value = self._value
        assert value is not None, "it was taken over"
        bound = self._bound(fmean(self._seen))
        if bound is None:
            return "hold"
        if self._moved_at is not None and update - self._moved_at <= config.cooldown_updates:
            return "cooling"
        moved = min(max(value + (bound - value) * config.step, config.lowest), config.highest)
        if moved == value:
            return "hold"
        self._value, self._moved_at = moved, update
        return "raise" if moved > value else "lower"

    def _take_over(self, clock: Clock) -> None:
        config = self._config
        if config.anneal_lock:
            self._beneath.lock(clock)
        begins = 1.0 if config.mode == "scale" else self._beneath.value(clock)
        self._value = min(max(begins, config.lowest), config.highest)

    def _bound(self, average: float) -> float | None:
        """Where to; None: nowhere."""
        config = self._config
        direction = config.below if average < config.low else config.above if average > config.high else "stay"
        return {"lowest": config.lowest, "highest": config.highest, "stay": None}[direction]

    def _ruling(self, update: int, newest: float | None, event: MoveEvent) -> Ruling:
        """What came of a report; `knob_value` is what holds from the next update on."""
        facts = {
            "event": event,
            "knob": self._config.knob,
            "signal": self._config.signal,
            "newest": newest,
            "average": fmean(self._seen) if self._seen else None,
            "ema": self._average_ema,
            "factor": self._value if self._config.mode == "scale" else None,
            "knob_value": self.decide(Clock(updates=update))[self._config.knob],
        }
        return Ruling(update, ADAPTIVE, facts)

    def state(self) -> StateTree:
        """What was heard, where it led, and when it last moved."""
        return {
            "beneath": self._beneath.state(),
            "seen": list(self._seen),
            "ema": self._average_ema,
            "value": self._value,
            "moved_at": self._moved_at,
            "waited_updates": self._waited_updates,
        }

    def restore(self, state: StateTree) -> None:
        """The same again."""
        self._beneath.restore(state["beneath"])
        self._seen.clear()
        self._seen.extend(state["seen"])
        self._average_ema = state["ema"]
        self._value = state["value"]
        self._moved_at = state["moved_at"]
        self._waited_updates = state["waited_updates"]
