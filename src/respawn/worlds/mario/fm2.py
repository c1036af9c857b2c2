"""Controller movies in the format of FCEUX (.fm2): a header of `key value` lines, then the buttons of each frame."""

import functools
import io
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from respawn.errors import MovieError
from respawn.worlds.mario.files import read_whole

SOFT_RESET, HARD_RESET = 1, 2

_MOST_BYTES = 64 << 20
_VERSION = "3"
_NO_DEVICE, _GAMEPAD = "0", "1"
_DEVICES = {"port0": (_NO_DEVICE, _GAMEPAD), "port1": (_NO_DEVICE, _GAMEPAD), "port2": (_NO_DEVICE,)}
_BUTTONS = "RLDUTSBA"
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_REMARKS = ("comment", "subtitle")
_MOST_SHOWN = 40
_TRUE, _FALSE = ("1", "true"), ("0", "false", "")


@dataclass(frozen=True)
class Movie:
    """What was pressed, one byte a frame.

    Buttons are, from bit 0 on: A, B, Select, Start, Up, Down, Left, Right.
    """

    buttons: bytes
    """of the first controller"""
    buttons2: bytes
    """of the second controller"""
    commands: bytes
    """SOFT_RESET and HARD_RESET, pressed before the line's frame"""
    header: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.buttons)


def read_movie(path: Path) -> Movie:
    """The movie in a file; raises MovieError if it is none, or needs what the console does not have."""
    return parse_movie(read_whole(path, _MOST_BYTES, "the movie", MovieError), str(path))


def write_movie(path: Path, movie: Movie, comment: str = "") -> None:
    """Write a movie of one or two gamepads as text, whole or not at all; `read_movie` reads the same again.

    Args:
      path: where to; an older movie there is replaced.
      movie: its header's keys are written as they are.
      comment: one line about it, with who made it as its first word.
    """
    lines = [f"{key} {value}" for key, value in movie.header.items()]
    if comment:
        lines.append(f"comment {' '.join(comment.split())}")
    pads = _pads(movie.header)
    for command, *buttons in zip(movie.commands, movie.buttons, movie.buttons2, strict=True):
        first, second = (_written(held) if pad else "" for held, pad in zip(buttons, pads, strict=True))
        lines.append(f"|{command}|{first}|{second}||")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@functools.lru_cache(maxsize=256)
def _written(held: int) -> str:
    return "".join(letter if held & 0x80 >> place else "." for place, letter in enumerate(_BUTTONS))


def parse_movie(data: bytes, name: str) -> Movie:
    """The movie in the bytes of a file called `name`."""
    stream = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))
    header, header_lines = _read_header(stream, name)
    _check_header(header, name)
    limit = _length(header, name)
    if _is_true(header, "binary", name):
        movie = _read_bytes(stream.read(), header, limit, name)
    else:
        movie = _read_lines(stream, header_lines, header, limit, name)
    if len(movie) == 0:
        raise MovieError(f"{name} has no input lines, such as |0|R......A|||; get a whole copy")
    if limit is not None and len(movie) < limit:
        raise MovieError(f"{name} is cut off: its header promises {limit:,} frames, it has {len(movie):,}")
    return movie


def _read_header(stream: io.BytesIO, name: str) -> tuple[dict[str, str], int]:
    """The keys and how many lines they took; the stream is left at the first input."""
    header: dict[str, str] = {}
    count = 0
    while True:
        start = stream.tell()
        line = stream.readline()
        if not line or line.startswith(b"|"):
            stream.seek(start)
            return header, count
        count += 1
        text = line.decode("utf-8", errors="replace").strip()
        if not text:
            continue
        key, _, value = text.partition(" ")
        if not header and (key, value.strip()) != ("version", _VERSION):
            came = f", and {_shown(text)} came" if text.isascii() and text.isprintable() else ""
            raise MovieError(
                f"{name} does not look like an FCEUX movie: expected 'version {_VERSION}' in its first line{came}; "
                "name a .fm2 file"
            )
        if not _KEY.fullmatch(key):
            raise MovieError(f"{name} line {count}: expected 'key value' or an input line, and {_shown(text)} came")
        if key not in _REMARKS:
            header[key] = value.strip()


