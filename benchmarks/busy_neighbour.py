"""How much does a training lose when something else is at work on its cores, and do threads that sleep help?

Torch's threads (libgomp's, on Linux) look again and again whether the others are done, and sleep only after many looks.
`respawn` makes them sleep sooner. Trains `mario` for some updates with one thread and with two, each way of waiting, on
a quiet machine, beside one process that never rests and beside two; all in turn, and the median counts. Let nothing
else run.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from harness import keep, show
from respawn.cli.main import SPINS

ROUNDS, UPDATES = 3, 20
NEIGHBOURS = {"quiet": 0, "one": 1, "two": 2}
LIBGOMPS_OWN = "300000"
WAYS = {
    "one thread": ("1", SPINS),
    "two threads, as libgomp waits": ("2", LIBGOMPS_OWN),
    "two threads, as respawn waits": ("2", SPINS),
    "two threads that sleep at once": ("2", "0"),
}


def main() -> int:
    paces: dict[str, dict[str, list[float]]] = {way: {when: [] for when in NEIGHBOURS} for way in WAYS}
    for number in range(ROUNDS):
        for when, how_many in NEIGHBOURS.items():
            with _neighbours(how_many):
                for way, (threads, spins) in WAYS.items():
                    paces[way][when].append(_pace(threads, spins))
        print(f"round {number + 1} of {ROUNDS} done", flush=True)
    rows = [(way, *(median(pace[when]) for when in NEIGHBOURS)) for way, pace in paces.items()]
    show("decisions a second, median", ("way of waiting", "quiet", "beside one busy process", "beside two"), rows)
    keep("busy_neighbour", __doc__ or "", {"rounds": ROUNDS, "updates": UPDATES, "decisions_per_second": paces})
    return 0


def _pace(threads: str, spins: str) -> float:
    with tempfile.TemporaryDirectory() as place:
        limits = ["--updates", str(UPDATES), "--evaluation.every-updates", "1000000", "--threads", threads]
        where = ["--runs", place, "--name", "run", "--observers.no-tensorboard"]
        subprocess.run(
            [sys.executable, "-m", "respawn", "train", "mario", "--seed", "1", *limits, *where],
            env={**os.environ, "GOMP_SPINCOUNT": spins},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        last = json.loads((Path(place) / "run" / "updates.jsonl").read_text().splitlines()[-1])
    return float(last["decisions"] / last["time/total_seconds"])


@contextmanager
def _neighbours(how_many: int) -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(how_many)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
