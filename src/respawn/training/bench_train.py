"""How many decisions a second a training learns from, beside Stable-Baselines3: what `respawn bench train` measures."""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import psutil

from respawn.contracts.records import UpdateReport
from respawn.errors import ConfigError
from respawn.learners.ppo.config import PPOConfig
from respawn.observers.build import ConsoleFacts, build_observers
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import describe_machine
from respawn.training.assemble import assemble
from respawn.training.config import MOST_UPDATES, RunConfig
from respawn.training.device import prepare_torch, resolve_device, resolve_threads
from respawn.training.loop import updates
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.measure import Measurement, Timing
from respawn.worlds.mario.measure_peers import Peer, PeerFailedError, PeerMissingError

WARMUP_UPDATES = 3
PHASES = ("act", "world", "learn")
"""Parts of an update whose time is told: choosing actions, all else of collecting, learning."""
PEERS = {"sb3": False, "sb3_vector": True}
"""Stable-Baselines3 as its users have it, a list of environments, and with all lanes in one call."""

QUIET_CORES = 0.15
"""with more cores than this at work for others, torch's threads wait for each other and no number is worth much"""

Tell = Callable[[str, float], None]
"""is told what is being done, and which part of all is done"""


@dataclass(frozen=True)
class Plan:
    """What to measure, and for how long."""

    config: RunConfig
    rounds: int = 5
    seconds: float = 4.0
    """of each measurement in each round; what has begun is finished"""
    peers: Path | None = None
    """the folder with the peers' scripts; None: no peers"""
    python: str = sys.executable
    """what runs them"""


@dataclass
class _Measured:
    ours: list[Timing] = field(default_factory=list)
    peers: dict[str, dict[int, list[Timing]]] = field(default_factory=dict)  # by name and threads
    others: list[float] = field(default_factory=list)  # cores that were at work for somebody else
    missing: str | None = None
    failed: dict[str, str] = field(default_factory=dict)

    def time(self, item: Measurement, seconds: float) -> Timing:
        """Measure, and see what else this machine did meanwhile."""
        busy, begun = _busy_seconds(), time.perf_counter()
        timing = item.run(seconds)
        self.others.append((_busy_seconds() - busy - timing.cpu_seconds) / (time.perf_counter() - begun))
        return timing


class OwnTraining:
    """A training of ours that goes on for a while each time it is asked, without evaluations and checkpoints.

    It writes the rows of its run, as every training does, into a folder that goes with it.
    """

    def __init__(self, config: RunConfig, place: Path) -> None:
        config = replace(
            config,
            updates=MOST_UPDATES,
            evaluation=replace(config.evaluation, every_updates=0, stop_at=None),
            checkpoints=replace(config.checkpoints, every_updates=0, every_seconds=0.0),
            observers=replace(config.observers, console=False),
        )
        device = resolve_device(config.device, wants_gpu=config.wants_gpu)
        prepare_torch(device, resolve_threads(config.threads))
        folder = RunFolder(place)
        observers = build_observers(folder, config.observers, ConsoleFacts(None, None))
        self._run = assemble(config, folder, observers, device)
        self._updates = updates(self._run)
        self._reports: list[UpdateReport] = []
        self._seconds = 0.0
        for _ in range(WARMUP_UPDATES):
            next(self._updates)

    def run(self, seconds: float) -> Timing:
        """Train for about this long."""
        before, cpu, begun = self._run.clock.decisions, time.process_time(), time.perf_counter()
        while (taken := time.perf_counter() - begun) < seconds or self._run.clock.decisions == before:
            self._reports.append(next(self._updates))
        self._seconds += taken
        return Timing(self._run.clock.decisions - before, taken, time.process_time() - cpu)

    def phases(self) -> dict[str, float]:
        """Milliseconds an update, on average, by phase."""
        taken = {
            name: 1000 * fmean(report.metrics[f"time/{name}_seconds"] for report in self._reports) for name in PHASES
        }
        total = 1000 * self._seconds / len(self._reports)
        return {**taken, "rest": total - sum(taken.values()), "update": total}

    def close(self) -> None:
        """Leave it."""
        self._run.close()


def check_comparable(config: RunConfig) -> None:
    """Refuse what Stable-Baselines3's PPO cannot do as well."""
    plain = config.model.core == "none" and not config.model.noisy and not config.model.separate_value
    if not isinstance(config.world, MarioConfig) or config.world.observation != "tiles":
        raise ConfigError("'respawn bench train' compares trainings on Mario's tiles; name a preset such as mario")
    if not isinstance(config.learner, PPOConfig) or not plain or config.model.encoder == "impala":
        raise ConfigError("'respawn bench train' compares PPO with plain layers; name a preset such as mario")


def peer_plan(config: RunConfig, *, vector: bool, threads: int) -> dict[str, Any]:
    """What a peer is told: plain data, all of it from the configuration that we train ourselves."""
    assert isinstance(config.world, MarioConfig) and isinstance(config.learner, PPOConfig)
    learner = config.learner
    return {
        "world": {name: value for name, value in asdict(config.world).items() if name != "kind"},
        "vector": vector,
        "threads": threads,
        "warmup_updates": 1,
        "lanes": config.collection.num_lanes,
        "horizon": config.collection.horizon_steps,
        "epochs": learner.epochs,
        "minibatches": learner.minibatches,
        "hidden_sizes": config.model.hidden_sizes,
        "activation": config.model.activation,
        "ppo": {
            "learning_rate": learner.optimizer.learning_rate,
            "gamma": learner.discount,
            "gae_lambda": learner.trace_decay,
            "clip_range": learner.clip,
            "ent_coef": learner.entropy_cost,
            "vf_coef": learner.value_cost,
            "max_grad_norm": learner.optimizer.gradient_norm or 1e9,
            "normalize_advantage": learner.normalise_advantages,
        },
    }


