"""What a study is: all that its trials share and all that makes their values comparable. It is kept in the study."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from respawn.errors import ConfigError
from respawn.sweeps.space import Space, nested, space_from_plain, space_to_plain
from respawn.training.config import RunConfig, config_from_json, config_to_json
from respawn.training.config_file import with_settings
from respawn.training.plan_file import flattened
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig

Direction: TypeAlias = Literal["maximise", "minimise"]
Score: TypeAlias = Literal["final", "mean", "best"]
MOST_DIFFERENCES = 3
"""As many are named in a sentence."""
OF_THE_MACHINE = ("device", "threads", "wants_gpu", "world.rom", "world.engine_threads")
"""Settings that each of the machines that work on one study has its own of."""
_RETURN = re.compile(r"evaluation/return_\w+")
_BENDS_RETURNS = re.compile(
    r"world\.(rewards\..*|density_penalty|density_target|divergence_reward)|schedules\.reward_.*"
)


@dataclass(frozen=True)
class Definition:
    """All that the trials of a study share."""

    preset: str
    base: RunConfig
    """what trials are made from; its seed is that of the first"""
    space: Space
    objective: str
    """the metric of evaluations that trials are compared by"""
    direction: Direction = "maximise"
    score: Score = "final"
    """what of a trial's evaluations is its value: see `score.py`"""

    def __post_init__(self) -> None:
        """Refuse what no trial could be judged by."""
        known = self.base.evaluation_metrics
        if self.objective not in known:
            raise ConfigError(f"--objective must be one of {', '.join(known)}, not '{self.objective}'")
        paid = [name for name in self.space if _BENDS_RETURNS.fullmatch(name)]
        if paid and _RETURN.fullmatch(self.objective):
            raise ConfigError(
                f"{paid[0]} says what the {self.objective.partition('/')[2]} is counted in, so trials could not be "
                "compared by it; take another --objective, or leave that setting out of the space"
            )
        self._check_best()
        every = self.base.evaluation.every_updates
        if not 0 < every <= self.base.last_update:
            raise ConfigError(
                f"trials are compared by their evaluations, and with --evaluation.every-updates {every} there is none "
                f"in {self.base.last_update} updates; set it, and lower"
            )

    def _check_best(self) -> None:
        """Refuse to go by a best evaluation whose policy no trial would keep."""
        if self.score != "best":
            return
        kept = self.base.checkpoints.best_metric
        if self.direction == "minimise" or kept != self.objective:
            raise ConfigError(
                f"--score best goes by the checkpoint that a run keeps as its best, which is that of the highest "
                f"{kept}; take --score final or mean, or that --objective with --direction maximise"
            )
        if self.base.checkpoints.keep_best == 0:
            raise ConfigError(
                "--score best goes by the checkpoint that a run keeps as its best, and with --checkpoints.keep-best 0 "
                "it keeps none, so that another policy would be judged; keep 1 or more, or take --score final or mean"
            )

    @property
    def interval_decisions(self) -> int:
        """Decisions between two evaluations, in every trial."""
        return self.base.evaluation.every_updates * self.base.collection.decisions_per_rollout

    def step_of(self, update: int, every_updates: int) -> int:
        """When an evaluation was made, in decisions: the same in every trial, so that they can be told by it.

        Those that were really made differ: fish that are caught decide nothing.

        Args:
          update: after which it was made.
          every_updates: updates between two evaluations of that trial.
        """
        return round(update / every_updates * self.interval_decisions)

    @property
    def evaluations(self) -> int:
        """How many evaluations a trial has that goes on to its end."""
        return self.base.last_update // self.base.evaluation.every_updates

    @property
    def updates(self) -> int:
        """How many a trial makes with the sizes of `base`: up to its last evaluation, as nothing later would count."""
        return self.evaluations * self.base.evaluation.every_updates


def default_objective(config: RunConfig) -> str:
    """What counts in this world: levels cleared, fish that survive, or else the return."""
    if isinstance(config.world, MarioConfig):
        return "evaluation/cleared"
    if isinstance(config.world, FishConfig):
        return "evaluation/survival_mean"
    return "evaluation/return_mean"


def whole_training(config: RunConfig, plan_is_said: bool) -> RunConfig:
    """The same with a plan that ends where it ends, so that every trial goes through its whole schedules.

    A trial that stops early in a long plan would be judged in the middle of its warm-up. Where a plan of phases or the
    plan's own length is asked for, that stays.

    Args:
      config: what was asked for.
      plan_is_said: whether the length of the plan was.
    """
    curriculum = config.schedules.curriculum
    if plan_is_said or (curriculum is not None and curriculum.phases) or config.updates is None:
        return config
    return replace(config, planned_updates=config.updates, updates=None)


def definition_to_plain(definition: Definition) -> dict[str, Any]:
    """As data that a study can keep."""
    return {
        "preset": definition.preset,
        "objective": definition.objective,
        "direction": definition.direction,
        "score": definition.score,
        "space": space_to_plain(definition.space),
        "base": config_to_json(definition.base),
    }


def definition_from_plain(plain: Mapping[str, Any]) -> Definition:
    """What `definition_to_plain` made; raises ConfigError where another respawn made it and this one cannot read it."""
    base = config_from_json(dict(plain["base"]))
    space = space_from_plain(plain["space"], base)
    return Definition(plain["preset"], base, space, plain["objective"], plain["direction"], plain["score"])


def machine_settings(config: RunConfig) -> dict[str, Any]:
    """What this machine has of its own, by whole names."""
    plain = flattened(config_to_json(config))
    return {name: plain[name] for name in OF_THE_MACHINE if name in plain}


def on_this_machine(definition: Definition, own: Mapping[str, Any]) -> Definition:
    """The same study with `machine_settings` of where a trial is to be run, and not of where the study was begun."""
    return replace(definition, base=with_settings(definition.base, nested(own), Path()))


def check_same(asked: Mapping[str, Any], kept: Mapping[str, Any], name: str) -> None:
    """Raise ConfigError naming what differs, where what is asked for is not the study that is there."""
    here, there = (_comparable(plain) for plain in (asked, kept))
    differing = [
        f"{key} {there.get(key)!r} there and {here.get(key)!r} now"
        for key in sorted(here.keys() | there.keys())
        if here.get(key) != there.get(key) and key.removeprefix("base.") not in OF_THE_MACHINE
    ]
    if differing:
        more = len(differing) - MOST_DIFFERENCES
        shown = ", ".join(key.removeprefix("base.") for key in differing[:MOST_DIFFERENCES])
        raise ConfigError(
            f"there is a study '{name}' of something else ({shown}{f' and {more} more' if more > 0 else ''}): values "
            "of both could not be compared; give what it was begun with, or another --name"
        )


def _comparable(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: plain.get(key) for key in ("preset", "objective", "direction", "score")},
        **{f"space.{name}": span for name, span in plain["space"].items()},
        **flattened(plain["base"], "base."),
    }
