"""A plan as a TOML file: settings that all stages share, and stages, each a run that goes on with the one before."""

import difflib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from respawn.errors import ConfigError
from respawn.runs.layout import check_name
from respawn.training.config import RunConfig, config_to_json
from respawn.training.config_file import PRESET, STAGES, merged, read_config_file, with_settings

_OF_THE_WHOLE_PLAN = {
    PRESET: "all stages are of one preset",
    "seed": "all stages have one seed, and --seed must reach all of them",
    "weights_from": "a stage begins with the weights of the stage before it, and the first with these",
}
"""Settings that a stage cannot have of its own, and why."""
_STAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_COMMON_FILE_NAMES = ("plan", "config")


@dataclass(frozen=True)
class PlanFile:
    """What a plan's file says."""

    path: Path
    preset: str | None
    shared: Mapping[str, Any]
    """settings of all stages"""
    stages: Mapping[str, Mapping[str, Any]]
    """settings of each stage alone, by its name, in order"""


@dataclass(frozen=True)
class Stage:
    """One run of a plan."""

    number: int
    """from 1"""
    name: str
    run: str
    """what its run is called"""
    config: RunConfig
    own: Mapping[str, Any]
    """its own settings, by their whole names"""


@dataclass(frozen=True)
class Plan:
    """Runs that are made one after another."""

    path: Path
    """of its file"""
    preset: str
    stages: tuple[Stage, ...]


def read_plan_file(path: Path) -> PlanFile:
    """The file, with a name for each stage; raises ConfigError where it is no plan."""
    said = read_config_file(path, "'respawn plan'")
    preset = said.pop(PRESET, None)
    listed = said.pop(STAGES, None)
    if not isinstance(listed, list) or not listed or not all(isinstance(stage, dict) for stage in listed):
        raise ConfigError(
            f"{path} is no plan: a plan has [[{STAGES}]], each with a name; one run is trained with: "
            f"respawn train --config {shlex.quote(str(path))}"
        )
    stages: dict[str, Mapping[str, Any]] = {}
    for number, stage in enumerate(listed, start=1):
        name = stage.pop("name", None)
        if not isinstance(name, str) or not _STAGE_NAME.fullmatch(name):
            raise ConfigError(
                f"{path}, stage {number}: its name must be of 1 to 40 letters, digits, '.', '_' and '-', not {name!r}"
            )
        if name in stages:
            raise ConfigError(f"{path}, stage {number}: another stage is called '{name}' already; name it otherwise")
        for setting, reason in _OF_THE_WHOLE_PLAN.items():
            if setting in stage:
                raise ConfigError(f"{path}, stage '{name}': {setting} belongs above the stages, for {reason}")
        stages[name] = stage
    return PlanFile(path, preset, said, stages)


@dataclass(frozen=True)
class PlanOrder:
    """What is asked for beside the file."""

    name: str | None = None
    """what runs' names begin with; None: what the file is called, and the seed"""
    overrides: Mapping[str, Any] | None = None
    """settings that go before those of the file"""
    most_updates: int | None = None
    """no stage makes more; what it plans for stays"""
    first: str | None = None
    """leave out the stages before this one, which then begins as the first stage does"""


def make_plan(file: PlanFile, base: RunConfig, preset: str, order: PlanOrder) -> Plan:
    """All stages in order, each valid by itself; raises ConfigError naming the stage that is not.

    Args:
      file: what the stages are.
      base: the preset's configuration.
      preset: its name.
      order: what else was asked for.
    """
    try:
        merged(config_to_json(base), file.shared)
    except ConfigError as error:
        raise ConfigError(f"{file.path} does not describe a plan: {error}") from error
    if order.first is not None:
        check_stage_name(file, order.first, "--from")
    overrides = order.overrides or {}
    name = order.name or default_plan_name(file.path, overrides.get("seed", file.shared.get("seed", base.seed)))
    stages: list[Stage] = []
    for number, (stage_name, own) in enumerate(file.stages.items(), start=1):
        if order.first is not None and not stages and stage_name != order.first:
            continue
        said = laid_over(laid_over(file.shared, own), overrides)
        try:
            config = with_settings(base, said, file.path.parent)
            if order.most_updates is not None:
                config = replace(config, updates=min(config.last_update, order.most_updates))
        except ConfigError as error:
            raise ConfigError(f"{file.path}, stage '{stage_name}': {error}") from error
        if stages:
            config = replace(config, weights_from=stages[-1].run)
        stages.append(Stage(number, stage_name, f"{name}-{number}-{stage_name}", config, flattened(own)))
        check_name(stages[-1].run)
    return Plan(file.path, preset, tuple(stages))


def check_stage_name(file: PlanFile, name: str, option: str) -> None:
    """Raise ConfigError naming the stages there are, if `name` is none of them."""
    if name not in file.stages:
        close = difflib.get_close_matches(name, file.stages, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise ConfigError(f"{option} {name}: there is no such stage; {hint}{file.path} has {', '.join(file.stages)}")


def default_plan_name(path: Path, seed: object) -> str:
    """What the file is called, or where that says nothing, its folder; and the seed."""
    stem = path.absolute().parent.name if path.stem in _COMMON_FILE_NAMES else path.stem
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', stem).lstrip('.') or 'plan'}-s{seed}"


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with others laid over them, table by table."""
    whole = dict(below)
    for name, value in above.items():
        under = whole.get(name)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            whole[name] = laid_over(under, value)
        else:
            whole[name] = value
    return whole


def flattened(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their whole names, such as world.rewards.distance."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(flattened(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat
