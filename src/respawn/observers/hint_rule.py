"""What a hint is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from respawn.observers.hint_view import HintView

Grounds: TypeAlias = Mapping[str, float | int | str]
"""The numbers that a condition went by."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A name, a condition, and a sentence that ends in what to do."""

    name: str
    when: Callable[[HintView], Grounds | None]
    """None: there is nothing to say"""
    sentence: str
    """with the names of the grounds in braces"""

    def spoken(self, grounds: Grounds) -> str:
        """The sentence, with the numbers in it."""
        return self.sentence.format(**grounds)
