"""Does a run that is left alone for hours stay as it is: memory, file handles, threads and disk?

A training as users start it, with everything that observes and helps switched on, watched from outside. Rows are set
aside at 1 MiB and three archives of each stream are kept, so that the disk can be flat within the time.

    .venv/bin/python benchmarks/soak.py --minutes 120
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from harness import RESULTS, keep, machine_name, show
from respawn.runs.metadata import describe_machine

WARM_UP_SHARE = 0.25
"""Buffers fill, the allocator settles and the first checkpoints are kept meanwhile."""
SETTINGS = (
    "--collection.lag 1 --learner.replay.capacity-decisions 16384 --learner.replay.segments 32 "
    "--evaluation.every-updates 50 --evaluation.video-every 20 --checkpoints.every-seconds 60 "
    "--observers.heartbeat-seconds 5 --observers.resource-seconds 5 --observers.latest-seconds 2 "
    "--observers.tensorboard-seconds 30 --observers.console-seconds 60 --observers.hint-cooldown-updates 200 "
    "--observers.rotate-mib 1 --observers.retain-archives 3 --schedules.progression.script RIGHT+B:6 "
    "--world.sticky 0.25 --world.levels 1-1 1-2"
)
FLAT = {"memory_mib": 0.05, "open_files": 0.05, "threads": 0.05, "disk_mib": 0.10}
"""How much of its mean a thing may grow in an hour, after the warm-up, and count as flat."""


def sample(process: psutil.Process, folder: Path) -> dict[str, float]:
    """One look at the process, those it started, and its folder."""
    family = [process, *process.children(recursive=True)]
    sizes = {name: _megabytes(folder / name) for name in ("tensorboard", "checkpoints", "videos")}
    return {
        "memory_mib": sum(member.memory_info().rss for member in family) / 2**20,
        "open_files": float(sum(member.num_fds() for member in family)),
        "threads": float(sum(member.num_threads() for member in family)),
        "processes": float(len(family)),
        "disk_mib": _megabytes(folder) - sizes["tensorboard"] - sizes["videos"],
        **{f"disk_{name}_mib": size for name, size in sizes.items()},
    }


def _megabytes(folder: Path) -> float:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:  # old checkpoints come and go
                continue
    return total / 2**20


def watch(command: list[str], folder: Path, minutes: float, every_seconds: float) -> tuple[list[dict[str, float]], int]:
    """Run it, look at it at even intervals, ask it to stop; the samples and its exit code."""
    with (folder.parent / "soak.log").open("w") as log:
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        samples: list[dict[str, float]] = []
        began = time.monotonic()
        process = psutil.Process(child.pid)
        while child.poll() is None and time.monotonic() - began < 60 * minutes:
            time.sleep(every_seconds)
            try:
                samples.append({"minute": (time.monotonic() - began) / 60, **sample(process, folder)})
            except psutil.NoSuchProcess:
                continue  # a worker, or the run itself, ended while it was looked at
            if len(samples) % 30 == 0:
                print(f"{samples[-1]['minute']:.0f} of {minutes:g} minutes: {samples[-1]}", flush=True)
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
        return samples, child.wait(timeout=300)


def growth(samples: list[dict[str, float]], name: str) -> dict[str, float]:
    """How a thing moved after the warm-up: its mean, and the slope of a straight line through it, an hour."""
    settled = [each for each in samples if each["minute"] >= WARM_UP_SHARE * samples[-1]["minute"]]
    hours, values = np.array([[each["minute"] / 60, each[name]] for each in settled]).T
    slope = float(np.polyfit(hours, values, 1)[0]) if len(values) > 2 else float("nan")
    mean = float(values.mean())
    return {
        "mean": mean, "min": float(values.min()), "max": float(values.max()),
        "first": float(values[0]), "last": float(values[-1]),
        "per_hour": slope, "share_per_hour": slope / mean if mean else 0.0,
    }  # fmt: skip


def draw(samples: list[dict[str, float]], path: Path) -> None:
    """Four curves over the minutes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    titles = {"memory_mib": "memory, MiB", "open_files": "open files", "threads": "threads", "disk_mib": "disk, MiB"}
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 5), sharex=True)
    minutes = [each["minute"] for each in samples]
    for axis, (name, title) in zip(axes.flat, titles.items(), strict=True):
        axis.plot(minutes, [each[name] for each in samples], linewidth=1)
        axis.axvspan(0, WARM_UP_SHARE * minutes[-1], color="0.93")
        axis.set_ylim(0, 1.25 * max(each[name] for each in samples))
        axis.set_title(title, fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[1]:
        axis.set_xlabel("minutes of training")
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--every-seconds", type=float, default=10.0)
    parser.add_argument("--preset", default="mario-vtrace")
    parser.add_argument("--runs", type=Path, help="where the run folder is made; else in a place that is removed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        runs = arguments.runs or Path(place)
        runs.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "respawn", "train", arguments.preset, *SETTINGS.split()]
        command += ["--updates", "9999999", "--planned-updates", "100000", "--runs", str(runs), "--name", "soak"]
        samples, exit_code = watch(command, runs / "soak", arguments.minutes, arguments.every_seconds)
        status = json.loads((runs / "soak" / "status.json").read_text())
    found = {name: growth(samples, name) for name in samples[0] if name != "minute"}
    rows = [
        [name, *(each[part] for part in ("first", "last", "min", "max", "per_hour"))] for name, each in found.items()
    ]
    show("after the warm-up", ["", "first", "last", "least", "most", "an hour"], rows)
    is_flat = {name: abs(found[name]["share_per_hour"]) <= most for name, most in FLAT.items()}
    results: dict[str, Any] = {
        "minutes": samples[-1]["minute"], "exit_code": exit_code, "expected_exit_code": 128 + signal.SIGTERM,
        "updates": status.get("updates"), "decisions": status.get("decisions"), "settings": SETTINGS,
        "is_flat": is_flat, "growth": found, "samples": samples[:: max(1, len(samples) // 120)],
    }  # fmt: skip
    machine = describe_machine()
    picture = RESULTS / machine_name(machine) / "soak.png"
    keep("soak", "does a run that is left alone stay as it is?", results)
    draw(samples, picture)
    return 0 if all(is_flat.values()) and exit_code == 128 + signal.SIGTERM else 1


if __name__ == "__main__":
    sys.exit(main())
