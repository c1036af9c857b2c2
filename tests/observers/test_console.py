import errno
import io
import sys

import pytest
from rich.console import Console as RichConsole

from respawn.contracts.records import Beat, EvaluationReport, Event, UpdateReport
from respawn.observers.console import Console, _Display
from respawn.observers.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def report(update: int) -> UpdateReport:
    metrics = {
        "loss/policy": -0.0123,
        "loss/value": 12.345,
        "policy/entropy": 0.6132,
        "weights/lag": 1.0,
        "return/mean": 21.5 + update,
        "time/decisions_per_second": 41234.5,
        "time/total_seconds": update * 0.5,
    }
    return UpdateReport(update, update * 2048, update * 2048, update * 9, metrics)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()


def drawn(width: int, updates: int = 3, name: str = "cartpole-ppo-s1-20261116-104500", encoding="utf-8") -> list[str]:
    progress = Progress(10, None)
    for update in range(1, updates + 1):
        progress.note(report(update))
        progress.note(EvaluationReport(update, 0, {"evaluation/return_mean": 400.0 + update}))
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    RichConsole(file=stream, width=width, force_terminal=False).print(_Display(name, progress), end="")
    stream.seek(0)
    return stream.read().splitlines()


def test_plain_lines_at_the_first_the_last_and_when_it_is_time():
    stream = io.StringIO()
    console = Console("one", 10, None, stream=stream, every_seconds=3600)
    for update in range(1, 11):
        console.receive(report(update))
    console.close()
    lines = stream.getvalue().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["update 1/10", "update 10/10"]
    assert "return 31.5" in lines[1] and "entropy 0.6132" in lines[1] and "\x1b" not in stream.getvalue()


def test_a_run_that_ends_early_shows_its_last_update():
    stream = io.StringIO()
    console = Console("one", None, 60.0, stream=stream, every_seconds=3600)
    for update in range(1, 5):
        console.receive(report(update))
    console.close()
    console.close()
    assert [line.split("  ")[1] for line in stream.getvalue().splitlines()] == ["update 1", "update 4"]


def test_events_and_evaluations_are_told_at_once():
    stream = io.StringIO()
    console = Console("one", 10, None, stream=stream, every_seconds=3600)
    console.receive(Event("k", "it [bold]broke[/bold]\x1b[2J", "error"))
    assert stream.getvalue().endswith(" error: it [bold]broke[/bold] [2J\n")
    console.receive(EvaluationReport(1, 10, {"evaluation/return_mean": 7.5}))
    assert "best 7.5 at 1" in stream.getvalue()


def beat(share: float, phase: str = "world") -> Beat:
    return Beat(1, 10, {"MainThread": phase, "collector": phase}, False, {"heartbeat/rollout_share": share})


def test_where_no_update_comes_between_two_beats_it_says_how_far_it_is():
    stream = io.StringIO()
    console = Console("one", 10, None, stream=stream, every_seconds=0)
    console.receive(beat(0.1))
    assert stream.getvalue() == ""  # it may have come just before an update
    console.receive(beat(0.25))
    console.receive(report(1))
    console.receive(beat(0.1))
    console.receive(beat(0.0, "evaluate"))
    console.close()
    assert [line.split("  ")[1:2] + line.split("  ")[3:4] for line in stream.getvalue().splitlines()] == [
        ["update 0/10", "now 25 % of a rollout"],
        ["update 1/10", "decisions 2,048 (41,234/s)"],
        ["update 1/10", "now evaluate"],
    ]


class Gone(Terminal):
    """Its reader leaves when told to."""

    def __init__(self, terminal: bool, error: Exception) -> None:
        super().__init__()
        self.terminal = terminal
        self.error = error
        self.left = False

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        if self.left:
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("error", [BrokenPipeError(errno.EPIPE, "gone"), OSError(errno.EIO, "hung up")])
def test_when_the_reader_is_gone_it_goes_quiet_and_remembers(live, error, terminal, monkeypatch):
    stream = Gone(live, error)
    console = Console("one", 10, None, stream=stream, every_seconds=0)
    console.receive(report(1))
    stream.left = True
    for record in (Event("k", "broke", "error"), EvaluationReport(1, 10, {"evaluation/return_mean": 7.5}), report(10)):
        console.receive(record)
    console.close()
    assert "update 1/10" in stream.getvalue() and "broke" not in stream.getvalue()
    assert console.state() == {"best": 7.5, "best_update": 1, "score": "evaluation/return_mean"}


