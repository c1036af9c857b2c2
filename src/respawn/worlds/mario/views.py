"""What the agent sees: tiles or pixels. Both begin an episode from what its start looked like."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.saveable import Saveable, StateTree
from respawn.contracts.world import ObservationSpec
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.ram import Bytes, Integers, MarioFacts
from respawn.worlds.mario.tiles import TileReader


class View(Saveable, Protocol):
    """Turns what the consoles give into observations [B, ...] on the world's device."""

    @property
    def spec(self) -> ObservationSpec:
        """What one observation looks like."""

    @property
    def frames(self) -> Bytes | None:
        """Where the consoles are to write their newest pictures; None: they need not draw."""

    def learn_starts(self, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> None:
        """Know what the entries of the table of starts look like."""

    def look(self, watched: Bytes, facts: MarioFacts) -> Tensor:
        """The observations after a step."""

    def begin(self, lanes: Integers, starts: Integers) -> Tensor:
        """The observations again, of which these lanes have gone back to these starts."""

    def begin_within(self, lane: int, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> Tensor:
        """The observations again, of which this lane has gone to a moment that memory and the last pictures tell of."""

    def observe(self) -> Tensor:
        """The observations as they were last given."""


class TileView:
    """The grid round Mario; it follows from memory alone."""

    def __init__(self, config: MarioConfig, num_lanes: int, device: torch.device) -> None:
        self._reader = TileReader(config)
        self._device = device
        self.spec = ObservationSpec((self._reader.size,))
        self.frames = None
        self._observation = torch.zeros(num_lanes, self._reader.size)
        self._starts = torch.zeros(0, self._reader.size)

    def learn_starts(self, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> None:
        """Read them once."""
        self._starts = torch.from_numpy(self._reader.read(watched, facts))

    def look(self, watched: Bytes, facts: MarioFacts) -> Tensor:
        """Read the grid."""
        self._observation = torch.from_numpy(self._reader.read(watched, facts))
        return self.observe()

    def begin(self, lanes: Integers, starts: Integers) -> Tensor:
        """The starts' grids in these lanes; the others' stay, in memory of their own."""
        observation = self._observation.clone()
        observation[torch.from_numpy(lanes).long()] = self._starts[torch.from_numpy(starts).long()]
        self._observation = observation
        return self.observe()

    def begin_within(self, lane: int, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> Tensor:
        """The moment's grid in this lane."""
        observation = self._observation.clone()
        observation[lane] = torch.from_numpy(self._reader.read(watched, facts))[0]
        self._observation = observation
        return self.observe()

    def observe(self) -> Tensor:
        """On the world's device."""
        return self._observation.to(self._device)

    def state(self) -> StateTree:
        """The grids, since a start's is not read from the console that was put there."""
        return {"observation": self._observation.clone()}

    def restore(self, state: StateTree) -> None:
        """The grids again."""
        self._observation = state["observation"].clone()


class PixelView:
    """The last few pictures. Each travels to the device once, as bytes, and is stacked there."""

    def __init__(self, config: MarioConfig, num_lanes: int, device: torch.device) -> None:
        size, stack = config.picture_size, config.frame_stack
        self._device = device
        self._newest = torch.zeros(num_lanes, 1, size, size, dtype=torch.uint8, pin_memory=device.type == "cuda")
        self.spec = ObservationSpec((stack, size, size), "uint8")
        self.frames = self._newest.numpy()
        self._stacked = torch.zeros(num_lanes, stack, size, size, dtype=torch.uint8, device=device)
        self._starts = torch.zeros(0, 1, size, size, dtype=torch.uint8, device=device)

    def learn_starts(self, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> None:
        """Keep them on the device."""
        self._starts = torch.from_numpy(np.ascontiguousarray(pictures))[:, None].to(self._device)

    def look(self, watched: Bytes, facts: MarioFacts) -> Tensor:
        """Push the oldest picture out."""
        # Not in the background: the next step would overwrite what is still on its way.
        newest = self._newest.to(self._device)
        self._stacked = torch.cat([self._stacked[:, 1:], newest], dim=1)
        return self._stacked

    def begin(self, lanes: Integers, starts: Integers) -> Tensor:
        """These lanes see their start's picture as if they had always seen it."""
        where = torch.from_numpy(lanes).long().to(self._device)
        stacked = self._stacked.clone()
        stacked[where] = self._starts[torch.from_numpy(starts).long().to(self._device)].expand(
            -1, stacked.shape[1], -1, -1
        )
        self._stacked = stacked
        return self._stacked

    def begin_within(self, lane: int, watched: Bytes, facts: MarioFacts, pictures: Bytes) -> Tensor:
        """This lane has seen what led there."""
        stacked = self._stacked.clone()
        stacked[lane] = torch.from_numpy(pictures).to(self._device)
        self._stacked = stacked
        return self._stacked

    def observe(self) -> Tensor:
        """The pictures as they are stacked."""
        return self._stacked

    def state(self) -> StateTree:
        """All pictures."""
        return {"stacked": self._stacked.clone()}

    def restore(self, state: StateTree) -> None:
        """All pictures again."""
        self._stacked = state["stacked"].to(self._device, copy=True)
