"""Where in a queue of stages one is, and how much is left."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

UNKNOWN = "unknown"


@dataclass(frozen=True)
class StageSpan:
    """A stage's place in the queue."""

    label: str
    kind: str
    start: int
    end: int
    """the first place that is no longer its own"""


class StageTracker:
    """Stages by their places in the queue; remembers nothing. A visit is a stage in a round: round × stages + index."""

    def __init__(self, stages: Sequence[tuple[str, str, int]], *, cycled: bool) -> None:
        """Lay stages out one after another.

        Args:
          stages: label, kind and capacity of each.
          cycled: whether the first follows the last.
        """
        self.spans: list[StageSpan] = []
        for label, kind, capacity in stages:
            begin = self.spans[-1].end if self.spans else 0
            self.spans.append(StageSpan(label, kind or UNKNOWN, begin, begin + capacity))
        self.total = self.spans[-1].end
        self._cycled = cycled

    def visit_at(self, position: int) -> int | None:
        """The visit that a place of the queue belongs to; None: the queue is exhausted there."""
        rounds, place = divmod(position, self.total)
        if rounds and not self._cycled:
            return None
        index = next(i for i, span in enumerate(self.spans) if place < span.end)
        return rounds * len(self.spans) + index

    def index_at(self, position: int) -> int:
        """The stage at a place; past the end, the last one."""
        visit = self.visit_at(position)
        return len(self.spans) - 1 if visit is None else visit % len(self.spans)

    def start_of(self, visit: int) -> int:
        """The place at which a visit begins."""
        rounds, index = divmod(visit, len(self.spans))
        return rounds * self.total + self.spans[index].start

    def next_visit_of(self, kind: str, position: int) -> int | None:
        """The next visit of a kind that begins after a place; None: there is none."""
        now = self.visit_at(position)
        if now is None:
            return None
        last = now + len(self.spans) if self._cycled else len(self.spans) - 1
        visits = range(now + 1, last + 1)
        return next((visit for visit in visits if self.spans[visit % len(self.spans)].kind == kind), None)

    def remaining(self, position: int) -> int:
        """What is left of this round."""
        return self.total - self._place(position)

    def reinjections(self, position: int, passed_over: Collection[int] = ()) -> dict[str, int]:
        """How often each kind has come back after its first time; visits that were passed over do not count."""
        visit = self.visit_at(position)
        rounds, begun = divmod(len(self.spans) if visit is None else visit + 1, len(self.spans))
        counts = {span.kind: 0 for span in self.spans}
        for index, span in enumerate(self.spans):
            counts[span.kind] += rounds + (index < begun)
        for passed in passed_over:
            counts[self.spans[passed % len(self.spans)].kind] -= 1
        return {kind: max(count - 1, 0) for kind, count in counts.items()}

    def status(self, position: int, passed_over: Collection[int] = ()) -> dict[str, Any]:
        """All there is to say of a place, as plain data."""
        index, place = self.index_at(position), self._place(position)
        span = self.spans[index]
        by_kind = {each.kind: 0 for each in self.spans}
        for each in self.spans:
            by_kind[each.kind] += max(each.end - max(each.start, place), 0)
        reinjections = self.reinjections(position, passed_over)
        return {
            "index": index,
            "label": span.label,
            "stage_type": span.kind,
            "progress": min(max((place - span.start) / (span.end - span.start), 0.0), 1.0),
            "remaining": self.total - place,
            "remaining_ratio": (self.total - place) / self.total,
            "remaining_by_type": by_kind,
            "remaining_ratio_by_type": {kind: left / self.total for kind, left in by_kind.items()},
            "reinjections_by_type": reinjections,
            "ne_reinjections": reinjections.get("ne", 0),
            "consumed": position,
            "total_capacity": self.total,
        }

    def _place(self, position: int) -> int:
        return position % self.total if self._cycled else min(position, self.total)
