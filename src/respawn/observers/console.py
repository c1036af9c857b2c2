"""Progress for a person: a live display on a terminal, plain lines in a file or a pipe."""

import errno
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TextIO

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from respawn.contracts.records import Beat, EvaluationReport, Event, Record, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.observers.progress import Progress
from respawn.observers.throttle import EverySeconds

_SHOWN = (Beat, Event, EvaluationReport, UpdateReport)
_STYLES = {"info": "cyan", "warning": "yellow", "error": "bold red"}
_REFRESH_SECONDS = 0.25
_SHORTEST_BAR = 10
_LONGEST_BAR = 60


class Console:
    """Shows how a run goes. No thread of its own: it draws when a record comes, four times a second at most.

    When the reader is gone (a closed pipe, a terminal that hung up) nobody is looking, and it says no more.
    """

    def __init__(
        self,
        name: str,
        total_updates: int | None,
        total_minutes: float | None,
        first_update: int = 0,
        stream: TextIO | None = None,
        *,
        every_seconds: float = 5.0,
    ) -> None:
        out: TextIO | None = sys.stdout if stream is None else stream
        self._watched = out is not None  # there is no standard output at all where it was closed before the start
        self._stream = io.StringIO() if out is None else out
        self._total_updates = total_updates
        self._progress = Progress(total_updates, total_minutes, first_update)
        terminal = _Terminal(file=self._stream, highlight=False)
        self._live: Live | None = None
        self._live_wanted = self._stream.isatty() and terminal.is_terminal and not terminal.is_dumb_terminal
        self._display = _Display(name, self._progress)
        self._terminal = terminal
        self._throttle = EverySeconds(_REFRESH_SECONDS if self._live_wanted else every_seconds)
        self._untold = False
        self._last_line = ""

    def receive(self, record: Record) -> None:
        """Show events and evaluations at once, updates when it is time, and signs of life between updates far apart."""
        if not isinstance(record, _SHOWN):
            return
        was_between_updates = self._progress.is_between_updates
        self._progress.note(record)
        if not self._watched:
            return
        with self._while_watched():
            if isinstance(record, Event):
                self._tell(record)
            elif isinstance(record, EvaluationReport):
                self._show()
            elif isinstance(record, Beat):
                if was_between_updates:
                    self._show()
            elif isinstance(record, UpdateReport):
                self._untold = True
                if self._throttle.due() or record.update == self._total_updates:
                    self._show()

    def state(self) -> StateTree:
        """The best evaluation, which a resumed run would otherwise have forgotten."""
        return self._progress.state()

    def restore(self, state: StateTree) -> None:
        """Know the best evaluation again."""
        self._progress.restore(state)

    def close(self) -> None:
        """Show the last update and give the terminal back; safe to call twice."""
        with self._while_watched():
            if self._untold:
                self._show()
            self._stop_live()

    @contextmanager
    def _while_watched(self) -> Iterator[None]:
        """Go quiet where what is inside finds that the reader is gone."""
        try:
            yield
        except (OSError, ValueError) as error:
            if not _reader_is_gone(error, self._stream):
                raise
            self._watched = self._untold = False
            with suppress(OSError, ValueError):  # it cannot be drawn, but sys.stdout must be given back
                self._stop_live()

    def _stop_live(self) -> None:
        if self._live is not None:
            live, self._live = self._live, None
            live.stop()

    def _show(self) -> None:
        self._untold = False
        if self._live_wanted:
            self._living().refresh()
        else:
            figures = [f"{label} {value}" for label, value in self._progress.figures() + self._progress.learning()]
            line = "  ".join([*self._progress.headline(), *figures])
            if line != self._last_line:  # an evaluation at the very end may change nothing that is shown
                self._print_plain(line)
            self._last_line = line

    def _tell(self, event: Event) -> None:
        clock = f"{datetime.now():%H:%M:%S}"
        message = _printable(event.message, self._stream)
        if self._live_wanted:
            style = _STYLES[event.level]
            self._living().console.print(Text.assemble((f"{clock} ", "dim"), (f"{event.level} ", style), message))
        else:
            self._print_plain(f"{clock} {event.level}: {message}")

    def _living(self) -> Live:
        if self._live is None:
            # What others print goes above the display, but only what was bound for the same terminal.
            ours = self._stream is sys.stdout
            self._live = Live(
                self._display,
                console=self._terminal,
                auto_refresh=False,
                redirect_stdout=ours,
                redirect_stderr=ours and sys.stderr.isatty(),
            )
            self._live.start()
        return self._live

    def _print_plain(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class _Terminal(RichConsole):
    """A console that says when the pipe is closed; rich would end the process."""

    def on_broken_pipe(self) -> None:
        """Leave it to whoever called; rich asks while it handles the error."""
        raise


class _Display:
    """The live part, fitted to whatever width the terminal has now."""

    def __init__(self, name: str, progress: Progress) -> None:
        self._name = name
        self._progress = progress

    def __rich_console__(self, console: RichConsole, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        words = "  ".join(self._progress.headline())
        bar = min(_LONGEST_BAR, width - len(self._name) - len(words) - 4)
        if bar < _SHORTEST_BAR:  # too narrow for one line
            yield _fitted(Text(self._name, "bold"), width)
            bar = min(_LONGEST_BAR, width - len(words) - 2)
            first = Text()
        else:
            first = Text(f"{self._name}  ", "bold")
        fraction = self._progress.fraction
        if fraction is not None and bar >= _SHORTEST_BAR:
            first.append_text(_bar(fraction, bar, options.ascii_only)).append("  ")
        yield _fitted(first.append(words, "not bold"), width)
        yield from _flow(self._progress.figures(), width)
        yield from _flow(self._progress.learning(), width)


def _reader_is_gone(error: OSError | ValueError, stream: TextIO) -> bool:
    """Whether an error means that nobody reads the stream any more; a full disk, for one, is another matter."""
    if isinstance(error, OSError):
        return error.errno in (errno.EPIPE, errno.EIO, errno.EBADF)
    return stream.closed


def _bar(fraction: float, width: int, ascii_only: bool) -> Text:
    done = int(fraction * width)
    mark = "#-" if ascii_only else "━━"
    return Text.assemble((mark[0] * done, "not bold green"), (mark[1] * (width - done), "not bold bright_black"))


def _flow(figures: Iterable[tuple[str, str]], width: int) -> Iterable[Text]:
    """Labels and values over as many lines as they need, never broken inside."""
    line = Text()
    for label, value in figures:
        figure = Text.assemble((f"{label} ", "dim"), value)
        if line and len(line) + 3 + len(figure) > width:
            yield _fitted(line, width)
            line = Text()
        line = line.append("   ").append_text(figure) if line else figure
    if line:
        yield _fitted(line, width)


def _fitted(text: Text, width: int) -> Text:
    text.no_wrap = True
    text.truncate(width, overflow="crop")
    return text


def _printable(message: str, stream: TextIO) -> str:
    """The message without what would upset a terminal: control codes, and letters that its encoding lacks."""
    plain = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in message)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return plain.encode(encoding, "backslashreplace").decode(encoding)
