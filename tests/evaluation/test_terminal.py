import io
import re

import numpy as np
import pytest

from respawn.evaluation.terminal import HalfBlocks, known_colours, opened_screen

BLACK, RED, BLUE = (0, 0, 0), (255, 0, 0), (0, 0, 255)


def picture(*rows):
    return np.array(rows, np.uint8)


class Terminal:
    """As much of a terminal as is needed to see what is on it."""

    def __init__(self):
        self.cells = {}
        self.at = (1, 1)
        self.upper = self.lower = None

    def take(self, text):
        for row, column, kind, colour, letter in re.findall(
            r"\x1b\[(\d+);(\d+)H|\x1b\[([34]8);([\d;]+)m|(▀)|\x1b\[\??[\d]*[a-zA-Z]", text
        ):
            if row:
                self.at = (int(row), int(column))
            elif kind:
                numbers = tuple(int(part) for part in colour.split(";")[1:])
                self.upper, self.lower = (numbers, self.lower) if kind == "38" else (self.upper, numbers)
            elif letter:
                self.cells[self.at] = (self.upper, self.lower)
                self.at = (self.at[0], self.at[1] + 1)
        return self


def test_two_pixels_a_character():
    terminal = Terminal().take(HalfBlocks(2, 1).draw(picture([RED, BLUE], [BLACK, RED])))
    assert terminal.cells == {(1, 1): (RED, BLACK), (1, 2): (BLUE, RED)}


def test_only_what_changed_is_sent():
    random = np.random.default_rng(0)
    first = random.integers(0, 256, (8, 8, 3), np.uint8)
    second = first.copy()
    second[2, 3] = RED
    blocks = HalfBlocks(8, 4)
    terminal = Terminal().take(blocks.draw(first))
    assert len(terminal.cells) == 32 and blocks.draw(first) == ""
    sent = blocks.draw(second)
    assert sent.count("▀") == 1
    assert terminal.take(sent).cells == Terminal().take(HalfBlocks(8, 4).draw(second)).cells


@pytest.mark.parametrize(("columns", "rows"), [(80, 23), (40, 60), (300, 10), (2, 1)])
def test_pictures_fit_keep_their_shape_and_stand_in_the_middle(columns, rows):
    cells = Terminal().take(HalfBlocks(columns, rows).draw(np.zeros((240, 256, 3), np.uint8))).cells
    high, wide = max(row for row, _ in cells), max(column for _, column in cells)
    low, near = min(row for row, _ in cells), min(column for _, column in cells)
    assert high <= rows and wide <= columns
    assert abs((low - 1) - (rows - high)) <= 1 and abs((near - 1) - (columns - wide)) <= 1
    if rows > 5:
        assert (wide - near + 1) / (2 * (high - low + 1)) == pytest.approx(256 / 240, rel=0.1)


def test_shrinking_averages():
    checks = np.indices((64, 64)).sum(0) % 2 * 200
    sent = HalfBlocks(4, 2).draw(np.repeat(checks[..., None], 3, -1).astype(np.uint8))
    assert set(Terminal().take(sent).cells.values()) == {((100, 100, 100), (100, 100, 100))}


@pytest.mark.parametrize(
    ("colour", "number"),
    [(RED, 196), (BLUE, 21), (BLACK, 16), ((255, 255, 255), 231), ((118, 118, 118), 243), ((8, 8, 8), 232)],
)
def test_256_colours(colour, number):
    sent = HalfBlocks(1, 1, "256").draw(picture([colour], [colour]))
    assert Terminal().take(sent).cells == {(1, 1): ((number,), (number,))}


def test_the_terminal_is_put_back_whatever_happens():
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt), opened_screen(stream, "true") as screen:
        screen.show(picture([RED], [RED]), "x 40")
        raise KeyboardInterrupt
    sent = stream.getvalue()
    assert sent.startswith("\x1b[?1049h\x1b[?25l") and sent.endswith("\x1b[?25h\x1b[?1049l")
    assert "x 40" in sent


def test_a_closed_terminal_hides_no_error():
    stream = io.StringIO()
    with pytest.raises(ValueError, match="closed file"), opened_screen(stream, "true") as screen:
        stream.close()
        screen.show(picture([RED], [RED]))


def test_a_terminal_of_another_size_is_drawn_anew(monkeypatch):
    stream = io.StringIO()
    frame = np.zeros((40, 40, 3), np.uint8)
    with opened_screen(stream, "true") as screen:
        for size, blocks in (((40, 21), 800), ((40, 21), 0), ((20, 11), 200)):
            monkeypatch.setattr(screen, "size", lambda size=size: size)
            stream.truncate(0)
            screen.show(frame, "a status line that is longer than twenty columns")
            sent = stream.getvalue()
            assert sent.count("▀") == blocks and ("\x1b[2J" in sent) == (blocks > 0)
        assert sent.endswith("a status line that i\x1b[?2026l")


def test_colours_are_what_the_terminal_says():
    assert known_colours({"COLORTERM": "truecolor"}) == "true"
    assert known_colours({"COLORTERM": "24bit"}) == "true"
    assert known_colours({"TERM": "xterm-direct"}) == "true"
    assert known_colours({"TERM": "xterm-256color"}) == "256"
    assert known_colours({}) == "256"
