"""The diagnostic files of a worker: marks that say how far it came, and what it printed."""

import json
import os
import time
from pathlib import Path
from typing import Any


class Marks:
    """Appends to `worker-<i>.jsonl`, one JSON object a line; the worker and its parent write to the same file."""

    def __init__(self, path: Path, worker: int) -> None:
        self.path = path
        self._worker = worker

    def write(self, stage: str, lane: int | None = None, **facts: Any) -> None:
        """Add one mark. Opened anew each time, so that every mark is on disk before what follows it can go wrong."""
        record: dict[str, Any] = {"time": time.time(), "worker": self._worker, "pid": os.getpid(), "stage": stage}
        if lane is not None and lane >= 0:
            record["lane"] = lane
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**record, **facts}) + "\n")


def marks_path(folder: Path, worker: int) -> Path:
    """Where the marks of a worker are."""
    return folder / f"worker-{worker}.jsonl"


def output_path(folder: Path, worker: int) -> Path:
    """Where a worker's standard output and error go, and the stacks of its threads when it hangs or crashes."""
    return folder / f"worker-{worker}.out"


def read_from(path: Path, offset: int, limit_bytes: int = 16_384) -> str:
    """What was added to a file since `offset`; of much, only the end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(offset, size - limit_bytes))
        return file.read().decode("utf-8", errors="replace")
