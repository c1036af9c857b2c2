"""Setting one member of a JSON object in its text, where all else stays as it was written, byte for byte."""

import json
import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Written:
    """How an object is written, and where."""

    values: dict[str, tuple[int, int]]
    """from where to where each member's value stands; of one that is there twice the last counts, as for all readers"""
    end: int
    """behind the last value; in an empty object behind its brace"""
    comma: str
    """what stands between two members"""
    colon: str
    """what stands between a name and its value"""


def place_of(text: str, start: int, name: str) -> int:
    """Where the value of a member stands in the text of an object that begins at `start`."""
    return _written(text, start).values[name][0]


def object_place(text: str) -> int:
    """Where the object begins that a text holds."""
    return _after_space(text, 0)


def with_member(text: str, start: int, name: str, value: Any) -> str:
    """The text with another value of a member, or with one more member, laid out like those that are there.

    Args:
      text: of a file that is known to be JSON.
      start: where the object begins in it.
      name: of the member.
      value: its new one; where it is an object too, the one around it is the file's outermost.
    """
    written = _written(text, start)
    said = _said(value, written)
    if name in written.values:
        first, last = written.values[name]
        return text[:first] + said + text[last:]
    member = f"{json.dumps(name)}{written.colon}{said}"
    return text[: written.end] + (written.comma if written.values else "") + member + text[written.end :]


def _written(text: str, start: int) -> _Written:
    values: dict[str, tuple[int, int]] = {}
    commas, colons = [], []
    end, at = start + 1, _after_space(text, start + 1)
    opening = text[end:at]
    while text[at] != "}":
        if values:
            at = _after_space(text, at + 1)  # text[at] is the comma
            commas.append(text[end:at])
        name, name_end = _DECODER.raw_decode(text, at)
        value_start = _after_space(text, text.index(":", name_end) + 1)
        colons.append(text[name_end:value_start])
        _, end = _DECODER.raw_decode(text, value_start)
        values[name] = (value_start, end)
        at = _after_space(text, end)
    colon = (colons or [": "])[0]
    alone = opening or (" " if colon.endswith(" ") else "")
    return _Written(values, end, (commas or ["," + alone])[0], colon)


def _said(value: Any, written: _Written) -> str:
    """A value as the object around it would have it."""
    before, line_end, indent = written.comma.rpartition("\n")
    if not line_end:
        return json.dumps(value, separators=(written.comma, written.colon))
    if "," in indent:  # it leads the line, and is no indentation; below it, members would look like those around them
        return json.dumps(value, separators=(", ", written.colon))
    line_end = "\r\n" if before.endswith("\r") else "\n"
    lines = json.dumps(value, indent=indent, separators=(",", written.colon))
    return lines.replace("\n", line_end + indent)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # it may be empty
    return match.end()
