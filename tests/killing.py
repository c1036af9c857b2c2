"""A process that is killed between two changes of a folder, as far as one process can play that."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHANGES = ("rename", "replace", "unlink", "fsync", "mkdir")


class Killed(BaseException):
    """Nobody handles it."""


@contextmanager
def killed_before_change(number: int) -> Iterator[list[str]]:
    """Nothing changes a folder from its `number`th change on, counted from 0; answers which were made."""
    made: list[str] = []

    def stopping(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        def maybe(*args: Any, **named: Any) -> Any:
            if len(made) >= number:
                raise Killed
            made.append(name)
            return change(*args, **named)

        return maybe

    with pytest.MonkeyPatch.context() as patch:
        for name in CHANGES:
            patch.setattr(os, name, stopping(name, getattr(os, name)))
        yield made
