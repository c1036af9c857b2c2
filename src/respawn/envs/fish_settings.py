"""From the arguments of `gymnasium.make` or `parallel_env` to a FishConfig."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from respawn.envs.settings import check_names, make_config
from respawn.errors import ConfigError
from respawn.registration import FISH
from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig, FishRewards

REWARDS = {"respawn": FishRewards(), "legacy": LEGACY_REWARDS}
"""Rewards by name: our own, and those of the reference system."""
_FIELDS = tuple(field.name for field in fields(FishConfig) if field.name != "kind")
_REWARD_FIELDS = tuple(field.name for field in fields(FishRewards))


def fish_config(settings: Mapping[str, Any]) -> FishConfig:
    """The config that these arguments mean.

    Args:
      settings: fields of `FishConfig` by their names, lists where it has tuples; `rewards` as a FishRewards, a dict of
        its fields, or the name of one of `REWARDS`.
    """
    given = dict(settings)
    check_names(FISH, "argument", given, _FIELDS)
    if "rewards" in given:
        given["rewards"] = _rewards(given["rewards"])
    for name in ("headings", "speeds"):
        if name in given:
            _check_spans(name, given[name])
    return make_config(FISH, FishConfig, given)


def _rewards(given: Any) -> dict[str, Any]:
    if isinstance(given, FishRewards):
        return asdict(given)
    if isinstance(given, Mapping):
        check_names(FISH, "reward", given, _REWARD_FIELDS)
        return dict(given)
    if isinstance(given, str) and given in REWARDS:
        return asdict(REWARDS[given])
    raise ConfigError(f"rewards must be one of {', '.join(REWARDS)}, a dict or a FishRewards, not {given!r}")


def _check_spans(name: str, given: Any) -> None:
    spans = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(span, list | tuple) and len(span) == 3 for span in spans):
        raise ConfigError(f"{name} must be a list of (from, to, weight), such as [(0, 360, 1)], not {given!r}")
