"""From the arguments of `gymnasium.make` to a MarioConfig."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from respawn.envs.settings import check_names
from respawn.errors import ConfigError
from respawn.registration import MARIO
from respawn.worlds.mario.config import REWARDS, MarioConfig, RewardConfig

_FIELDS = tuple(field.name for field in fields(MarioConfig) if field.name != "kind")
_REWARD_FIELDS = tuple(field.name for field in fields(RewardConfig))


def mario_config(settings: Mapping[str, Any]) -> MarioConfig:
    """The config that these arguments mean.

    Args:
      settings: fields of `MarioConfig` by their names, lists where it has tuples; `level` in place of `levels`;
        `rewards` as a RewardConfig, a dict of its fields, or the name of one of `REWARDS`.
    """
    given = dict(settings)
    check_names(MARIO, "argument", given, ("level", *_FIELDS))
    if "level" in given:
        if "levels" in given:
            raise ConfigError("level and levels say the same thing; give one of them")
        given["levels"] = (given.pop("level"),)
    for name in ("levels", "buttons"):
        if name in given:
            given[name] = (given[name],) if isinstance(given[name], str) else tuple(given[name])
    if "rewards" in given:
        given["rewards"] = _rewards(given["rewards"])
    return MarioConfig(**given)


def _rewards(given: Any) -> RewardConfig:
    if isinstance(given, RewardConfig):
        return given
    if isinstance(given, Mapping):
        check_names(MARIO, "reward", given, _REWARD_FIELDS)
        return RewardConfig(**given)
    if given in REWARDS:
        return REWARDS[given]
    raise ConfigError(f"rewards must be one of {', '.join(REWARDS)}, a dict or a RewardConfig, not {given!r}")
