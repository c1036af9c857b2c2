"""What a world has to say of a step, beside the reward."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from respawn.contracts.world import World
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.predator import distances
from respawn.worlds.fish.world import FishWorld
from respawn.worlds.mario.buttons import button_byte, button_names
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import WorldConfig

if TYPE_CHECKING:  # the engine is loaded only where Mario is played
    from respawn.worlds.mario.world import MarioWorld


class Notes(Protocol):
    """Looks at a world before and after each step, and writes down what is worth knowing."""

    def before(self, world: World) -> Mapping[str, float | str]:
        """Of the moment in which a decision is made."""
        ...

    def after(self, world: World) -> Mapping[str, float | str]:
        """Of what came of the decision."""
        ...


class NoNotes:
    """Of worlds that say nothing more than what they pay."""

    def before(self, world: World) -> Mapping[str, float | str]:
        """Nothing."""
        return {}

    def after(self, world: World) -> Mapping[str, float | str]:
        """Nothing."""
        return {}


class MarioNotes:
    """Where Mario is when he decides, and what was held then: with sticky actions, not always what was decided."""

    def __init__(self, action_names: Sequence[str]) -> None:
        self._names = {button_byte(name): name for name in action_names}

    def before(self, world: World) -> Mapping[str, float | str]:
        """Level, place and clock."""
        facts = cast("MarioWorld", world).facts()
        level = f"{facts.world[0]}-{facts.stage[0]}"
        return {"level": level, "x": int(facts.x[0]), "time": int(facts.time[0])}

    def after(self, world: World) -> Mapping[str, float | str]:
        """The buttons, as the action is called that presses them."""
        held = cast("MarioWorld", world).last_buttons(0)
        return {"held": self._names.get(held) or button_names(held)}


class FishNotes:
    """How many fish are left when one of them decides, and how far the predator is from it."""

    def __init__(self, fish: int) -> None:
        self._fish = fish

    def before(self, world: World) -> Mapping[str, float | str]:
        """The living, and the distance."""
        swarm = cast("FishWorld", world).swarm
        away = float(distances(swarm.fish, swarm.predator)[0, self._fish])
        return {"alive": int(swarm.alive[0].sum()), "predator": round(away, 3)}

    def after(self, world: World) -> Mapping[str, float | str]:
        """Nothing."""
        return {}


def notes_for(world: WorldConfig, lane: int) -> Notes:
    """What to write down in a world, for the lane that is followed."""
    if isinstance(world, MarioConfig):
        return MarioNotes(world.action_names)
    return FishNotes(lane) if isinstance(world, FishConfig) else NoNotes()