def test_a_live_display_on_standard_output_gives_it_back_when_the_reader_is_gone(terminal, monkeypatch):
    stream = Gone(True, BrokenPipeError(errno.EPIPE, "gone"))
    monkeypatch.setattr(sys, "stdout", stream)
    console = Console("one", 10, None)
    console.receive(report(1))
    assert sys.stdout is not stream
    stream.left = True
    console.receive(Event("k", "broke", "error"))
    assert sys.stdout is stream


def test_a_closed_stream_is_nobody_looking_too(monkeypatch):
    stream = io.StringIO()
    console = Console("one", 10, None, stream=stream)
    stream.close()
    console.receive(report(1))
    console.close()
    monkeypatch.setattr(sys, "stdout", None)  # as Python leaves it where it was closed before the start
    console = Console("one", 10, None)
    console.receive(report(1))
    console.close()


def test_other_errors_are_not_hidden():
    stream = Gone(False, OSError(errno.ENOSPC, "No space left on device"))
    console = Console("one", 10, None, stream=stream)
    stream.left = True
    with pytest.raises(OSError, match="No space left"):
        console.receive(report(1))


def test_on_a_terminal_it_is_live_and_gives_the_cursor_back(terminal):
    console = Console("one", 10, None, stream=terminal)
    console.receive(report(1))
    console.receive(Event("k", "worker 3 was replaced [sic]", "warning"))
    console.receive(report(10))
    assert "\x1b[?25l" in terminal.getvalue()  # the cursor is hidden
    console.close()
    console.close()
    written = terminal.getvalue()
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
    assert "update 10/10" in written and "worker 3 was replaced [sic]" in written


def test_a_live_display_elsewhere_leaves_standard_output_alone(terminal, capsys):
    console = Console("one", 10, None, stream=terminal)
    console.receive(report(1))
    print("hello")
    sys.stderr.write("oh\n")
    console.close()
    assert capsys.readouterr() == ("hello\n", "oh\n")


def test_a_dumb_terminal_gets_plain_lines(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    console = Console("one", 10, None, stream=terminal)
    console.receive(report(1))
    console.close()
    assert "update 1/10" in terminal.getvalue() and "\x1b" not in terminal.getvalue()


@pytest.mark.parametrize("width", [1, 2, 5, 10, 20, 30, 40, 60, 80, 120, 200])
def test_it_fits_every_width(width):
    lines = drawn(width)
    assert all(len(line) <= width for line in lines)
    text = " ".join(lines)
    if width >= 40:
        assert "update 3/10" in text and "decisions 6,144 (41,234/s)" in text and "best 403 at 3" in text


def test_on_80_columns():
    first, second, third = drawn(80)
    assert first.startswith("cartpole-ppo-s1-20261116-104500  ━━━") and first.count("━") >= 10
    assert "30%  update 3/10  " in first and first.endswith(" left")
    assert second == "decisions 6,144 (41,234/s)   return 24.5   evaluation 403   best 403 at 3"
    assert third == "policy loss -0.0123   value loss 12.35   entropy 0.6132   lag 1"


def test_nothing_to_tell_yet_is_no_error():
    assert drawn(80, updates=0)[0].startswith("cartpole-ppo")


def test_a_terminal_without_unicode():
    assert "###---" in drawn(80, encoding="ascii")[0]
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console("one", 10, None, stream=stream)
    console.receive(Event("k", "Grüße\udcff"))
    stream.flush()
    assert rb"Gr\xfc\xdfe" in stream.buffer.getvalue()
