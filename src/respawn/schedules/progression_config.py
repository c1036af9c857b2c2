"""Settings of the aids for a cold start: what is forced, and when."""

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from respawn.contracts.settings import check_between
from respawn.errors import ConfigError
from respawn.schedules.script_text import MOST_FRAMES, ScriptPart, parse_script

_PREFIX = "schedules.progression."
_MOST_UPDATES = 99_999_999
_NEEDS = {
    "sequence_updates": ("sequence_when", "matters only with sequence-when episodes"),
    "bootstrap_frames": ("bootstrap_after", "says how long a bootstrap is, and bootstrap-after says when"),
    "bootstrap_action": ("bootstrap_after", "says what a bootstrap does, and bootstrap-after says when"),
    "bootstrap_cooldown": ("bootstrap_after", "says when a bootstrap may come again, and bootstrap-after says when"),
    "plateau_frames": ("plateau_after", "says how long the script of a plateau is, and plateau-after says when"),
    "plateau_script": ("plateau_after", "says what is done on a plateau, and plateau-after says when"),
    "plateau_gain": ("plateau_after", "says what is no plateau, and plateau-after says when"),
}
"""Settings that do nothing alone: which other they need, and why."""


@dataclass(frozen=True)
class ProgressionConfig:
    """Helps for a cold start: actions that are forced for a while, at the beginning or when nothing moves on."""

    script: str = ""
    """force these actions at the beginning: names and frames, such as RIGHT+B:180,RIGHT+A+B:60"""
    sequence: Annotated[tuple[ScriptPart, ...], tyro.conf.Suppress] = ()
    """the same as a list of tables with `buttons` and `frames`, in a file"""
    sequence_when: Literal["run", "episodes"] = "run"
    """run: the script once in each lane, when the run begins; episodes: at the start of every episode"""
    sequence_updates: int = 0
    """with episodes: so many updates long; what was gathered by then but not yet learned from comes after them"""
    forward_frames: int = 0
    """force the forward action for so many frames in each lane, after the script of the run; 0: not at all"""
    forward_action: str = ""
    """which action that is; empty: what probing finds, else what the world says"""
    probe_decisions: int = 0
    """first play each action for so many decisions, take what leads furthest, put the world back; 0: do not"""
    metric: str = ""
    """what progress is measured by, a metric of updates; empty: how far episodes come, else their mean return"""
    bootstrap_after: int = 0
    """force the forward action when the metric has had no new best for so many updates; 0: never"""
    bootstrap_frames: int = 0
    """for so many frames in each lane"""
    bootstrap_action: str = ""
    """another action than the forward one"""
    bootstrap_times: int = 1
    """at most so often in a run"""
    bootstrap_cooldown: int = 0
    """at least so many updates between the beginnings of two"""
    plateau_after: int = 0
    """force a second script, once, when the metric has not gained plateau-gain in so many updates; 0: never"""
    plateau_gain: float = 0.0
    """what it must gain, over the value that it was watched from, to be no plateau; 0: anything"""
    plateau_script: str = ""
    """what is forced then; empty: the forward action for plateau-frames"""
    plateau_frames: int = 0
    """for how many frames in each lane; 0: as long as plateau-script is"""
    warn_after: int = 0
    """warn each time that the metric has had no new best for so many updates; 0: do not"""

    def __post_init__(self) -> None:
        """Refuse what does nothing or contradicts itself."""
        updates, frames = (0, _MOST_UPDATES), (0, MOST_FRAMES)
        check_between(
            _PREFIX,
            self,
            {
                **dict.fromkeys(("forward_frames", "bootstrap_frames", "plateau_frames"), frames),
                **dict.fromkeys(("bootstrap_after", "plateau_after", "warn_after", "sequence_updates"), updates),
                "bootstrap_cooldown": updates,
                "bootstrap_times": (1, 1_000_000),
                "probe_decisions": (0, 10_000),
                "plateau_gain": (0.0, 1e12),
            },
        )
        self._check_sequence()
        self._check_what_belongs_together()

    def _check_sequence(self) -> None:
        if self.script and self.sequence:
            raise ConfigError(f"{_PREFIX}script and {_PREFIX}sequence say the same thing twice; leave one out")
        for text in (self.script, self.plateau_script):
            if text:
                parse_script(text)
        if self.sequence_when not in ("run", "episodes"):
            raise ConfigError(f"{_PREFIX}sequence-when must be run or episodes, not '{self.sequence_when}'")
        if self.sequence_when == "episodes" and not (self.first_parts and self.sequence_updates):
            raise ConfigError(
                f"{_PREFIX}sequence-when episodes needs a script and sequence-updates, the number of updates it holds"
            )

    def _check_what_belongs_together(self) -> None:
        for name, (other, why) in _NEEDS.items():
            is_off = getattr(self, other) == type(self).__dataclass_fields__[other].default
            if is_off and getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise ConfigError(f"{_PREFIX}{name.replace('_', '-')} {why}; set both or neither")
        if self.bootstrap_after and not self.bootstrap_frames:
            raise ConfigError(f"{_PREFIX}bootstrap-after needs bootstrap-frames: for how long?")
        if self.bootstrap_times > 1 and not self.bootstrap_after:
            raise ConfigError(f"{_PREFIX}bootstrap-times says how often, and bootstrap-after says when; set both")
        if self.bootstrap_cooldown and self.bootstrap_times == 1:
            raise ConfigError(
                f"{_PREFIX}bootstrap-cooldown says when a bootstrap may come again, and it comes once; "
                "set bootstrap-times, or leave it out"
            )
        if self.plateau_after and not (self.plateau_frames or self.plateau_script):
            raise ConfigError(
                f"{_PREFIX}plateau-after needs a plateau-script or plateau-frames: what is done, how long?"
            )
        if not self.goes_forward and (self.forward_action or self.probe_decisions):
            raise ConfigError(
                f"{_PREFIX}forward-action and probe-decisions say what forward is, and nothing goes there; "
                "set forward-frames, bootstrap-after or plateau-frames, or leave them out"
            )
        if self.forward_action and self.probe_decisions:
            raise ConfigError(
                f"{_PREFIX}probe-decisions looks for what {_PREFIX}forward-action already names; leave one out"
            )
        if self.metric and not (self.bootstrap_after or self.plateau_after or self.warn_after):
            raise ConfigError(f"{_PREFIX}metric is watched by nothing; set bootstrap-, plateau- or warn-after")

    @property
    def first_parts(self) -> tuple[ScriptPart, ...]:
        """What is forced at the beginning."""
        return parse_script(self.script) if self.script else self.sequence

    @property
    def goes_forward(self) -> bool:
        """Whether anything forces the forward action."""
        boots_forward = self.bootstrap_after > 0 and not self.bootstrap_action
        return self.forward_frames > 0 or boots_forward or (self.plateau_after > 0 and not self.plateau_script)

    @property
    def forces_anything(self) -> bool:
        """Whether actions may be forced at all."""
        return bool(self.first_parts or self.forward_frames or self.bootstrap_after or self.plateau_after)

    @property
    def says_anything(self) -> bool:
        """Whether there is anything to decide or to say."""
        return self.forces_anything or self.warn_after > 0
