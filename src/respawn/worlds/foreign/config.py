"""How a Gymnasium environment is made and watched."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_at_least, check_between
from respawn.errors import ConfigError
from respawn.worlds.foreign.making import EnvPlan, check_id, is_module_name

DIAGNOSIS_SECONDS = 30.0
"""What finding out why workers hang, and ending them, may take besides."""


@dataclass(frozen=True)
class ForeignConfig:
    """Any Gymnasium environment, by its id."""

    kind: Annotated[Literal["foreign"], tyro.conf.Suppress] = "foreign"
    env_id: str = "CartPole-v1"
    """the id under which the environment is registered with Gymnasium"""
    imports: tuple[str, ...] = ()
    """modules to import first, so that the ids of other packages are registered"""
    env_kwargs: dict[str, bool | int | float | str] = field(default_factory=dict)
    """arguments for the environment's constructor, as name and value pairs"""
    max_episode_steps: int | None = None
    """cut episodes after this many steps instead of after the environment's registered limit"""
    frames_per_step: int = 1
    """frames that the environment itself counts for one step; only used for reporting"""
    render: bool = False
    """ask the environment for pictures (render_mode 'rgb_array'); some become slower by it"""
    workers: int = 0
    """0: in this process; n: n worker processes that share the lanes (never more than there are lanes)"""
    worker_threads: int = 1
    """threads that torch and BLAS may use in each worker"""
    stagger_seconds: float = 0.0
    """pause between the starts of two workers; 0: all start at once"""
    construct_seconds: float = 120.0
    """time limit for a worker to start, import and make all its environments"""
    reset_seconds: float = 60.0
    """time limit for a worker to reset its environments"""
    step_seconds: float = 60.0
    """time limit for a worker to step its environments once"""
    max_replacements: int = 16
    """workers that one process may replace in each of its worlds, before the run gives up; a resumed run counts anew"""

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is started."""
        if not self.env_id.strip():
            raise ConfigError("world.env-id must name a Gymnasium environment, got an empty one; try 'CartPole-v1'")
        check_id(self.env_id)
        for module in self.imports:
            if not is_module_name(module):
                raise ConfigError(f"world.imports must be names of modules, such as 'my_package.envs', got '{module}'")
        check_at_least("world.", self, {"frames_per_step": 1, "max_replacements": 0})
        check_between("world.", self, {"workers": (0, 10_000), "worker_threads": (1, 1024)})
        # Operating systems count waits in milliseconds, and not for ever: a million seconds are 11 days.
        waits = dict.fromkeys(("construct_seconds", "reset_seconds", "step_seconds"), (0.001, 1_000_000))
        check_between("world.", self, {**waits, "stagger_seconds": (0, 1_000_000)})
        if self.max_episode_steps is not None and self.max_episode_steps < 1:
            raise ConfigError(
                f"world.max-episode-steps must be at least 1, got {self.max_episode_steps}; "
                "leave it out for the environment's registered limit"
            )
        for name, value in self.env_kwargs.items():
            if not isinstance(value, bool | int | float | str):
                raise ConfigError(f"'{name}' in world.env-kwargs must be a bool, a number or a string, got {value!r}")
            if isinstance(value, float) and not isfinite(value):
                raise ConfigError(f"'{name}' in world.env-kwargs must be finite, got {value}; leave it out")

    @property
    def patience_seconds(self) -> float:
        """With workers: how long nothing may be heard of any of them, until one that hangs is replaced; else 0."""
        if self.workers == 0:
            return 0.0
        starting = self.stagger_seconds * (self.workers - 1) + 2 * self.construct_seconds  # and sharing memory
        return max(starting, self.step_seconds) + self.reset_seconds + DIAGNOSIS_SECONDS

    @property
    def plan(self) -> EnvPlan:
        """The part that says how to make one environment."""
        return EnvPlan(
            env_id=self.env_id,
            imports=self.imports,
            kwargs=dict(self.env_kwargs),
            max_episode_steps=self.max_episode_steps,
            render=self.render,
        )
