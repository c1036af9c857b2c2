"""Is a row ever lost or torn while four threads write, files are set aside, and others read?

Four threads tell a run's observers of updates and events, a hundred times as fast as a run does. The streams are set
aside at a small size, the heart beats, resources are sampled, latest.parquet is replaced twenty times a second.
Meanwhile a process of its own reads everything there is, again and again, as any tool would: the streams as rows, their
last rows, latest.parquet, and exports to Parquet. What it sees must be whole every time, and never less than before. In
the end every row must be there exactly once, each writer's in the order in which it wrote them, in the streams and in
the Parquet files made of them.

The writers are threads because that is what may write: workers and actors are processes, and tell the training process,
which alone has a run's streams open (its lock sees to that).

    .venv/bin/python benchmarks/concurrent_writers.py --seconds 60
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet

from harness import keep, show
from respawn.contracts.records import Event, UpdateReport
from respawn.observers.build import ConsoleFacts, Watched, build_observers
from respawn.observers.config import ObserversConfig
from respawn.observers.thread_phases import ThreadPhases
from respawn.runs.export import export_stream
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import new_meta
from respawn.runs.reader import last_row, read_beats, read_resources
from respawn.runs.rotation import archive_numbers
from respawn.runs.streams import STREAMS, rows_of

WRITERS = 4
ROTATE_MIB = 0.05
PAUSE_SECONDS = 0.004
"""After each row, so that who reads can keep up."""
EVENT_EVERY = 20
QUICK_LOOKS = 50
"""At what is only ever the newest, for each look at everything."""
NUMBERS = 20
"""Further metrics of each row, so that its length is that of a small run's."""


class Lost(Exception):
    """A row was lost, torn, doubled or out of order."""


def row_of(writer: int, number: int) -> UpdateReport:
    """A writer's row, whose parts follow from one another so that a mixture of two would be seen."""
    metrics = {f"loss/part_{part}": (writer + 1) * number / (part + 7) for part in range(NUMBERS)}
    return UpdateReport(number, writer, writer * 10**9 + number, 0, metrics)


def check_row(row: Mapping[str, Any]) -> tuple[int, int]:
    """Writer and number of a row that must be as it was made."""
    writer, number = int(row["decisions"]), int(row["update"])
    made = row_of(writer, number)
    if row["frames"] != made.frames or any(row[name] != value for name, value in made.metrics.items()):
        raise Lost(f"a row of writer {writer} is not as it was made: {row}")
    return writer, number


def check_order(seen: Iterable[tuple[int, int]]) -> Counter[int]:
    """How many rows each writer has, all of which must be there once and in order."""
    counts: Counter[int] = Counter()
    for writer, number in seen:
        if number != counts[writer]:
            raise Lost(f"writer {writer}: after row {counts[writer] - 1} comes row {number}")
        counts[writer] += 1
    return counts


def writer_and_number(event: Mapping[str, Any]) -> tuple[int, int]:
    """The same of an event."""
    facts = event["facts"] if isinstance(event["facts"], dict) else json.loads(event["facts"])
    if event["message"] != f"row {facts['number']} of writer {facts['writer']}":
        raise Lost(f"an event is not as it was made: {event}")
    return facts["writer"], facts["number"]


def glance(folder: RunFolder) -> bool:
    """Look at what is newest; whether there was a snapshot."""
    if (last := last_row(folder.updates)) is not None:
        check_row(last)
    if not folder.latest.exists():
        return False
    (newest,) = pyarrow.parquet.read_table(folder.latest).to_pylist()
    check_row(newest)
    return True


def look(folder: RunFolder, exports: Path, before: Counter[str]) -> Counter[str]:
    """Read everything once; answers how much there was of each kind, which must not be less than before."""
    found: Counter[str] = Counter()
    found["updates"] = check_order(check_row(row) for row in rows_of(folder, "updates")).total()
    found["events"] = check_order(writer_and_number(row) for row in rows_of(folder, "events")).total()
    found["heartbeats"] = sum(1 for _ in read_beats(folder))
    found["resources"] = sum(1 for _ in read_resources(folder))
    for name in ("updates", "events"):
        exported = export_stream(folder, name, exports, "parquet", lambda doing, part: None)
        if exported.rows < found[name]:
            raise Lost(f"the export of {name} has {exported.rows} rows, of {found[name]} that were there before it")
    if any(found[name] < before[name] for name in STREAMS):
        raise Lost(f"there were {before} rows, and now there are {found}")
    found["snapshots"] = before["snapshots"] + sum(glance(folder) for _ in range(QUICK_LOOKS))
    found["looks"] = before["looks"] + 1
    return found


