"""Hard starts: which beginnings training is dealt, how far their queue has come, and when it runs low."""

import hashlib
import json
import math
from collections import deque
from typing import Any

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Start
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.errors import CheckpointError, ConfigError
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.harvest import Harvest
from respawn.schedules.start_files import HardStart, read_start_file, scaled
from respawn.schedules.start_tracker import StageTracker
from respawn.schedules.start_warnings import StartWarning

TAKEN = "world/hard_starts"
"""the metric by which a world says how many starts it took while a rollout was gathered"""


class HardStarts:
    """A queue of starts in stages. In updates, the clock is the place in the queue; in episodes, what was taken is."""

    def __init__(self, config: HardStartsConfig, *, num_schools: int, planned_updates: int) -> None:
        """Read the files and lay the stages out.

        Args:
          config: what is dealt when; raises ConfigError naming what is wrong with a file.
          num_schools: how many episodes go on side by side.
          planned_updates: the length of the run.
        """
        self._config = config
        self._num_schools = num_schools
        self._planned_updates = planned_updates
        self._files = [_load(stage) for stage in config.stages]
        contents = [[(dict(start.state), start.kind) for start in starts] for starts in self._files]
        self._fingerprint = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
        unit = num_schools if config.unit == "episodes" else 1
        self._tracker = StageTracker(
            [(stage.name(i), stage.kind, stage.iterations * unit) for i, stage in enumerate(config.stages, start=1)],
            cycled=config.cycled,
        )
        self._check_promises()
        self._taken = 0
        self._position = 0
        self._skipped = 0
        self._passed_over: list[int] = []
        self._recent: deque[int] = deque(maxlen=config.forecast_updates)
        self._warning = StartWarning(config.warning)
        self._harvest = Harvest(config.harvest)

    def kind(self, updates: int) -> str:
        """What kind of starts is being dealt after so many updates."""
        return self._tracker.spans[self._tracker.index_at(self._place(updates))].kind

    def share(self, clock: Clock) -> float:
        """The share of episodes that are to begin with a hard start; 0 where there is none."""
        visit = self._tracker.visit_at(self._place(clock.updates))
        if visit is None or not self._starts_of(self._stage_of(visit)):
            return 0.0
        own = self._config.stages[self._stage_of(visit)].share
        share = self._config.share if own is None else own
        passed = min(clock.updates / self._planned_updates, 1.0)
        return share * (1.0 - (1.0 - self._config.final_fraction) * passed)

    def starts(self, clock: Clock) -> tuple[Start, ...]:
        """The next starts, enough for a rollout; fewer at the end of the queue."""
        offered = []
        for ahead in range(self._config.offered_per_school * self._num_schools):
            # In updates, what is dealt now is all of the stage that the clock is in; its starts go round.
            number = (self._position if self._config.unit == "episodes" else self._taken) + ahead
            visit = self._tracker.visit_at(number if self._config.unit == "episodes" else clock.updates)
            start = None if visit is None else self._start(visit, number)
            if start is None:
                break
            offered.append(start)
        return tuple(offered)

    def observe_update(self, report: UpdateReport) -> tuple[Ruling, ...]:
        """Count what was taken; answers where the queue stands, and warnings that began or ended."""
        taken = int(report.metrics.get(TAKEN, 0))
        self._taken += taken
        if self._config.unit == "episodes":
            self._position += taken
            self._keep_promises(report.update)
        self._recent.append(taken if self._config.unit == "episodes" else 1)
        status = self._tracker.status(self._place(report.update), self._passed_over)
        needed = self._needed_ratio(report.update)
        events = self._warning.observe(report.update, status, needed)
        status["consumed"] -= self._skipped
        facts = {**status, **self._more_facts(report.update, taken), **self._warning.facts(report.update, needed)}
        if report.update >= self._planned_updates:
            events += self._warning.resolve(report.update, status["remaining_ratio"], "run_end")
        return (
            Ruling(report.update, "hard_starts", facts),
            *(Ruling(report.update, "hard_start_warning", event) for event in events),
        )

    def observe_evaluation(self, report: EvaluationReport) -> tuple[Ruling, ...]:
        """Harvest the worst starts, if some stage is fed with them."""
        if all(stage.file is not None for stage in self._config.stages):
            return ()
        facts = self._harvest.take(report)
        return () if facts is None else (Ruling(report.update, "hard_start_harvest", facts),)

    def _more_facts(self, update: int, taken: int) -> dict[str, Any]:
        place = self._place(update)
        exhausted = self._tracker.visit_at(place) is None
        rate = sum(self._recent) / len(self._recent)
        foreseeable = not self._config.cycled and not exhausted and rate > 0
        return {
            "unit": self._config.unit,
            "taken": taken,
            "taken_total": self._taken,
            "skipped": self._skipped,
            "reinjections_owed": {p.kind: self._owed(p.kind, p.count, update) for p in self._config.min_reinjections},
            "share": self.share(Clock(updates=update)),
            "harvested": len(self._harvest.starts),
            "exhausted": exhausted,
            "rate": rate,
            "predicted_exhaustion": update + math.ceil(self._tracker.remaining(place) / rate) if foreseeable else None,
        }

    def _place(self, updates: int) -> int:
        return self._position if self._config.unit == "episodes" else updates

    def _stage_of(self, visit: int) -> int:
        return visit % len(self._config.stages)

    def _start(self, visit: int, number: int) -> Start | None:
        index = self._stage_of(visit)
        starts = self._starts_of(index)
        if not starts:
            return None
        place = number - self._tracker.start_of(visit) if self._config.unit == "episodes" else number
        start = starts[place % len(starts)]
        return Start(number=number, kind=start.kind or self._config.stages[index].kind, state=start.state)

    def _starts_of(self, index: int) -> tuple[HardStart, ...]:
        """What a stage deals. One that waits for its harvest deals what the nearest stage before or after it does."""
        if self._config.stages[index].file is not None:
            return self._files[index]
        if self._harvest.starts:
            return self._harvest.starts
        nearest = [*range(index - 1, -1, -1), *range(index + 1, len(self._files))]
        return next((self._files[other] for other in nearest if self._files[other]), ())

    def _needed_ratio(self, update: int) -> float:
        left = max(self._planned_updates - update, 0)
        return min(sum(self._recent) / len(self._recent) * left / self._tracker.total, 1.0)

    def _owed(self, kind: str, count: int, update: int) -> int:
        """How many times a kind should have come back by now and has not."""
        due = min(count, update * (count + 1) // max(self._planned_updates, 1))
        return max(due - self._tracker.reinjections(self._place(update), self._passed_over).get(kind, 0), 0)

    def _keep_promises(self, update: int) -> None:
        """Pass over stages where otherwise a kind would not come back in time."""
        for promise in self._config.min_reinjections:
            if not self._owed(promise.kind, promise.count, update):
                continue
            following = self._tracker.next_visit_of(promise.kind, self._position)
            now = self._tracker.visit_at(self._position)
            if following is not None and now is not None:
                self._passed_over += range(now + 1, following)
                self._skipped += self._tracker.start_of(following) - self._position
                self._position = self._tracker.start_of(following)

    def _check_promises(self) -> None:
        """In updates it is known from the start what will come back."""
        if self._config.unit == "episodes":
            return
        reached = self._tracker.reinjections(self._planned_updates - 1)
        for promise in self._config.min_reinjections:
            if reached.get(promise.kind, 0) < promise.count:
                raise ConfigError(
                    f"starts of the kind '{promise.kind}' are to come back {promise.count} times, and within the "
                    f"{self._planned_updates} planned updates they come back {reached.get(promise.kind, 0)} times; "
                    "shorten the stages before them"
                )

    def state(self) -> StateTree:
        """How far the queue has come, what was harvested, and the warning."""
        return {
            "taken": self._taken,
            "position": self._position,
            "skipped": self._skipped,
            "passed_over": list(self._passed_over),
            "recent": list(self._recent),
            "warning": self._warning.state(),
            "harvest": self._harvest.state(),
            "files": self._fingerprint,
            "num_schools": self._num_schools,
        }

    def restore(self, state: StateTree) -> None:
        """Go on from there; raises CheckpointError if the files of starts are no longer what they were."""
        if state["files"] != self._fingerprint:
            raise CheckpointError(
                "the files of hard starts have changed since the run was saved; put them back as they were, "
                "or begin a new run"
            )
        self._taken = state["taken"]
        self._position = self._in_our_places(state["position"], state)
        self._skipped = self._in_our_places(state["skipped"], state)
        self._passed_over = list(state["passed_over"])
        self._recent.clear()
        self._recent.extend(self._in_our_places(taken, state) for taken in state["recent"])
        self._warning.restore(state["warning"])
        self._harvest.restore(state["harvest"])

    def _in_our_places(self, places: int, state: StateTree) -> int:
        """Places of a queue that may have been laid out for more schools, or fewer, in those of this one.

        Older states do not say for how many: for as many as now.
        """
        if self._config.unit == "updates":
            return places
        return places * self._num_schools // int(state.get("num_schools", self._num_schools))


def _load(stage: HardStartStage) -> tuple[HardStart, ...]:
    if stage.file is None:
        return ()
    return tuple(scaled(start, stage.velocity_scale) for start in read_start_file(stage.file))
