"""What the user is told while code is made: sentences, and on a terminal a line that lives."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

Say = Callable[[str], None]


def say_on_stderr(sentence: str) -> None:
    """One line, where it disturbs no output that a program reads."""
    stream = _stderr()
    if stream is not None:
        with suppress(OSError, ValueError):  # a reader that has gone: no reason to stop working
            print(f"respawn: {sentence}", file=stream, flush=True)


class Teller:
    """Hands sentences to `say`; shows work in progress where a person is watching."""

    def __init__(self, say: Say) -> None:
        self.say = say

    @contextmanager
    def working(self, sentence: str) -> Iterator[None]:
        """Around work that takes a while: a line with the seconds it has taken so far, or just the sentence."""
        stream = _stderr()
        if stream is None or not stream.isatty():
            self.say(sentence)
            yield
            return
        # Imported only now: hardly ever is anything compiled, and every command imports this.
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("respawn: {task.description}"), TimeElapsedColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as line:
            line.add_task(sentence, total=None)
            yield


def _stderr() -> TextIO | None:
    """None where a program was started without one, or has closed it."""
    stream: TextIO | None = sys.stderr
    return None if stream is None or stream.closed else stream
