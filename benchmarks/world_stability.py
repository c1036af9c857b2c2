"""Do worlds come up, reset and step every time: our engine in one process, gym-super-mario-bros in eight workers?

The same as `respawn doctor worlds`, kept. Not a speed figure: other work on the machine does no harm.
"""

import argparse
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from harness import keep, show
from respawn.training.world_backends import BACKENDS, TrialPlan, check_backend, uses_workers
from respawn.training.world_trials import Record, run_trials, summarize

PACKAGES = ("numpy", "torch", "gymnasium", "gym-super-mario-bros", "nes-py", "gym")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds that a trial may take")
    arguments = parser.parse_args()
    plans = []
    for backend in arguments.backends:
        check_backend(backend)
        workers = arguments.lanes if uses_workers(backend) else 0
        plans += [
            TrialPlan(trial + 1, backend, arguments.lanes, workers, trial, arguments.steps, arguments.timeout)
            for trial in range(arguments.trials)
        ]
    out = Path(tempfile.mkdtemp(prefix="world-stability-"))
    summary = summarize(run_trials(plans, out, tell))
    rows = [
        [name, f"{found['ok']} of {found['trials']}", found["lane_steps"], found["episodes"], found["top_errors"] or ""]
        for name, found in summary["backends"].items()
    ]
    show("worlds, again and again", ["world", "good", "steps of lanes", "episodes", "errors"], rows)
    versions = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    keep("world_stability", "do worlds come up, reset and step every time?", {"versions": versions, **summary})
    print(f"report and diagnostics: {out}")
    return 1 if summary["failed"] else 0


def tell(record: Record) -> None:
    how = "ok" if record["ok"] else f"FAILED: {record['error']}"
    print(f"{record['backend']} {record['trial']}: {how}, {record['duration_seconds']:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
