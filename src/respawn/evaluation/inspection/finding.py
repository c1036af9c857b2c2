"""What stands out in a run: a sentence, how bad it is, and what to do next."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["bad", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("bad", "warning", "note")
"""The worst first."""


@dataclass(frozen=True)
class Finding:
    """One thing that stands out."""

    severity: Severity
    sentence: str
    action: str
    """what to do next"""


def then(resume: str) -> str:
    """The end of what to do: the command that goes on, if there is one."""
    return f"; then: {resume}" if resume else ""
