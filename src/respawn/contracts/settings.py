"""What a number in a configuration may be: the checks that all rooms share, so that all refuse in the same words.

Each takes the words before an option's name ("learner.optimizer."), the object that holds the settings, and the bounds
by field. A setting that is None is not set; one that is not finite fits no bounds.
"""

from collections.abc import Mapping
from math import isfinite

from respawn.errors import ConfigError


def option_name(prefix: str, field: str) -> str:
    """A field as the command line calls it."""
    return prefix + field.replace("_", "-")


def check_at_least(prefix: str, settings: object, lowest: Mapping[str, float]) -> None:
    """Refuse what is below a bound."""
    for field, low in lowest.items():
        value = getattr(settings, field)
        if value is not None and not (_is_finite(value) and value >= low):
            raise _refusal(prefix, field, f"at least {low:g}", value)


def check_above(prefix: str, settings: object, bounds: Mapping[str, float]) -> None:
    """Refuse what is not above a bound."""
    for field, bound in bounds.items():
        value = getattr(settings, field)
        if value is not None and not (_is_finite(value) and value > bound):
            raise _refusal(prefix, field, f"above {bound:g}", value)


def check_between(prefix: str, settings: object, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse what is not in a range, whose ends belong to it."""
    for field, (low, high) in ranges.items():
        value = getattr(settings, field)
        if value is not None and not low <= value <= high:
            raise _refusal(prefix, field, f"from {low:,} to {high:,}", value)


def _is_finite(value: float) -> bool:
    # A whole number always is, and isfinite() cannot take one that no float can hold.
    return isinstance(value, int) or isfinite(value)


def _refusal(prefix: str, field: str, wanted: str, value: float) -> ConfigError:
    finite = "" if _is_finite(value) else " and finite"
    return ConfigError(f"{option_name(prefix, field)} must be {wanted}{finite}, not {value}")