def read_on(folder: RunFolder, exports: Path) -> int:
    """Look again and again, until standard input ends; tells as JSON what was seen."""
    is_over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), is_over.set()), daemon=True).start()
    seen: Counter[str] = Counter()
    while not is_over.is_set():
        seen = look(folder, exports, seen)
    print(json.dumps(seen))
    return 0


def write(folder: RunFolder, seconds: float) -> tuple[Counter[int], Counter[int], tuple[str, ...]]:
    """Write for so long; rows and events by writer, and what failed."""
    config = ObserversConfig(
        console=False,
        tensorboard=False,
        heartbeat_seconds=0.02,
        resource_seconds=0.1,
        latest_seconds=0.05,
        rotate_mib=ROTATE_MIB,
    )
    phases = ThreadPhases()
    hub = build_observers(folder, config, ConsoleFacts(None, None), Watched(phases, "cpu"))
    rows: Counter[int] = Counter()
    events: Counter[int] = Counter()
    end = time.monotonic() + seconds

    def writing(writer: int) -> None:
        while time.monotonic() < end:
            phases.mark("loop")
            hub.receive(row_of(writer, rows[writer]))
            rows[writer] += 1
            if rows[writer] % EVENT_EVERY == 0:
                facts = {"writer": writer, "number": events[writer]}
                hub.receive(Event("noted", f"row {events[writer]} of writer {writer}", facts=facts))
                events[writer] += 1
            time.sleep(PAUSE_SECONDS)

    threads = [threading.Thread(target=writing, args=(writer,), name=f"writer-{writer}") for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hub.close()
    return rows, events, tuple(map(str, hub.failures))


def check_all(folder: RunFolder, exports: Path, rows: Counter[int], events: Counter[int]) -> dict[str, int]:
    """Whether everything that was written is there, in the streams and in what is exported of them."""
    for name, written, checked in (("updates", rows, check_row), ("events", events, writer_and_number)):
        in_stream = check_order(checked(row) for row in rows_of(folder, name))
        export_stream(folder, name, exports, "parquet", lambda doing, part: None)
        exported = pyarrow.parquet.read_table(exports / f"{name}.parquet").to_pylist()
        in_parquet = check_order(checked(row) for row in exported)
        if not written == in_stream == in_parquet:
            raise Lost(f"{name}: {written} were written, {in_stream} are there, {in_parquet} were exported")
    times = [told for told, _ in read_beats(folder)]
    if times != sorted(times):
        raise Lost("heartbeats are not in order")
    (newest,) = pyarrow.parquet.read_table(folder.latest).to_pylist()
    if check_row(newest)[1] != rows[newest["decisions"]] - 1:
        raise Lost(f"latest.parquet has {newest}, which is not the last row of its writer")
    return {
        "rows": rows.total(),
        "events": events.total(),
        "beats": len(times),
        "resources": sum(1 for _ in read_resources(folder)),
        "files_set_aside": sum(len(archive_numbers(stream.path_in(folder))) for stream in STREAMS.values()),
    }


def measure(seconds: float, place: Path) -> dict[str, Any]:
    """Write and read at once; raises Lost where anything is not as it should be."""
    folder = create(place, "run", asdict(new_meta("run", "none", "none", 1)), {})
    exports = {name: place / name for name in ("read", "after")}
    for path in exports.values():
        path.mkdir()
    command = [sys.executable, __file__, "--read", str(folder.path), str(exports["read"])]
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        rows, events, failures = write(folder, seconds)
        told, _ = reader.communicate("", timeout=600)
    finally:
        reader.kill()
    if failures:
        raise Lost(f"an observer failed: {failures}")
    if reader.returncode != 0:
        raise Lost("who read meanwhile saw something that was not whole; see above")
    seen = json.loads(told)
    found = check_all(folder, exports["after"], rows, events)
    return {"seconds": seconds, "writers": WRITERS, **found, "meanwhile": {key: seen[key] for key in sorted(seen)}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--place", type=Path, help="where the run folder is made; else where temporary files are")
    parser.add_argument("--read", nargs=2, type=Path, metavar=("RUN", "EXPORTS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        return read_on(RunFolder(arguments.read[0]), arguments.read[1])
    with tempfile.TemporaryDirectory(dir=arguments.place) as place:
        found = measure(arguments.seconds, Path(place))
    rows = [(name, value) for name, value in found.items() if name != "meanwhile"]
    rows += [(f"meanwhile, {name}", value) for name, value in found["meanwhile"].items()]
    show("nothing lost, nothing torn", ("", "number"), rows)
    keep("concurrent_writers", (__doc__ or "").split("\n")[0], found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
