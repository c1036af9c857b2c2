"""What of a ruling can be drawn."""

from math import isfinite

from respawn.contracts.records import Ruling


def ruling_numbers(ruling: Ruling) -> dict[str, float]:
    """The numbers that a schedule concluded, under the schedule's own name."""
    return {
        f"{ruling.schedule}/{name}": float(fact)
        for name, fact in ruling.facts.items()
        if isinstance(fact, int | float) and isfinite(fact)
    }
