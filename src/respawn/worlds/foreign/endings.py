"""What an environment itself has to say of an episode that ended: why, and what came of it.

Imports neither torch nor the contracts, as everything that a worker imports.
"""

import re
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple, TypeAlias


class Ending(NamedTuple):
    """Plain data, so that it can go through a pipe."""

    end: str
    """why; empty where the environment does not say"""
    facts: dict[str, float | str]


FACT_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Names of facts become names of metrics, and keys in checkpoints."""
Endings: TypeAlias = dict[int, Ending]
"""by lane; lanes whose environments said nothing are not in it"""


def read_ending(info: Mapping[str, Any]) -> Ending | None:
    """What the info of an episode's last step says under `end` and `facts`; None where neither can be used.

    Other environments have words of these names for purposes of their own, so whatever is not a word, or not a
    number or a word by a name that a metric can have, is passed over.
    """
    said, told = info.get("end"), info.get("facts")
    end = said if isinstance(said, str) else ""
    facts: dict[str, float | str] = {}
    for name, value in told.items() if isinstance(told, Mapping) else ():
        if isinstance(name, str) and FACT_NAME.fullmatch(name) and isinstance(value, str | Real):
            facts[name] = value if isinstance(value, str) else float(value)
    return Ending(end, facts) if end or facts else None
