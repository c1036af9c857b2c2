"""Hard starts played up to their moment, on a console beside the others."""

from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np

from respawn.errors import ConfigError
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.cutscenes import Cutscenes, to_run_on
from respawn.worlds.mario.engine import PoolConfig
from respawn.worlds.mario.hard_starts import HardStart
from respawn.worlds.mario.limits import look
from respawn.worlds.mario.ram import Bytes, MarioFacts, read_facts
from respawn.worlds.mario.starts import ConsolePool, Game

REMEMBERED = 256
"""Moments that are kept, so that a start that is dealt again is not played again."""


@dataclass(frozen=True)
class Moment:
    """Where a start leads."""

    entry: int
    """the place in the table of starts that it began from"""
    state: Bytes  # [1, state_bytes]
    watched: Bytes  # [1, addresses]
    facts: MarioFacts
    pictures: Bytes  # [frame_stack, size, size]; empty for tiles
    held: int
    """what was held last"""


class Replays:
    """A console beside the others, on which starts are played up to their moment."""

    def __init__(self, game: Game, config: MarioConfig, pool: PoolConfig, states: Bytes, pictures: Bytes) -> None:
        """Make the console.

        Args:
          game: what is played.
          config: of the world.
          pool: of the world's consoles, so that a step is what it is there.
          states: [entries, state_bytes] the world's table of starts.
          pictures: [entries, size, size] what they look like.
        """
        alone = replace(pool, lanes=1, threads=1)
        self._config = config
        self._console: ConsolePool = game.pool(alone)
        self._cutscenes = Cutscenes(game, alone)
        self._states, self._pictures = states, pictures
        self._one = np.zeros(1, np.int32)
        self._watched = np.zeros((1, len(pool.watch)), np.uint8)
        size = config.picture_size
        self._frames = np.zeros((1, 1, size, size), np.uint8) if pool.kind != "none" else None
        self._made: OrderedDict[HardStart, Moment] = OrderedDict()

    def moment(self, start: HardStart) -> Moment:
        """Where a start leads; raises ConfigError if that is the end of an episode."""
        if start not in self._made:
            self._made[start] = self._play(start)
            if len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        self._made.move_to_end(start)
        return self._made[start]

    def _play(self, start: HardStart) -> Moment:
        config = self._config
        entry = config.start_levels.index(start.level) * (config.most_waiting_frames + 1) + start.wait
        self._console.load_states(self._one, self._states[entry : entry + 1])
        self._console.observe(ram=self._watched)
        pictures = [self._pictures[entry].copy()] * config.frame_stack if self._frames is not None else []
        nobody = np.zeros(1, np.bool_)
        for buttons in start.held:
            self._console.step(np.array([buttons], np.uint8), self._frames, self._watched)
            if config.skip_cutscenes and len(to_run_on(self._watched, nobody)):
                self._cutscenes.run_on(self._console, 0, self._watched, self._frames)
            if self._frames is not None:
                pictures = [*pictures[1:], self._frames[0, 0].copy()]
        facts = read_facts(self._watched)
        seen = look(facts)
        if (seen.lost | seen.flag | seen.game_over)[0]:
            raise ConfigError(
                f"a hard start in {start.level} leads to the end of an episode, not to a place before it; make it anew "
                "with this version, or drop it"
            )
        return Moment(
            entry,
            self._console.save_states(self._one).copy(),
            self._watched.copy(),
            facts,
            np.stack(pictures) if pictures else np.zeros((0, 1, 1), np.uint8),
            start.held[-1] if start.held else 0,
        )