def measure_training(plan: Plan, tell: Tell = lambda doing, part: None) -> dict[str, Any]:
    """Everything, as plain data; the names are explained in docs/cli.md."""
    check_comparable(plan.config)
    measured = _Measured()
    with contextlib.ExitStack() as stack:
        tell("begin to train", 0.0)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ours = OwnTraining(plan.config, place)
        stack.callback(ours.close)
        peers = _start_peers(plan, stack, measured, tell)
        for round_ in range(plan.rounds):
            tell(f"round {round_ + 1}/{plan.rounds}, respawn", round_ / plan.rounds)
            measured.ours.append(measured.time(ours, plan.seconds))
            _ask_peers(peers, plan, round_, measured, tell)
        return _summary(plan, measured, ours)


def _start_peers(
    plan: Plan, stack: contextlib.ExitStack, measured: _Measured, tell: Tell
) -> dict[tuple[str, int], Peer]:
    started: dict[tuple[str, int], Peer] = {}
    if plan.peers is None:
        return started
    for name, vector in PEERS.items():
        # As torch does by itself, a thread a core, and as suits small networks better, one: the faster one counts.
        for threads in sorted({1, resolve_threads(0)}):
            tell(f"start {name} with {threads} threads", 0.0)
            told = json.dumps(peer_plan(plan.config, vector=vector, threads=threads))
            try:
                peer = Peer(plan.peers / "train_sb3.py", ["--plan", told], plan.python, threads=threads)
            except PeerMissingError as error:
                measured.missing = str(error)
                return {}
            except PeerFailedError as error:
                measured.failed[name] = f"the peer {name} is left out: it {error}"
                break
            started[name, threads] = stack.enter_context(peer)
    return started


def _ask_peers(peers: dict[tuple[str, int], Peer], plan: Plan, round_: int, measured: _Measured, tell: Tell) -> None:
    for position, ((name, threads), peer) in enumerate(list(peers.items()), 1):
        part = (round_ + position / (len(peers) + 1)) / plan.rounds
        tell(f"round {round_ + 1}/{plan.rounds}, {name} with {threads} threads", part)
        try:
            measured.peers.setdefault(name, {}).setdefault(threads, []).append(measured.time(peer, plan.seconds))
        except PeerFailedError as error:
            measured.failed[name] = f"the peer {name} is left out: it {error}"
            measured.peers.pop(name, None)
            for other in [key for key in peers if key[0] == name]:
                del peers[other]


def _summary(plan: Plan, measured: _Measured, ours: OwnTraining) -> dict[str, Any]:
    config, machine = plan.config, describe_machine()
    assert isinstance(config.world, MarioConfig) and isinstance(config.learner, PPOConfig)
    return {
        "decisions_per_second": _pace(measured.ours),
        "spread": _spread(measured.ours),
        "update_milliseconds": ours.phases(),
        "peers": {name: _about_peer(found, measured.ours) for name, found in measured.peers.items()},
        "peers_not_installed": [] if measured.missing is None else [measured.missing],
        "peers_failed": measured.failed,
        "threads": resolve_threads(config.threads),
        "engine_threads": config.world.engine_threads,
        "lanes": config.collection.num_lanes,
        "horizon_steps": config.collection.horizon_steps,
        "epochs": config.learner.epochs,
        "minibatches": config.learner.minibatches,
        "hidden_sizes": list(config.model.hidden_sizes),
        "rounds": plan.rounds,
        "seconds": plan.seconds,
        "others_cores": max(0.0, median(measured.others)),
        "machine": {"cpu": machine["cpu"], "cores": machine["cores"], "torch": machine["torch"]},
    }


def _about_peer(by_threads: dict[int, list[Timing]], ours: list[Timing]) -> dict[str, Any]:
    best = max(by_threads, key=lambda threads: _pace(by_threads[threads]))
    timings = by_threads[best]
    # Of each round by itself: noise that lasts for seconds then meets both.
    ratios = [mine.per_second / theirs.per_second for mine, theirs in zip(ours, timings, strict=True)]
    return {
        "decisions_per_second": _pace(timings),
        "ratio": _pace(ours) / _pace(timings),
        "ratio_of_rounds": {"min": min(ratios), "median": median(ratios), "max": max(ratios)},
        "spread": _spread(timings),
        "threads": best,
        "by_threads": {str(threads): _pace(found) for threads, found in by_threads.items()},
    }


def _busy_seconds() -> float:
    """Seconds of all cores that were spent on anything."""
    spent = psutil.cpu_times()
    kinds = ("user", "nice", "system", "irq", "softirq", "steal")  # not all systems tell them all
    return float(sum(getattr(spent, kind, 0.0) for kind in kinds))


def _pace(timings: list[Timing]) -> float:
    return median(timing.per_second for timing in timings)


def _spread(timings: list[Timing]) -> dict[str, float]:
    return {
        "min": min(timing.per_second for timing in timings),
        "max": max(timing.per_second for timing in timings),
        "per_core_second": median(timing.count / timing.cpu_seconds for timing in timings),
        "cores_used": median(timing.cpu_seconds / timing.seconds for timing in timings),
    }
