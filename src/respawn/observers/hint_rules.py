"""All hints, in the order in which they are looked at."""

from collections.abc import Collection

from respawn.errors import ConfigError
from respawn.observers import hint_rules_learning, hint_rules_progress, hint_rules_running
from respawn.observers.hint_rule import Rule

RULES: tuple[Rule, ...] = (*hint_rules_progress.RULES, *hint_rules_learning.RULES, *hint_rules_running.RULES)


def rule_names() -> tuple[str, ...]:
    """The names of all hints."""
    return tuple(rule.name for rule in RULES)


def rules_without(off: Collection[str]) -> tuple[Rule, ...]:
    """All hints but those.

    Raises:
      ConfigError: a name is none of a hint.
    """
    for name in off:
        if name not in rule_names():
            raise ConfigError(f"observers.hints-off takes names of hints ({', '.join(rule_names())}), not '{name}'")
    return tuple(rule for rule in RULES if rule.name not in off)
