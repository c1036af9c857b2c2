"""The diagnostic files of a child process: marks that say how far it came, and what it printed."""

import json
import os
import time
from pathlib import Path
from typing import Any


class Marks:
    """Appends to `<kind>-<i>.jsonl`, one JSON object a line; the child and its parent write to the same file."""

    def __init__(self, path: Path, number: int, kind: str = "worker") -> None:
        self.path = path
        self._who = {kind: number}

    def write(self, stage: str, lane: int | None = None, **facts: Any) -> None:
        """Add one mark. Opened anew each time, so that every mark is on disk before what follows it can go wrong."""
        record: dict[str, Any] = {"time": time.time(), **self._who, "pid": os.getpid(), "stage": stage}
        if lane is not None and lane >= 0:
            record["lane"] = lane
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**record, **facts}) + "\n")


def marks_path(folder: Path, number: int, kind: str = "worker") -> Path:
    """Where the marks of a child are."""
    return folder / f"{kind}-{number}.jsonl"


def output_path(folder: Path, number: int, kind: str = "worker") -> Path:
    """Where a child's standard output and error go, and the stacks of its threads when it hangs or crashes."""
    return folder / f"{kind}-{number}.out"


def read_from(path: Path, offset: int, limit_bytes: int = 16_384) -> str:
    """What was added to a file since `offset`; of much, only the end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(offset, size - limit_bytes))
        return file.read().decode("utf-8", errors="replace")
