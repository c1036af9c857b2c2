"""Other people's environments and learners, measured in processes of their own: nothing here imports them.

What a script has to say and to answer is told in benchmarks/peers/serving.py.
"""

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from respawn.worlds.mario.measure import Timing

START_SECONDS = 120.0
"""to import, to begin and to play a while"""
ANSWER_SECONDS = 60.0
"""for an answer, beyond the time it was asked to measure"""
END_SECONDS = 5.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS")
_LONGEST_WORDS = 200


class PeerMissingError(Exception):
    """The peer is not installed; the message is what was missed."""


class PeerFailedError(Exception):
    """The peer did not do as asked; the message is one clause."""


def peer_scripts(folder: Path) -> dict[str, Path]:
    """The scripts in a folder by the names of their peers: peer_some_name.py measures some-name."""
    return {path.stem.removeprefix("peer_").replace("_", "-"): path for path in sorted(folder.glob("peer_*.py"))}


class Peer:
    """One peer that is ready to be measured.

    Args:
      script: what to run.
      arguments: what the script is told.
      python: what runs it.
      threads: how many its libraries may compute with.
      start_seconds: how long it may take to be ready.
    """

    def __init__(
        self,
        script: Path,
        arguments: Sequence[str],
        python: str,
        *,
        threads: int = 1,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [python, str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, **dict.fromkeys(_THREADS, str(threads))},
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            first = self._next_line(start_seconds, "to be ready")
            if first.startswith("missing "):
                raise PeerMissingError(first.removeprefix("missing "))
            if first != "ready":
                raise PeerFailedError(f"said '{_shortened(first)}' instead of 'ready'")
        except BaseException:
            self.close()
            raise

    def run(self, seconds: float, answer_seconds: float = ANSWER_SECONDS) -> Timing:
        """Decisions, on whatever the peer calls an episode."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"measure {seconds}\n")
            self._process.stdin.flush()
        except OSError:
            raise PeerFailedError(self._end()) from None
        return _timing(self._next_line(seconds + answer_seconds, "to answer"))

    def close(self) -> None:
        """End it, kindly first."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it may be gone already
            self._process.stdin.close()
        if not self._has_ended():
            self._process.kill()
            self._process.wait()
        self._reader.join(END_SECONDS)
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())
        self._lines.put(None)

    def _next_line(self, seconds: float, purpose: str) -> str:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise PeerFailedError(f"took more than {seconds:.0f} s {purpose}") from None
        if line is None:
            raise PeerFailedError(self._end())
        return line

    def _end(self) -> str:
        """How it ended, with the last it had to say."""
        code = self._process.returncode if self._has_ended() else "none"
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        last = f": {_shortened(lines[-1].strip())}" if lines else ""
        return f"ended with exit code {code}{last}"

    def _has_ended(self) -> bool:
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True


def _timing(line: str) -> Timing:
    try:
        answer: dict[str, Any] = json.loads(line)
        seconds = float(answer["seconds"])
        timing = Timing(int(answer["decisions"]), seconds, float(answer.get("cpu_seconds", seconds)))
        if timing.count > 0 and timing.seconds > 0:
            return timing
    except (ValueError, TypeError, KeyError):
        pass
    raise PeerFailedError(f"answered '{_shortened(line)}', which is no JSON with its decisions and seconds")


def _shortened(words: str) -> str:
    return words if len(words) <= _LONGEST_WORDS else f"{words[: _LONGEST_WORDS - 1]}…"
