"""Hints: what looks wrong, and what to do about it. They talk; schedules act."""

import time
from collections.abc import Callable, Collection

from respawn.contracts.records import EvaluationReport, Event, Record, ResourceReport, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.observers.hint_rules import rules_without
from respawn.observers.hint_view import HintFacts, HintView
from respawn.observers.throttle import EverySeconds

HINT = "hint"
"""The kind of a hint's event."""
CHECK_EVERY_UPDATES = 10
"""Conditions look at many rows, so that looking after each would tell the same and cost ten times as much."""
CHECK_EVERY_SECONDS = 60.0
"""Where updates are long, the disk is not to fill before ten of them are made."""
COOLDOWN_SECONDS = 600.0
"""A fast run makes hundreds of updates a second, and nobody reads the same as often."""
REPLACEMENTS = ("worker_replaced", "actor_replaced")


class Hints:
    """Looks at the latest records now and then, and tells what it finds as events.

    A hint that was given is not given again for `cooldown_updates` updates, whoever stopped and resumed the run
    meanwhile, nor by the same process for ten minutes.
    """

    def __init__(
        self,
        facts: HintFacts,
        notify: Callable[[Event], None],
        *,
        cooldown_updates: int = 200,
        off: Collection[str] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look on.

        Args:
          facts: what the run is.
          notify: is given the hints; they come back through `receive`, which passes over them.
          cooldown_updates: how long a hint is not repeated; 0: it is repeated each time that is looked.
          off: names of hints that are not to be given.
          now: the clock.

        Raises:
          ConfigError: one of them is no hint.
        """
        self._rules = rules_without(off)
        self._notify = notify
        self._cooldown_updates = cooldown_updates
        self._view = HintView(facts)
        self._told: dict[str, int] = {}
        self._now = now
        self._told_at: dict[str, float] = {}  # of this process: no clock outlives it that nobody can set
        self._due = EverySeconds(CHECK_EVERY_SECONDS, now)
        self._due.due()  # not at the very first update

    def receive(self, record: Record) -> None:
        """Take note, and after every tenth update, the first of every minute, and every evaluation, look."""
        match record:
            case UpdateReport():
                self._view.note_update(record)
                if record.update % CHECK_EVERY_UPDATES == 0 or self._due.due():
                    self._look()
            case EvaluationReport():
                self._view.note_evaluation(record)
                self._look()
            case ResourceReport():
                # Looked at with an update: samples come from a thread of their own, at any time, and where no update
                # follows any more the heartbeat speaks.
                self._view.note_resources(record)
            case Event(kind=kind, facts=facts) if kind in REPLACEMENTS:
                self._view.replacements.append((self._view.update, str(facts.get("log", "events.jsonl"))))

    def state(self) -> StateTree:
        """What was seen, and when each hint was last given."""
        return {"view": self._view.state(), "told": dict(self._told)}

    def restore(self, state: StateTree) -> None:
        """Know it again."""
        self._view.restore(state["view"])
        self._told = dict(state["told"])

    def close(self) -> None:
        """Nothing is left to write."""

    def _look(self) -> None:
        update = self._view.update
        for rule in self._rules:
            last = self._told.get(rule.name)
            if last is not None and self._is_cooling(rule.name, update - last):
                continue
            grounds = rule.when(self._view)
            # An evaluation comes after its update, which may have said the same: once is enough whatever the cool-down.
            if grounds is not None and last != update:
                self._told[rule.name], self._told_at[rule.name] = update, self._now()
                facts = {"rule": rule.name, "update": update, **grounds}
                self._notify(Event(HINT, rule.spoken(grounds), "warning", facts))

    def _is_cooling(self, name: str, updates_since: int) -> bool:
        if self._cooldown_updates == 0:
            return False
        told_at = self._told_at.get(name)
        is_recent = told_at is not None and self._now() - told_at < COOLDOWN_SECONDS
        return is_recent or updates_since < self._cooldown_updates
