"""From an id to an environment, and to an error that helps when that does not work."""

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium import error
from gymnasium.envs.registration import parse_env_id

from respawn.errors import ConfigError

Env = gymnasium.Env[Any, Any]


@dataclass(frozen=True)
class EnvPlan:
    """All that is needed to make one environment; travels to workers."""

    env_id: str
    imports: tuple[str, ...]
    kwargs: Mapping[str, Any]
    max_episode_steps: int | None
    render: bool


def check_id(env_id: str) -> None:
    """Raise if `env_id` does not have the form of an id, whether or not there is such an environment."""
    module, colon, name = env_id.rpartition(":")
    try:
        parse_env_id(name)
        well_formed = not colon or is_module_name(module)
    except error.Error:
        well_formed = False
    if not well_formed:
        raise ConfigError(
            f"world.env-id must look like 'CartPole-v1', 'my_package/Maze-v0' or 'module:Maze-v0', got '{env_id}'"
        )


def is_module_name(name: str) -> bool:
    """Whether `name` could be that of a module; one that begins with a dot belongs to no package here."""
    return all(name.split(".")) and ":" not in name


def import_modules(plan: EnvPlan) -> None:
    """Import what registers the environment."""
    for name in plan.imports:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as problem:
            raise ConfigError(
                f"cannot import '{name}' for environment '{plan.env_id}': {problem}; "
                "install the package or mend world.imports"
            ) from problem


def check_registered(plan: EnvPlan) -> None:
    """Raise if nothing is registered by that id; nothing is made, and nothing imported."""
    try:
        gymnasium.spec(plan.env_id)
    except error.Error as problem:
        raise ConfigError(_unknown_id(plan, problem)) from problem


def make_env(plan: EnvPlan) -> Env:
    """Make one environment.

    Gymnasium's passive checker is left out: it costs a call a step, and what it would find is checked by us.
    """
    kwargs = dict(plan.kwargs)
    if plan.render:
        kwargs["render_mode"] = "rgb_array"
    try:
        return gymnasium.make(plan.env_id, max_episode_steps=plan.max_episode_steps, disable_env_checker=True, **kwargs)
    except (error.UnregisteredEnv, error.DeprecatedEnv) as problem:
        raise ConfigError(_unknown_id(plan, problem)) from problem
    except (error.DependencyNotInstalled, ModuleNotFoundError) as problem:
        raise ConfigError(f"environment '{plan.env_id}' needs something that is not installed: {problem}") from problem
    except TypeError as problem:
        if "unexpected keyword argument" not in str(problem):
            raise
        given = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
        raise ConfigError(
            f"environment '{plan.env_id}' does not take the arguments it was given ({given}): {problem}; "
            "mend world.env-kwargs"
        ) from problem


def _unknown_id(plan: EnvPlan, problem: Exception) -> str:
    """What came, what is close to it, and what to do."""
    known = list(gymnasium.registry)
    close = difflib.get_close_matches(plan.env_id, known, n=3, cutoff=0.6)
    if not close:  # a wrong case or a missing version still shares most of the name
        by_lower = {name.lower(): name for name in known}
        close = [by_lower[name] for name in difflib.get_close_matches(plan.env_id.lower(), by_lower, n=3, cutoff=0.5)]
    hint = f"close to it are {', '.join(close)}" if close else f"none of the {len(known)} registered ids is close to it"
    imported = f" (imported: {', '.join(plan.imports)})" if plan.imports else ""
    return (
        f"no environment is registered as '{plan.env_id}'{imported}; {hint}. "
        f"If another package provides it, name its module in world.imports. Gymnasium says: {problem}"
    )
