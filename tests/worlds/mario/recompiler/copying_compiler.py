"""A compiler that copies: what `ensure_code` does around compiling can be watched without waiting for it."""

from dataclasses import dataclass
from pathlib import Path

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "a compiler that copies"; exit 0; fi
echo $$ >> "{log}"
{first}
for last; do :; done
cp "{library}" "$last"
"""


@dataclass(frozen=True)
class Copier:
    """A compiler, as far as anyone can see from outside."""

    path: Path
    log: Path

    @property
    def runs(self) -> int:
        """How often it has compiled."""
        return len(self.processes)

    @property
    def processes(self) -> list[int]:
        """Their numbers."""
        return [int(line) for line in self.log.read_text().split()] if self.log.exists() else []


def write_compiler(folder: Path, library: Path, first: str = "") -> Copier:
    """Writes one that does `first` before it copies."""
    path, log = folder / "copying-compiler", folder / "compiled.log"
    path.write_text(COMPILER.format(log=log, library=library, first=first))
    path.chmod(0o755)
    return Copier(path, log)
