"""What an action presses: the named sets, and lists of one's own."""

from collections.abc import Sequence

from respawn.errors import ConfigError

BUTTONS = {"A": 0x01, "B": 0x02, "SELECT": 0x04, "START": 0x08, "UP": 0x10, "DOWN": 0x20, "LEFT": 0x40, "RIGHT": 0x80}
"""The bits of the byte that a console reads."""
NOTHING = "NONE"

_WALK = ("NONE", "RIGHT", "RIGHT+A", "RIGHT+B", "RIGHT+A+B")
_SIMPLE = (*_WALK, "A", "LEFT")

ACTION_SETS: dict[str, tuple[str, ...]] = {
    "right": _WALK,
    "simple": _SIMPLE,
    "complex": (*_SIMPLE, "LEFT+A", "LEFT+B", "LEFT+A+B", "DOWN", "UP"),
    "extended": ("NONE", "START", "RIGHT", "RIGHT+B", "RIGHT+A", "RIGHT+A+B", "START+RIGHT", "START+RIGHT+B"),
}
"""`right` cannot turn back, `simple` is enough for most levels, `complex` enters pipes and climbs; `extended` is the
set of an older system, whose Start pauses the game."""

_FORWARD = ("RIGHT+B", "RIGHT+A+B", "RIGHT", "RIGHT+A")


def action_names(actions: str | Sequence[str]) -> tuple[str, ...]:
    """The actions of a set called by its name, or of a list of combinations such as RIGHT+A."""
    if isinstance(actions, str):
        if actions not in ACTION_SETS:
            raise ConfigError(f"world.actions must be one of {', '.join(ACTION_SETS)}, not '{actions}'")
        return ACTION_SETS[actions]
    if len(actions) < 2:
        raise ConfigError(f"world.buttons must name at least two actions to choose from, not {list(actions)}")
    names = tuple(name.upper() for name in actions)
    for name in names:
        button_byte(name)
    if len({button_byte(name) for name in names}) < len(names):
        raise ConfigError(f"world.buttons must all be different, and of {', '.join(names)} two press the same")
    return names


def button_byte(name: str) -> int:
    """What a combination such as RIGHT+A+B holds down; NONE holds nothing."""
    if name.upper() == NOTHING:
        return 0
    held = 0
    for part in name.upper().split("+"):
        if part not in BUTTONS:
            raise ConfigError(
                f"'{name}' is no combination of buttons: '{part}' is none of {', '.join(BUTTONS)}; "
                "write RIGHT+A, or NONE"
            )
        held |= BUTTONS[part]
    return held


def forward_actions(names: Sequence[str]) -> tuple[str, ...]:
    """Those of some actions that lead to the right, the likeliest to get far first; Start is never among them."""
    held = {button_byte(name): name for name in names}
    return tuple(held[byte] for byte in map(button_byte, _FORWARD) if byte in held)


def button_names(held: int) -> str:
    """The combination that a byte stands for."""
    return "+".join(name for name, bit in reversed(BUTTONS.items()) if held & bit) or NOTHING
