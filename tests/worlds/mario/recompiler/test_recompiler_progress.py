"""What a user sees while code is made."""

import io
import sys

import pytest

from respawn.worlds.mario.recompiler.progress import Teller, say_on_stderr


class Terminal(io.StringIO):
    """A stream with a person before it."""

    def isatty(self) -> bool:
        return True


def test_a_sentence_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say_on_stderr("it is so")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "respawn: it is so\n")


def test_without_a_terminal_work_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    said: list[str] = []
    with Teller(said.append).working("working"):
        assert said == ["working"]
    assert said == ["working"]


def test_on_a_terminal_work_is_a_line_that_goes_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    said: list[str] = []
    with Teller(said.append).working("working hard"):
        pass
    assert said == []
    shown = terminal.getvalue()
    assert "working hard" in shown
    assert "0:00:00" in shown
    assert shown.endswith("\x1b[2K")


def closed_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


class Broken(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(text)


@pytest.mark.parametrize("stream", [None, closed_stream(), Broken()])
def test_without_stderr_work_goes_on_in_silence(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    done = False
    with Teller(say_on_stderr).working("working"):
        done = True
    assert done
    assert capsys.readouterr().out == ""


def test_a_failure_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(OSError, match="no room"), Teller([].append).working("working"):
        raise OSError("no room")
