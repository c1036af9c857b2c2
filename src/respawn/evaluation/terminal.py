"""Pictures in a terminal: two pixels a character, as half blocks in colour, and only what changed is sent."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from respawn.contracts.world import Frame

Colours: TypeAlias = Literal["true", "256"]

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[0m\x1b[?25h\x1b[?1049l"
_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h", "\x1b[?2026l"  # terminals that know it show the frame at once
_RESET = "\x1b[0m"
_UPPER_HALF = "▀"
_CUBE = np.array([0, 95, 135, 175, 215, 255])
_CUBE_FROM, _GREY_FROM = 16, 232


class HalfBlocks:
    """Turns frames into what a terminal must be sent to show them, given what it shows already."""

    def __init__(self, columns: int, rows: int, colours: Colours = "true") -> None:
        self._columns, self._rows = columns, rows
        self._colours = colours
        self._shown: NDArray[np.int64] | None = None

    def draw(self, frame: Frame) -> str:
        """The letters and commands that turn the last frame into this one; all of it the first time."""
        cells = self._cells(frame)  # [rows, columns, 2] the colours above and below
        rows, columns = cells.shape[:2]
        changed = np.ones((rows, columns), bool)
        if self._shown is not None and self._shown.shape == cells.shape:
            changed = (cells != self._shown).any(-1)
        self._shown = cells
        left, top = (self._columns - columns) // 2, (self._rows - rows) // 2
        sent: list[str] = []
        upper_now = lower_now = -1
        for row in np.flatnonzero(changed.any(1)).tolist():
            next_column = -1
            colours = cells[row].tolist()
            for column in np.flatnonzero(changed[row]).tolist():
                if column != next_column:
                    sent.append(f"\x1b[{top + row + 1};{left + column + 1}H")
                upper, lower = colours[column]
                if upper != upper_now:
                    sent.append(self._code(38, upper))
                if lower != lower_now:
                    sent.append(self._code(48, lower))
                upper_now, lower_now, next_column = upper, lower, column + 1
                sent.append(_UPPER_HALF)
        return "".join([*sent, _RESET]) if sent else ""

    def _cells(self, frame: Frame) -> NDArray[np.int64]:
        """The frame as large as fits, with square pixels: a half block is about as high as it is wide."""
        height, width = frame.shape[:2]
        scale = min(self._columns / width, 2 * self._rows / height)
        rows, columns = max(1, int(height * scale) // 2), max(1, int(width * scale))
        small = Image.fromarray(frame).resize((columns, 2 * rows), Image.Resampling.BOX)
        pixels = np.asarray(small).astype(np.int64)
        numbers = _packed(pixels) if self._colours == "true" else _nearest_256(pixels)
        return np.stack([numbers[0::2], numbers[1::2]], -1)

    def _code(self, kind: int, colour: int) -> str:
        if self._colours == "256":
            return f"\x1b[{kind};5;{colour}m"
        return f"\x1b[{kind};2;{colour >> 16};{colour >> 8 & 255};{colour & 255}m"


class Screen:
    """A terminal that shows frames and lines of text under them; made by `opened_screen`."""

    def __init__(self, stream: IO[str], colours: Colours, status_lines: int = 1) -> None:
        self._stream = stream
        self._colours = colours
        self._status_lines = status_lines
        self._size = (0, 0)
        self._blocks = HalfBlocks(1, 1)

    def show(self, frame: Frame, *status: str) -> None:
        """Show a frame and what there is to say about it; a terminal that changed its size is drawn anew."""
        columns, rows = size = self.size()
        begin = ""
        if size != self._size:
            self._size, begin = size, "\x1b[2J"
            self._blocks = HalfBlocks(columns, max(1, rows - self._status_lines), self._colours)
        lines = (
            f"\x1b[{rows - self._status_lines + number + 1};1H\x1b[K{text[:columns]}"
            for number, text in enumerate(status[: self._status_lines])
        )
        self._stream.write("".join([_BEGIN_UPDATE, begin, self._blocks.draw(frame), *lines, _END_UPDATE]))
        self._stream.flush()

    def size(self) -> tuple[int, int]:
        """How many columns and rows the terminal has now."""
        columns = rows = 0
        with contextlib.suppress(OSError, ValueError):
            columns, rows = os.get_terminal_size(self._stream.fileno())
        if columns == 0 or rows == 0:  # some terminals do not know
            columns, rows = shutil.get_terminal_size()
        return max(columns, 2), max(rows, self._status_lines + 1)


@contextlib.contextmanager
def opened_screen(stream: IO[str], colours: Colours, status_lines: int = 1) -> Iterator[Screen]:
    """Take the terminal over, and put it back however this ends: what was on it before is there again."""
    try:
        stream.write(_ENTER)
        yield Screen(stream, colours, status_lines)
    finally:
        with contextlib.suppress(OSError, ValueError):  # a terminal that was closed has nothing to be put back
            stream.write(_LEAVE)
            stream.flush()


def known_colours(environment: Mapping[str, str]) -> Colours:
    """What the terminal says that it can show; 256 colours are understood wherever half blocks are."""
    said = environment.get("COLORTERM", "").lower()
    direct = environment.get("TERM", "").lower().endswith("-direct")
    return "true" if said in ("truecolor", "24bit") or direct else "256"


def _packed(pixels: NDArray[np.int64]) -> NDArray[np.int64]:
    packed: NDArray[np.int64] = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    return packed


def _nearest_256(pixels: NDArray[Any]) -> NDArray[np.int64]:
    """The nearest of the 216 colours of the cube and the 24 greys that every such terminal has."""
    steps = np.abs(pixels[..., None] - _CUBE).argmin(-1)
    cube = _CUBE_FROM + 36 * steps[..., 0] + 6 * steps[..., 1] + steps[..., 2]
    grey_step = np.clip((pixels.mean(-1) - 3) // 10, 0, 23).astype(np.int64)
    grey = np.repeat((8 + 10 * grey_step)[..., None], 3, -1)
    nearer = ((pixels - grey) ** 2).sum(-1) < ((pixels - _CUBE[steps]) ** 2).sum(-1)
    chosen: NDArray[np.int64] = np.where(nearer, _GREY_FROM + grey_step, cube)
    return chosen
