"""Compiled code on disk: made once, trusted only when verified, shared by processes that start together."""

import hashlib
import json
import os
import platform
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

import filelock

from respawn.worlds.mario import _engine
from respawn.worlds.mario.files import user_cache_folder

LIBRARY, RECORD, LOCK = "code.so", "code.json", "making.lock"
WORKSHOPS = "making-"
MOST_SLOTS = 8
"""kept; a new engine makes new code, and what was made longest ago goes"""


class CacheError(Exception):
    """Code cannot be kept where it should be; the message is one clause that says why and what to do."""


def headers_folder() -> Path:
    """Where the engine's headers lie: beside the engine itself."""
    return Path(_engine.__file__).resolve().parent / "native"


def cpu_name() -> str:
    """The processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{platform.machine()} {models[0] if models else platform.processor()}".strip()


def engine_fingerprint() -> str:
    """Changes with everything that compiled code depends on: the contract, the headers, and the rooms that write it."""
    digest = hashlib.sha256(_engine.engine_version().encode())
    for folder, pattern in ((headers_folder(), "**/*.h"), (Path(__file__).parent, "*.py")):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class Slot:
    """The place of one game's code, for one engine on one kind of machine."""

    folder: Path

    @staticmethod
    def of(program: bytes) -> "Slot":
        """The slot for a program on this machine.

        The compiler is not part of its name: code was verified whoever made it, and it outlives the compiler.
        """
        key = "\n".join([hashlib.sha256(program).hexdigest(), engine_fingerprint(), cpu_name()])
        return Slot(user_cache_folder() / "code" / hashlib.sha256(key.encode()).hexdigest()[:24])

    @property
    def library(self) -> Path:
        """The shared library."""
        return self.folder / LIBRARY

    def read(self) -> Path | None:
        """The library, if it is there, verified and undamaged."""
        if not all(_is_ours(path) for path in (self.folder.parent, self.folder, self.library)):
            return None
        try:
            record = json.loads((self.folder / RECORD).read_text())
            intact = hashlib.sha256(self.library.read_bytes()).hexdigest() == record["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return self.library if intact else None

    def lock(self) -> filelock.FileLock:
        """Held by whoever is compiling: one for all slots, so that the holder may tidy up after others."""
        self.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_ours(self.folder.parent)
        return filelock.FileLock(self.folder.parent / LOCK)

    def workshop(self) -> Path:
        """An empty folder on the same disk, for the holder of the lock; those of processes that were killed go."""
        for abandoned in self.folder.parent.glob(f"{WORKSHOPS}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=WORKSHOPS, dir=self.folder.parent))

    def keep(self, workshop: Path, facts: dict[str, object]) -> Path:
        """Put verified code in its place, in one step."""
        library = workshop / LIBRARY
        library.chmod(0o700)  # a umask may let a group write, and then it would not be trusted
        record = {**facts, "sha256": hashlib.sha256(library.read_bytes()).hexdigest()}
        (workshop / RECORD).write_text(json.dumps(record, indent=2))
        if self.folder.is_symlink():
            self.folder.unlink()
        elif self.folder.exists():
            shutil.rmtree(self.folder)
        os.replace(workshop, self.folder)
        self._tidy()
        return self.library

    def _tidy(self) -> None:
        records = [record for record in self.folder.parent.glob(f"*/{RECORD}") if record.parent != self.folder]
        newest_first = sorted(records, key=lambda record: record.stat().st_mtime, reverse=True)
        for record in newest_first[MOST_SLOTS - 1 :]:
            shutil.rmtree(record.parent, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Whether nobody but this user could have put it there: what is loaded runs with this user's rights."""
    try:
        facts = path.lstat()
    except OSError:
        return False
    others_may_write = facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not stat.S_ISLNK(facts.st_mode) and facts.st_uid == os.geteuid() and not others_may_write


def _make_ours(folder: Path) -> None:
    """Let nobody else write to a folder of this user; refuse one of anybody else."""
    facts = folder.lstat()
    if stat.S_ISLNK(facts.st_mode) or facts.st_uid != os.geteuid():
        what = "is a link" if stat.S_ISLNK(facts.st_mode) else "belongs to another user"
        raise CacheError(
            f"the cache folder {folder} {what}, and code from there could be anybody's; "
            "set XDG_CACHE_HOME to a folder of your own"
        )
    if not _is_ours(folder):
        folder.chmod(0o700)
