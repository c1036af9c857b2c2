import shutil
from collections import namedtuple

import pytest

Usage = namedtuple("Usage", "total used free")


class Disk:
    """What the disk is said to be like, whatever it is like here."""

    def __init__(self) -> None:
        self.total_gib, self.free_gib = 100.0, 50.0

    def usage(self, path: object) -> Usage:
        return Usage(int(self.total_gib * 2**30), 0, int(self.free_gib * 2**30))


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk with room, so that no finding is this machine's."""
    disk = Disk()
    monkeypatch.setattr(shutil, "disk_usage", disk.usage)
    return disk
