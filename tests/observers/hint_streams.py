"""Streams of records as a healthy run has them, which tests of hints make sick in one place."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log

from respawn.contracts.records import Event, Record, ResourceReport, UpdateReport
from respawn.observers.hint_view import HintFacts
from respawn.observers.hints import Hints

FACTS = HintFacts(
    num_lanes=64,
    horizon_steps=64,
    planned_updates=400,
    num_actions=4,
    usable_cores=8,
    learner="vtrace",
    gradient_norm=0.5,
    is_judged_as_trained=True,
    progress_metric="world/forward_share",
)

Course = Callable[[int], float]


def healthy_metrics(update: int) -> dict[str, float]:
    """What a run that learns says: returns rise, entropy falls, the critic catches up."""
    share = min(update / 400, 1.0)
    return {
        "collect/scripted_fraction": 0.0,
        "episodes/terminated_fraction": 0.9,
        "gradient/clipped_fraction": 0.4,
        "gradient/norm": 0.6,
        "learn/dropped": 0.0,
        "loss/value": 0.4 - 0.3 * share,
        "policy/action_share_0": 0.4,
        "policy/action_share_1": 0.3,
        "policy/action_share_2": 0.2,
        "policy/action_share_3": 0.1,
        "policy/entropy": log(4) * max(0.3, 1 - 3 * share),
        "policy/kl": 0.006,
        "return/max": 10 + 60 * share,
        "return/mean": 4 + 60 * share,
        "return/min": 1.0,
        "return/p10": 2 + 50 * share,
        "return/std": 5.0,
        "time/collect_share": 0.6,
        "time/idle_share": 0.0,
        "time/learn_share": 0.25,
        "time/other_share": 0.15,
        "time/total_seconds": 10.0 * update,
        "time/update_seconds": 10.0,
        "value/explained_variance": 0.9 * share,
        "weights/lag": 0.0,
        "world/forward_share": 0.6,
    }


def healthy_resources() -> dict[str, float]:
    """A machine with room, and cores that nobody uses."""
    return {
        "resource/disk_free_gib": 80.0,
        "resource/disk_free_share": 0.3,
        "resource/gpu_utilisation": 60.0,
        "resource/open_files": 16.0,
        "resource/process_cpu_percent_mean": 100.0,
        "resource/process_rss_mib": 400.0,
        "resource/system_cpu_percent_mean": 15.0,
        "resource/system_memory_percent": 20.0,
        "resource/threads": 9.0,
    }


@dataclass(frozen=True)
class Stream:
    """A run of so many updates, a sample of resources at each, and what is unlike a healthy one."""

    updates: int = 250
    metrics: Mapping[str, float | Course] = field(default_factory=dict)
    resources: Mapping[str, float | Course] = field(default_factory=dict)
    others: Mapping[int, Iterable[Record]] = field(default_factory=dict)
    """further records, by the update after which they come"""
    first_update: int = 1
    episodes_each: int = 10
    lanes: int = 64
    samples_before: int = 0
    """of resources, before the first update"""
    lacking: frozenset[str] = frozenset()

    def records(self) -> Iterable[Record]:
        """The records, in the order in which a run tells them."""
        for _ in range(self.samples_before):
            resources = {**healthy_resources(), **_at(self.resources, 0)}
            yield ResourceReport(self.first_update - 1, 0, self._known(resources))
        for update in range(self.first_update, self.first_update + self.updates):
            decisions = update * self.lanes * 64
            resources = {**healthy_resources(), **_at(self.resources, update)}
            yield ResourceReport(update - 1, decisions, self._known(resources))
            metrics = {**healthy_metrics(update), **_at(self.metrics, update)}
            yield UpdateReport(update, decisions, 4 * decisions, self.episodes_each * update, self._known(metrics))
            yield from self.others.get(update, ())

    def _known(self, metrics: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in metrics.items() if name not in self.lacking}


def _at(courses: Mapping[str, float | Course], update: int) -> dict[str, float]:
    return {name: course(update) if callable(course) else course for name, course in courses.items()}


def hints_of(stream: Stream, facts: HintFacts = FACTS, *, cooldown_updates: int = 10_000) -> list[Event]:
    """All hints that are given over a stream."""
    told: list[Event] = []
    hints = Hints(facts, told.append, cooldown_updates=cooldown_updates)
    for record in stream.records():
        hints.receive(record)
    return told


def names_of(told: Iterable[Event]) -> list[str]:
    """Which hints they are."""
    return [str(event.facts["rule"]) for event in told]
