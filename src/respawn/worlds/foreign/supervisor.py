"""Worker processes that are watched, timed out, diagnosed and replaced."""

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from respawn.contracts.records import Event
from respawn.errors import CheckpointError, ConfigError, WorkerError, WorldError
from respawn.processes.child import ChildProcess, Family
from respawn.processes.marks import Marks, marks_path, output_path
from respawn.worlds.foreign.adaptors import State
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.endings import Endings
from respawn.worlds.foreign.lanes import describe_progress
from respawn.worlds.foreign.sharing import Buffers, SharedArrays, Stage
from respawn.worlds.foreign.spaces import Array, Layout
from respawn.worlds.foreign.worker import WorkerPlan
from respawn.worlds.seeds import LaneSeeds

CLOSE_SECONDS = 3.0
DEATH_SECONDS = 1.0


@dataclass(frozen=True)
class Failure:
    """How a worker was lost."""

    worker: int
    where: str
    """its stage, and its lane if there is one: 'step of lane 3'"""
    cause: str
    """'hung for more than 2.0 s', 'died with exit code 3', 'raised ValueError: ...'"""
    log: Path


class _TimeIsUpError(Exception):
    """A worker did not answer in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class Supervisor:
    """Runs the lanes in `num_workers` processes, each with a run of neighbouring lanes."""

    def __init__(
        self,
        config: ForeignConfig,
        num_lanes: int,
        seeds: LaneSeeds,
        *,
        diagnostics: Path | None,
        notify: Callable[[Event], None],
    ) -> None:
        self._config = config
        self._num_lanes = num_lanes
        self._seeds = seeds
        self._notify = notify
        self._folder = diagnostics or Path(tempfile.mkdtemp(prefix="respawn-workers-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        self._folder_is_ours = diagnostics is None
        num_workers = min(config.workers, num_lanes)
        edges = [num_lanes * worker // num_workers for worker in range(num_workers + 1)]
        self._lanes = [range(first, end) for first, end in itertools.pairwise(edges)]
        self._shared = SharedArrays(num_workers)
        self._workers: dict[int, ChildProcess] = {}
        self._known: tuple[Layout, bool] | None = None
        self.num_replacements = 0
        self.slot = 0
        self.endings: Endings = {}
        try:
            self._bring_up(range(num_workers))
            self.layout, self.exact = self._known_spaces()
            self._shared.grow(self.layout, num_lanes)
            self.buffers: Buffers = self._shared.buffers(self.layout, num_lanes)
            self._revive(self._attach(range(num_workers)), self._seeds.renew)
        except BaseException:
            self._end_all()
            raise

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin a new episode in every lane, from its own seed also where a worker is lost over it."""

        def ordered(lanes: Iterable[int]) -> list[int]:
            return [seeds[lane] for lane in lanes]

        self.slot = 1 - self.slot
        orders = {worker: ordered(lanes) for worker, lanes in enumerate(self._lanes)}
        self._revive(self._reset(orders), ordered)

    def step(self) -> list[int]:
        """Carry out the actions in the buffers; returns the lanes whose worker was lost and replaced."""
        self.slot = 1 - self.slot
        self._send_all("step", self.slot)
        answers, failures = self._collect(range(len(self._lanes)), self._config.step_seconds)
        self.endings = {lane: ending for told in answers.values() for lane, ending in told.items()}
        if not failures:
            return []
        lost = [lane for failure in failures for lane in self._lanes[failure.worker]]
        self._revive(failures, self._seeds.renew)
        # What they showed last is in the other slot, which nobody has written to.
        self.buffers.finals[lost] = self.buffers.observations[1 - self.slot][lost]
        self.buffers.rewards[lost] = 0.0
        self.buffers.terminated[lost] = False
        self.buffers.truncated[lost] = True
        return lost

    def states(self) -> list[State | None]:
        """The state of every lane's environment."""
        self._send_all("state")
        answers = self._collect_or_give_up(range(len(self._lanes)))
        return [state for worker in range(len(self._lanes)) for state in answers[worker]]

    def restore(self, states: Sequence[State]) -> None:
        """Put every lane's environment back where it was."""
        for worker, lanes in enumerate(self._lanes):
            self._worker(worker).send("restore", [states[lane] for lane in lanes])
        self._collect_or_give_up(range(len(self._lanes)))

    def render(self, lane: int) -> Array:
        """The picture that a lane's environment draws of itself."""
        worker = next(index for index, lanes in enumerate(self._lanes) if lane in lanes)
        self._worker(worker).send("render", lane)
        picture: Array = self._collect_or_give_up([worker])[worker]
        return picture

    def close(self) -> list[str]:
        """Let the workers close their environments, end those that take too long, and say what went wrong."""
        deadline = time.monotonic() + CLOSE_SECONDS
        for process in self._workers.values():
            process.send("close")
        problems = [problem for worker in sorted(self._workers) for problem in self._closing(worker)]
        self._end_all(deadline)
        if self._folder_is_ours and self.num_replacements == 0:
            shutil.rmtree(self._folder, ignore_errors=True)
        return problems

    def _closing(self, worker: int) -> list[str]:
        """Await the end of a worker that was told to close, and say what went wrong."""
        process, progress = self._workers[worker], self._shared.progress(worker)
        try:
            while process.answers_within(CLOSE_SECONDS):
                kind, content = process.connection.recv()
                if kind == "closed":
                    problems: list[str] = content
                    return problems
                # Else the answer to a task that was under way, which nobody awaits any more.
        except (EOFError, OSError):
            return [f"worker {worker} died in {describe_progress(progress)}"]
        return [f"worker {worker} was ended in {describe_progress(progress)} after {CLOSE_SECONDS:g} s"]

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers, in order."""
        return [self._workers[worker].pid for worker in sorted(self._workers)]

    def _worker(self, worker: int) -> ChildProcess:
        """A worker that can be spoken to; one that was given up on outside a step is an error from then on."""
        if worker not in self._workers:
            raise WorkerError(f"worker {worker} was lost and not replaced; its marks are in {self._log(worker)}")
        return self._workers[worker]

    def _send_all(self, command: str, argument: Any = None) -> None:
        for worker in range(len(self._lanes)):
            self._worker(worker).send(command, argument)

    def _launch(self, worker: int) -> None:
        self._shared.progress(worker)[0] = int(Stage.START)
        self._shared.progress(worker)[1] = -1

        def plan(family: Family) -> WorkerPlan:
            return WorkerPlan(
                worker=worker,
                num_workers=len(self._lanes),
                lanes=self._lanes[worker],
                num_lanes=self._num_lanes,
                env=self._config.plan,
                marks=self._log(worker),
                threads=self._config.worker_threads,
                memory=self._shared.descriptor,
                family=family,
            )

        self._workers[worker] = ChildProcess(
            "respawn.worlds.foreign.worker",
            plan,
            output=output_path(self._folder, worker),
            threads=self._config.worker_threads,
            descriptors=[self._shared.descriptor],
        )

    def _bring_up(self, workers: Iterable[int]) -> None:
        """Start workers, all at the same time, and try again those that fail, as often as is allowed."""
        missing = list(workers)
        while missing:
            for position, worker in enumerate(missing):
                if position and self._config.stagger_seconds:
                    time.sleep(self._config.stagger_seconds)
                self._launch(worker)
            answers, failures = self._collect(missing, self._config.construct_seconds)
            for worker, spaces in answers.items():
                self._known = self._known or spaces
                if spaces != self._known:
                    raise ConfigError(
                        f"expected every environment '{self._config.env_id}' to have the same spaces, "
                        f"got {spaces} in worker {worker} and {self._known} before"
                    )
            self._account_for(failures)
            missing = [failure.worker for failure in failures]

    def _known_spaces(self) -> tuple[Layout, bool]:
        assert self._known is not None  # every worker has said its spaces once `_bring_up` returns
        return self._known

    def _attach(self, workers: Iterable[int]) -> list[Failure]:
        """Have workers map the shared arrays."""
        workers = list(workers)
        for worker in workers:
            self._workers[worker].send("attach", self.layout)
        return self._collect(workers, self._config.construct_seconds)[1]

    def _reset(self, orders: Mapping[int, Sequence[int]]) -> list[Failure]:
        """Have workers begin new episodes from the seeds of their lanes."""
        for worker, seeds in orders.items():
            self._worker(worker).send("reset", (seeds, self.slot))
        return self._collect(list(orders), self._config.reset_seconds)[1]

    def _revive(self, failures: Sequence[Failure], seeds_for: Callable[[Iterable[int]], list[int]]) -> None:
        """Replace lost workers and begin new episodes in their lanes, from the seeds that `seeds_for` has for them."""
        while failures:
            self._account_for(failures)
            lost = [failure.worker for failure in failures]
            self._bring_up(lost)
            failures = self._attach(lost)
            attached = [worker for worker in lost if worker not in {failure.worker for failure in failures}]
            orders = {worker: seeds_for(self._lanes[worker]) for worker in attached}
            failures = failures + self._reset(orders)

    def _collect(self, workers: Iterable[int], limit_seconds: float) -> tuple[dict[int, Any], list[Failure]]:
        """Await one answer of each worker, each at most `limit_seconds` from when it was given its task."""
        answers: dict[int, Any] = {}
        failures: list[Failure] = []
        refusals: list[Exception] = []
        for worker in workers:
            try:
                kind, content = self._answer_of(worker, limit_seconds)
            except _TimeIsUpError as limit:
                failures.append(self._lose(worker, "hung", limit.seconds))
                continue
            except (EOFError, OSError):
                failures.append(self._lose(worker, "died"))
                continue
            if kind == "failed":
                failures.append(self._lose(worker, str(content)))
            elif kind in ("done", "ready"):
                answers[worker] = content
            else:
                refusals.append(_REFUSALS[kind](content))
        if refusals:  # only now that nobody's answer is left lying in a pipe
            raise refusals[0]
        return answers, failures

    def _answer_of(self, worker: int, limit_seconds: float) -> tuple[str, Any]:
        process, progress = self._workers[worker], self._shared.progress(worker)
        if not process.answers_within(limit_seconds):
            # An episode may have ended in this step: beginning the next one has a time limit of its own.
            if progress[0] == Stage.RESET:
                limit_seconds = max(limit_seconds, self._config.reset_seconds)
            if not process.answers_within(limit_seconds):
                raise _TimeIsUpError(limit_seconds)
        kind, content = process.connection.recv()
        return kind, content

    def _lose(self, worker: int, cause: str, limit_seconds: float = 0.0) -> Failure:
        """Find out what can be known of a failed worker, write it down, and end it."""
        process = self._workers.pop(worker)
        where = describe_progress(self._shared.progress(worker))
        marks = Marks(self._log(worker), worker)
        facts: dict[str, Any] = {"where": where, "worker_pid": process.pid}
        if cause == "hung":
            cause = f"hung for more than {limit_seconds:g} s"
            facts["stack"] = process.stack()
            process.end()
        elif cause == "died":
            cause = f"died with {process.end(DEATH_SECONDS)}"
            facts["printed"] = process.printed()
        else:
            process.end(DEATH_SECONDS)
        marks.write("lost", cause=cause, **facts)
        return Failure(worker, where, cause, self._log(worker))

    def _account_for(self, failures: Sequence[Failure]) -> None:
        """Count failures as replacements to be made; give up when there are too many."""
        for failure in failures:
            lanes = self._lanes[failure.worker]
            told = (
                f"worker {failure.worker} (lanes {lanes.start} to {lanes.stop - 1} of {self._config.env_id}) "
                f"{failure.cause} in {failure.where}"
            )
            if self.num_replacements >= self._config.max_replacements:
                self._end_all()
                self.num_replacements += 1  # so that the folder with its log is kept
                raise WorkerError(
                    f"{told}, and the {self._config.max_replacements} replacements that max_replacements allows are "
                    f"used up; see {failure.log}, and mend the environment or raise world.max_replacements"
                )
            self.num_replacements += 1
            self._notify(
                Event(
                    kind="worker_replaced",
                    message=f"{told}; replacing it ({self.num_replacements} of {self._config.max_replacements})",
                    level="warning",
                    facts={
                        "worker": failure.worker,
                        "where": failure.where,
                        "cause": failure.cause,
                        "log": str(failure.log),
                    },
                )
            )

    def _collect_or_give_up(self, workers: Iterable[int]) -> dict[int, Any]:
        """Await answers where nothing can stand in for a lost one, because no episode may end outside a step."""
        answers, failures = self._collect(workers, self._config.reset_seconds)
        if failures:
            first = failures[0]
            self._end_all()
            self.num_replacements += 1  # so that the folder with its log is kept
            raise WorkerError(f"worker {first.worker} {first.cause} in {first.where}; see {first.log}")
        return answers

    def _end_all(self, deadline: float = 0.0) -> None:
        while self._workers:
            _, process = self._workers.popitem()
            process.end(max(deadline - time.monotonic(), 0.0))
        self._shared.close()

    def _log(self, worker: int) -> Path:
        return marks_path(self._folder, worker)


_REFUSALS: Mapping[str, type[Exception]] = {"refused": ConfigError, "mismatch": CheckpointError, "unable": WorldError}
