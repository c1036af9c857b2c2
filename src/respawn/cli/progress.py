"""A bar for commands that take a while."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

from rich.console import Console as Terminal
from rich.progress import BarColumn, Progress, TextColumn

Tell: TypeAlias = Callable[[str, float], None]
"""is told what is being done, and which part of all is done"""


@contextlib.contextmanager
def progress_bar(*, lines: bool = False) -> Iterator[Tell]:
    """A bar on a terminal; anywhere else nothing, or a line for each thing that is done (up to its first comma)."""
    if not sys.stderr.isatty():
        yield _lines() if lines else lambda doing, part: None
        return
    columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %  {task.description}", markup=False))
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda doing, part: progress.update(task, completed=part, description=doing)


def _lines() -> Tell:
    last = ""

    def tell(doing: str, part: float) -> None:
        nonlocal last
        now = doing.partition(",")[0]
        if now != last:
            print(f"{now} ...", file=sys.stderr, flush=True)
        last = now

    return tell
