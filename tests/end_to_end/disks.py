"""Disks that have no room, or may not be written to: real ones where that is allowed, and stand-ins everywhere."""

import errno
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from respawn.observers.jsonl import JsonlStream

CAN_MOUNT = sys.platform == "linux" and os.geteuid() == 0


class Disk:
    """From the moment it refuses, nothing can be written below a folder any more, whoever tries; reading goes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, number: int) -> None:
        self.refuses = False
        self._folder, self._number = folder.resolve(), number
        for module, name in ((io, "open"), (os, "mkdir"), (os, "rename"), (os, "replace")):
            self._watch(monkeypatch, module, name)
        real_write = JsonlStream._write  # files that are open already

        def write(stream: JsonlStream, left: memoryview) -> None:
            self._refuse(stream._path)
            real_write(stream, left)

        monkeypatch.setattr(JsonlStream, "_write", write)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        real = getattr(module, name)

        def watched(path: Any, *arguments: Any, **named: Any) -> Any:
            mode = arguments[0] if arguments and name == "open" else named.get("mode", "r")
            overwrites = mode == "r+b" and self._number == errno.ENOSPC  # what is there already has room
            if name != "open" or (set(mode) & set("wax+") and not overwrites):
                self._refuse(path)
            return real(path, *arguments, **named)

        monkeypatch.setattr(module, name, watched)

    def _refuse(self, path: Any) -> None:
        is_below = isinstance(path, str | Path) and self._folder in Path(path).absolute().parents
        if self.refuses and is_below:
            raise OSError(self._number, os.strerror(self._number), str(path))


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """A file system of its own at `place`; skips the test where that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    mounting = subprocess.run(command, capture_output=True, text=True)
    if mounting.returncode != 0:
        pytest.skip(f"no right to mount here: {mounting.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)
