"""A matrix of cases, cell by cell: those of a cell are measured in turn, so that all of them see the same noise."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from respawn.training.bench_process import Case, CaseFailedError, CaseMissingError, CaseProcess, Measured

Tell = Callable[[str, float], None]
"""is told what is being done, and which part of all is done"""


@dataclass(frozen=True)
class Entry:
    """One row to be: what is measured, and by which names it goes."""

    make: Callable[[], Case]
    """makes the case, in its own process"""
    facts: Mapping[str, Any]
    """`mode`, `num_envs` and whatever else of a row is known beforehand"""
    threads: int = 1
    longest_turn: float = 1800.0
    """seconds that a turn may take at the longest, and somewhat more"""


@dataclass
class Result:
    """What came of an entry so far."""

    facts: Mapping[str, Any]
    turns: list[Measured] = field(default_factory=list)
    seconds: float = 0.0
    """that it took, without the turns of others"""
    error: str = ""
    missing: str = ""
    """what is not installed here, without which it is left out"""

    @property
    def is_known(self) -> bool:
        """Whether there is anything to say of it."""
        return bool(self.turns or self.error)

    @property
    def goes_on(self) -> bool:
        """Whether it can be measured again."""
        return not self.error and not self.missing


Results: TypeAlias = dict[str, list[Result]]
"""By the names of their cells."""
Keep = Callable[[Results], None]


def measure_matrix(
    cells: Mapping[str, Sequence[Entry]],
    repeats: int,
    tell: Tell = lambda doing, part: None,
    keep: Keep = lambda results: None,
) -> Results:
    """Measure all entries of every cell; one that fails has its error, and the others go on.

    Args:
      cells: by name, those that are measured in turn.
      repeats: turns of each.
      tell: is told what is being done, and which part of all is done.
      keep: is given all that is known so far, whenever that is more than before.
    """
    results: Results = {}
    for place, (name, entries) in enumerate(cells.items()):
        results[name] = [Result(entry.facts) for entry in entries]
        with ExitStack() as stack:
            alive: list[tuple[Result, CaseProcess]] = []
            for entry, result in zip(entries, results[name], strict=True):
                tell(f"{name}: begin {entry.facts['mode']}", place / len(cells))
                process = CaseProcess(entry.make, threads=entry.threads, longest_turn=entry.longest_turn)
                stack.enter_context(process)
                alive.append((result, process))
                # One after the other: they would only hinder each other.
                _attempt(result, process, process.ready)
            keep(results)
            for turn in range(repeats):
                for result, process in [pair for pair in alive if pair[0].goes_on]:
                    doing = f"{name}: turn {turn + 1} of {repeats}, {result.facts['mode']}"
                    tell(doing, (place + turn / repeats) / len(cells))
                    _attempt(result, process, lambda: result.turns.append(process.turn()))  # noqa: B023 - called at once
                    keep(results)
    return results


def _attempt(result: Result, process: CaseProcess, work: Callable[[], None]) -> None:
    try:
        work()
    except CaseFailedError as error:
        result.error = str(error)
        result.turns.clear()  # half a measurement is none
    except CaseMissingError as missing:
        result.missing = str(missing)
    result.seconds = process.seconds
