"""Scripts as people write them: names of actions and frames, turned into action numbers and decisions."""

from collections.abc import Sequence
from dataclasses import dataclass

from respawn.contracts.world import DiscreteActions, WorldSpec
from respawn.errors import ConfigError

MOST_FRAMES = 10_000_000
_MOST_DIGITS = 20
_EXAMPLE = "write RIGHT+B:180, or several with commas between"


@dataclass(frozen=True)
class ScriptPart:
    """An action that is held for a while."""

    buttons: str
    """what the world calls the action, such as RIGHT+B; worlds without names count theirs from 0"""
    frames: int = 1
    """for how long, rounded up to whole decisions"""

    def __post_init__(self) -> None:
        """Refuse what is no part of a script."""
        if not self.buttons:
            raise ConfigError("a part of a script must name its buttons, and has none")
        if not 1 <= self.frames <= MOST_FRAMES:
            raise ConfigError(
                f"a script's frames must be from 1 to {MOST_FRAMES:,}, not {self.frames} (for {self.buttons})"
            )


def parse_script(text: str) -> tuple[ScriptPart, ...]:
    """The parts of `START:8,RIGHT+B:180`; a name without frames is held for one. Raises ConfigError."""
    parts = []
    for word in text.split(","):
        name, colon, frames = (piece.strip() for piece in word.partition(":"))
        if not name:
            raise ConfigError(f"'{text}' is no script: '{word}' names no action; {_EXAMPLE}")
        if colon and not _is_count(frames):
            raise ConfigError(f"'{text}' is no script: {name} wants a whole number of frames, not '{frames}'")
        parts.append(ScriptPart(name, int(frames) if colon else 1))
    return tuple(parts)


def find_action(name: str, spec: WorldSpec) -> int:
    """The number of the action that a world calls so; B+RIGHT is RIGHT+B. Raises ConfigError naming those there are."""
    names = names_of_actions(spec)
    wanted = _spelling(name)
    for number, known in enumerate(names):
        if _spelling(known) == wanted:
            return number
    raise ConfigError(f"'{name}' is none of this world's actions; they are {', '.join(names)}")


def names_of_actions(spec: WorldSpec) -> tuple[str, ...]:
    """What a world's actions are called; raises ConfigError where they are no single choice."""
    if not isinstance(spec.actions, DiscreteActions):
        raise ConfigError(
            f"schedules.progression forces one of several actions, and {spec.name} does not choose among such; "
            "leave it out, or take a world with discrete actions"
        )
    return spec.action_names or tuple(str(number) for number in range(spec.actions.num_actions))


def in_decisions(parts: Sequence[ScriptPart], spec: WorldSpec) -> tuple[tuple[int, int], ...]:
    """Action numbers and decisions instead of names and frames."""
    return tuple((find_action(part.buttons, spec), decisions_of(part.frames, spec)) for part in parts)


def decisions_of(frames: int, spec: WorldSpec) -> int:
    """How many decisions it takes for so many frames to pass."""
    return -(-frames // spec.frames_per_step)


def _is_count(frames: str) -> bool:
    digits = frames.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS


def _spelling(name: str) -> tuple[str, ...]:
    return tuple(sorted(part.strip() for part in name.upper().split("+")))
