"""What a case of a hint is, and what cases are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hint_streams import FACTS, Stream

from respawn.contracts.records import EvaluationReport, Event, Record
from respawn.observers.hint_view import HintFacts

ON_GPU = replace(FACTS, device_type="cuda")
WITH_REPLAY = replace(FACTS, has_replay=True)
WITH_ACTORS = replace(FACTS, actors=2)
OVERLAPPED = replace(FACTS, lag=1)
ON_TWO_CORES = replace(FACTS, usable_cores=2)
BY_PPO = replace(FACTS, learner="ppo")
ALL_CUT = {"gradient/clipped_fraction": 1.0, "gradient/norm": 15.0, "return/mean": 5.0}
REPLAYED = {"replay/fill": 0.5, "replay/sampled": 1.0}


def evaluations(*judged: float, every: int = 40) -> dict[int, list[Record]]:
    return {
        number * every: [EvaluationReport(number * every, 0, {"evaluation/return_mean": value})]
        for number, value in enumerate(judged, start=1)
    }


def lost(*updates: int) -> dict[int, list[Record]]:
    return {update: [Event("worker_replaced", "lost", "warning", {"log": f"w{update}.log"})] for update in updates}


def jump(at: int, before: float, after: float) -> Any:
    return lambda update: before if update < at else after


def now_and_then(rare: float, usual: float) -> Any:
    return lambda update: rare if update % 25 == 0 else usual


def settling(update: int) -> float:
    """MiB that go up and down by two, as an allocator takes and gives back."""
    return 1000.0 + 4.0 * ((update * 2_654_435_761 % 97) / 97 - 0.5)


@dataclass(frozen=True)
class Case:
    """A stream that makes one hint speak, and nearly the same that does not."""

    rule: str
    speaks: Stream
    silent: Stream
    facts: HintFacts = FACTS
    silent_facts: HintFacts | None = None


def case(
    rule: str,
    speaks: Mapping[str, Any],
    silent: Mapping[str, Any],
    facts: HintFacts = FACTS,
    silent_facts: HintFacts | None = None,
) -> Case:
    return Case(rule, Stream(**speaks), Stream(**silent), facts, silent_facts)
