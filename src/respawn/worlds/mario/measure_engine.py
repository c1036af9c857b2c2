"""The engine's speed beside that of its peers: all in one run, in turn, so that all see the same noise."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import respawn
from respawn.runs.metadata import describe_machine
from respawn.worlds.mario.engine import Cartridge, engine_version, simd_path, simd_paths
from respawn.worlds.mario.measure import Measurement, Timing, Workload, measuring_cores, pinned
from respawn.worlds.mario.measure_peers import Peer, PeerFailedError, PeerMissingError, peer_scripts
from respawn.worlds.mario.rom import Rom

OURS = "decisions_per_second"
TWO_THREADS = "two_threads"
_PEER = "peers."


@dataclass(frozen=True)
class Plan:
    """What to measure, and for how long."""

    lanes: int = 64
    rounds: int = 5
    seconds: float = 1.0
    """of each measurement in each round"""
    peers: Path | None = None
    """the folder with the peers' scripts; None: no peers"""
    python: str = sys.executable
    """what runs them"""


@dataclass
class _Measured:
    timings: dict[str, list[Timing]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


Tell = Callable[[str, float], None]
"""is told what is being done, and which part of all is done"""


def default_peers() -> Path | None:
    """The scripts in the source tree; None where respawn is installed without one."""
    folder = Path(respawn.__file__).resolve().parents[2] / "benchmarks" / "peers"
    return folder if folder.is_dir() else None


def measure_engine(cartridge: Cartridge, rom: Rom, plan: Plan, tell: Tell = lambda doing, part: None) -> dict[str, Any]:
    """Everything, as plain data; the names are explained in docs/cli.md."""
    cores = measuring_cores()
    measured = _Measured()
    with contextlib.ExitStack() as stack:
        stack.enter_context(pinned(frozenset(cores[:1])))
        tell("play a while", 0.0)
        workload = Workload(cartridge, plan.lanes)
        items = workload.on_one_core([path for path in simd_paths() if path != simd_path()])
        if len(cores) == 2 or (not cores and (os.cpu_count() or 1) > 1):
            items[TWO_THREADS] = workload.on_two_cores(frozenset(cores))
        items |= _start_peers(rom, plan, stack, measured, tell)
        _go_round(_in_turn(items), plan, measured, tell)
    return _summary(cartridge, plan, measured, cores)


def _start_peers(
    rom: Rom, plan: Plan, stack: contextlib.ExitStack, measured: _Measured, tell: Tell
) -> dict[str, Measurement]:
    started: dict[str, Measurement] = {}
    if plan.peers is None:
        return started
    file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "game.nes"
    file.write_bytes(rom.data)
    for name, script in peer_scripts(plan.peers).items():
        tell(f"start {name}", 0.0)
        try:
            started[_PEER + name] = stack.enter_context(Peer(script, ["--rom", str(file)], plan.python))
        except PeerMissingError:
            measured.missing.append(name)
        except PeerFailedError as error:
            measured.failed[name] = f"the peer {name} is left out: it {error}"
    return started


def _in_turn(items: dict[str, Measurement]) -> dict[str, Measurement]:
    """What is compared with each other stands side by side."""
    first = [name for name in (OURS, TWO_THREADS) if name in items]
    peers = [name for name in items if name.startswith(_PEER)]
    rest = [name for name in items if name not in (*first, *peers)]
    return {name: items[name] for name in (*first, *peers, *rest)}


def _go_round(items: dict[str, Measurement], plan: Plan, measured: _Measured, tell: Tell) -> None:
    for round_ in range(plan.rounds):
        for position, (name, item) in enumerate(list(items.items())):
            tell(f"round {round_ + 1}/{plan.rounds}, {name}", (round_ + position / len(items)) / plan.rounds)
            try:
                measured.timings.setdefault(name, []).append(item.run(plan.seconds))
            except PeerFailedError as error:
                peer = name.removeprefix(_PEER)
                measured.failed[peer] = f"the peer {peer} is left out: it {error}"
                del items[name], measured.timings[name]


def _summary(cartridge: Cartridge, plan: Plan, measured: _Measured, cores: tuple[int, ...]) -> dict[str, Any]:
    pace = {name: median(timing.per_second for timing in found) for name, found in measured.timings.items()}
    machine = describe_machine()
    return {
        **{name: value for name, value in pace.items() if "." not in name and name not in ("snapshot", TWO_THREADS)},
        "two_threads_scale": _scale(measured.timings),
        "snapshot_us": 1e6 / pace["snapshot"],
        "by_path": {
            simd_path(): pace[OURS],
            **{name.removeprefix("by_path."): value for name, value in pace.items() if name.startswith("by_path.")},
        },
        "peers": {
            name.removeprefix(_PEER): {
                "decisions_per_second": value,
                "ratio": pace[OURS] / value,
                "no_draw_ratio": pace["decisions_per_second_no_draw"] / value,
                "interpreter_ratio": pace["interpreter_decisions_per_second"] / value,
            }
            for name, value in pace.items()
            if name.startswith(_PEER)
        },
        "peers_not_installed": measured.missing,
        "peers_failed": measured.failed,
        "spread": {name: _spread(name, timings) for name, timings in measured.timings.items()},
        "least_cpu_share": _least_cpu_share(measured.timings),
        "simd_path": simd_path(),
        "recompiled": cartridge.recompiled,
        "engine": engine_version(),
        "lanes": plan.lanes,
        "rounds": plan.rounds,
        "seconds": plan.seconds,
        "pinned_to_cores": list(cores),
        "machine": {"cpu": machine["cpu"], "cores": machine["cores"]},
    }


def _scale(timings: dict[str, list[Timing]]) -> float | None:
    """Of each round by itself: noise that lasts for seconds then meets both."""
    if TWO_THREADS not in timings:
        return None
    pairs = zip(timings[TWO_THREADS], timings[OURS], strict=True)
    return median(two.per_second / one.per_second for two, one in pairs)


def _spread(name: str, timings: list[Timing]) -> dict[str, float]:
    threads = 2 if name == TWO_THREADS else 1
    return {
        "min": min(timing.per_second for timing in timings),
        "max": max(timing.per_second for timing in timings),
        "cpu_share": median(timing.cpu_seconds / timing.seconds / threads for timing in timings),
    }


def _least_cpu_share(timings: dict[str, list[Timing]]) -> float:
    """Of what needs one core: two threads also wait for each other."""
    shares = [_spread(name, found)["cpu_share"] for name, found in timings.items() if name != TWO_THREADS]
    return min(shares)