def _check_header(header: Mapping[str, str], name: str) -> None:
    """Refuse what would play differently here, rather than play it wrong."""
    if not header:
        raise MovieError(
            f"{name} does not look like an FCEUX movie: expected 'version {_VERSION}' in its first line, "
            "and no header came; name a .fm2 file"
        )
    if header.get("savestate") or header.get("saveram"):
        raise MovieError(f"{name} begins from a saved state, which only FCEUX can load; record one from power-on")
    for key, means in (
        ("palFlag", "was recorded on a PAL console, and this one is NTSC"),
        ("FDS", "is for the Famicom Disk System, and this console has none"),
        ("fourscore", "uses four controllers, and this console has two"),
    ):
        if _is_true(header, key, name):
            raise MovieError(f"{name} {means} ({key} {header[key]}); play it in FCEUX")
    for port, fitting in _DEVICES.items():
        if header.get(port, _NO_DEVICE) not in fitting:
            raise MovieError(
                f"{name}: expected {port} to be {' or '.join(fitting)} (0 is nothing, 1 a gamepad), "
                f"and {_shown(header[port])} came; other devices cannot be played"
            )


def _is_true(header: Mapping[str, str], key: str, name: str) -> bool:
    value = header.get(key, "").lower()
    if value not in _TRUE + _FALSE:
        raise MovieError(f"{name}: expected {key} to be 0 or 1, and {_shown(header[key])} came")
    return value in _TRUE


def _length(header: Mapping[str, str], name: str) -> int | None:
    value = header.get("length")
    if value is None or value == "-1":
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise MovieError(f"{name}: expected length to be a number of frames, and {_shown(value)} came")
    return int(value)


def _read_lines(
    lines: Iterable[bytes], lines_before: int, header: Mapping[str, str], limit: int | None, name: str
) -> Movie:
    records: list[tuple[int, int, int]] = []
    pads = _pads(header)
    for number, line in enumerate(lines, start=lines_before + 1):
        if len(records) == limit:
            break
        text = line.decode("latin-1").rstrip("\r\n")
        if not text.strip() or text.partition(" ")[0] in _REMARKS:
            continue
        try:
            records.append(_parse_line(text, pads))
        except ValueError as error:
            raise MovieError(f"{name} line {number}: {error}") from None
    commands, buttons, buttons2 = (bytes(column) for column in zip(*records, strict=True)) if records else (b"",) * 3
    return Movie(buttons, buttons2, commands, header)


@functools.lru_cache(maxsize=4096)  # a movie has thousands of lines and few different ones
def _parse_line(text: str, pads: tuple[bool, bool]) -> tuple[int, int, int]:
    """Commands and the buttons of both controllers."""
    parts = text.split("|")
    if len(parts) != 6 or parts[0] or parts[5].strip():
        raise ValueError(f"expected |commands|port0|port1|port2|, and {_shown(text)} came")
    _, commands, *ports, last_port, _ = parts
    if last_port:
        raise ValueError(f"expected nothing for port2, and {_shown(last_port)} came")
    first, second = (_parse_pad(ports[port], f"port{port}", pads[port]) for port in (0, 1))
    return _parse_commands(commands), first, second


def _parse_commands(text: str) -> int:
    most = SOFT_RESET | HARD_RESET
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise ValueError(f"expected commands from 0 to {most} (1 reset, 2 power), and {_shown(text)} came")
    return int(text)


def _parse_pad(text: str, port: str, needed: bool) -> int:
    """A dot or a space is a button that is up; whatever else stands there, it is down."""
    if not text and not needed:
        return 0
    if len(text) != len(_BUTTONS):
        raise ValueError(f"expected the {len(_BUTTONS)} buttons {_BUTTONS} for {port}, and {_shown(text)} came")
    pressed = 0
    for mark in text:
        pressed = pressed << 1 | (mark not in ". ")
    return pressed


def _read_bytes(log: bytes, header: Mapping[str, str], limit: int | None, name: str) -> Movie:
    """After one |, each frame is a byte of commands and a byte for each gamepad."""
    pads = _pads(header)
    size = 1 + sum(pads)
    log = log[1:] if limit is None else log[1 : 1 + size * limit]
    if len(log) % size:
        raise MovieError(f"{name} is cut off: expected {size} bytes a frame, and {len(log) % size} are left at its end")
    commands = log[::size]
    wrong = next((frame for frame, command in enumerate(commands) if command > SOFT_RESET | HARD_RESET), None)
    if wrong is not None:
        raise MovieError(
            f"{name} frame {wrong}: expected commands from 0 to {SOFT_RESET | HARD_RESET} (1 reset, 2 power), "
            f"and {commands[wrong]} came"
        )
    nothing = bytes(len(commands))
    return Movie(
        buttons=log[1::size] if pads[0] else nothing,
        buttons2=log[size - 1 :: size] if pads[1] else nothing,
        commands=commands,
        header=header,
    )


def _pads(header: Mapping[str, str]) -> tuple[bool, bool]:
    """Which ports have a gamepad."""
    return header.get("port0") == _GAMEPAD, header.get("port1") == _GAMEPAD


def _shown(text: str) -> str:
    """What came, short and on one line."""
    return ascii(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
