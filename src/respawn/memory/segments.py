"""A ring of segments: lanes of rollouts, each with all that learning from it once more needs.

A segment is a whole lane, T steps, because what a recurrent core remembered is known before row 0 only. Values and
advantages are not kept: whoever replays a segment makes them anew.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.records import Event, Rollout
from respawn.contracts.saveable import StateTree
from respawn.memory.replay_config import ReplayConfig
from respawn.memory.replay_room import HALVED, find_room
from respawn.memory.rollouts import ROW_FIELDS, row_fields

_MEMORY = "memory."
_HALF_MAX = float(torch.finfo(torch.float16).max)


class _Cuts(NamedTuple):
    """The rows of a segment that were cut, and where what was seen there lies."""

    rows: list[int]
    first: int
    seen: Tensor

    @property
    def observations(self) -> Tensor:
        """What was seen there [K, ...]."""
        return self.seen[self.first : self.first + len(self.rows)]


class Segments:
    """Preallocated when the first rollout comes, whose shapes all others share."""

    def __init__(self, config: ReplayConfig, device: torch.device, notify: Callable[[Event], None]) -> None:
        """Segments are given out on `device`; where they rest is the configuration's matter."""
        self._config = config
        self._device = device
        self._resting = storage_device(config, device)
        self._notify = notify
        self._told_of_clamping = False
        self._kept: dict[str, Tensor] = {}  # [capacity, rows, ...] by field, [capacity, ...] by name of memory
        # Cut observations are few and unevenly spread, so segments that have any know where theirs are.
        self._cuts: dict[int, _Cuts] = {}  # by slot
        self._born = np.zeros(0, dtype=np.int64)  # [capacity] version of the weights that gathered each
        self.num_steps = 0
        self.capacity = 0
        self.stored = 0
        self._next = 0

    def allocate(self, rollout: Rollout) -> None:
        """Make room for segments like the lanes of `rollout`, as many as wanted or as memory allows."""
        num_steps, num_lanes = rollout.rewards.shape
        lane = {name: tensor[0] for name, tensor in self._columns(rollout, torch.zeros(1, dtype=torch.int64)).items()}
        cut = rollout.observations[0, 0]  # room for one cut observation a segment is counted in
        size = sum(part.numel() * part.element_size() for part in (*lane.values(), cut))
        room = find_room(self._config, num_steps, num_lanes, size)
        if room.fitting < room.wanted:
            self._tell_of_shrinking(room.wanted * num_steps, room.fitting * num_steps, size / num_steps)
        self._prepare(room.capacity, num_steps, lane)

    def _prepare(self, capacity: int, num_steps: int, lane: dict[str, Tensor]) -> None:
        self.capacity, self.num_steps = capacity, num_steps
        self._kept = {
            name: torch.zeros((capacity, *part.shape), dtype=part.dtype, device=self._resting)
            for name, part in lane.items()
        }
        self._born = np.zeros(capacity, dtype=np.int64)
        self._cuts, self.stored, self._next = {}, 0, 0

    def push(self, rollout: Rollout, lanes: Tensor) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Keep some lanes [N] (int64, on the CPU) of a rollout, over the oldest ones; returns their slots [N]."""
        slots = (self._next + np.arange(len(lanes))) % self.capacity
        places = torch.from_numpy(slots).to(self._resting)
        for name, column in self._columns(rollout, lanes).items():
            self._kept[name][places] = column.to(self._resting)
        self._born[slots] = rollout.weights_version
        for slot in slots:
            self._cuts.pop(int(slot), None)
        self._keep_cuts(rollout, dict(zip(lanes.tolist(), slots.tolist(), strict=True)))
        self._next = int((self._next + len(lanes)) % self.capacity)
        self.stored = min(self.stored + len(lanes), self.capacity)
        return slots

    def _columns(self, rollout: Rollout, lanes: Tensor) -> dict[str, Tensor]:
        """What is kept of some lanes, each first in its own tensor [N, ...]."""
        chosen = lanes.to(rollout.rewards.device)
        columns = {name: getattr(rollout, name).index_select(1, chosen).transpose(0, 1) for name in ROW_FIELDS}
        if self._config.half_scalars:
            columns |= {name: self._halved(name, columns[name]) for name in HALVED}
        return columns | {_MEMORY + name: part.index_select(0, chosen) for name, part in rollout.memory.items()}

    def _halved(self, name: str, numbers: Tensor) -> Tensor:
        clamped = numbers.clamp(-_HALF_MAX, _HALF_MAX)
        if not self._told_of_clamping and not torch.equal(clamped, numbers):
            self._told_of_clamping = True
            message = (
                f"replay keeps {name.replace('_', ' ')} in 16 bits, and some are beyond {_HALF_MAX:g}: they are kept "
                "as that; scale rewards down, or leave learner.replay.half-scalars out"
            )
            self._notify(Event("replay_clamped", message, "warning"))
        return clamped.half()

    def _keep_cuts(self, rollout: Rollout, slot_of: dict[int, int]) -> None:
        found = sorted(
            (lane, row, number) for number, (row, lane) in enumerate(rollout.cuts.tolist()) if lane in slot_of
        )
        if found:
            numbers = torch.tensor([number for _, _, number in found], device=rollout.cut_observations.device)
            self._lay_cuts(
                [(slot_of[lane], row) for lane, row, _ in found], rollout.cut_observations[numbers].to(self._resting)
            )

    def _lay_cuts(self, places: Sequence[tuple[int, int]], seen: Tensor) -> None:
        """Remember `seen` [K, ...], which belongs to (slot, row) [K], those of one slot one after the other.

        One tensor for all of a rollout: its segments are overwritten about when the last of them is.
        """
        first = 0
        for slot, group in groupby(places, key=lambda place: place[0]):
            rows = [row for _, row in group]
            self._cuts[slot] = _Cuts(rows, first, seen)
            first += len(rows)

    def gather(self, slots: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Rollout:
        """The segments at `slots` [N] as the lanes of a rollout, which no episodes are told of."""
        places = torch.from_numpy(slots).to(self._resting)
        found = {name: kept[places].to(self._device) for name, kept in self._kept.items()}
        rows = {name: found[name].transpose(0, 1) for name in ROW_FIELDS}
        rows |= {name: rows[name].float() for name in HALVED}
        cuts, seen = self._gathered_cuts(slots.tolist())
        return Rollout(
            **row_fields(rows),
            cuts=cuts,
            cut_observations=seen,
            memory={name.removeprefix(_MEMORY): part for name, part in found.items() if name.startswith(_MEMORY)},
            weights_version=int(self._born[slots].max()),
            knobs_version=-1,
            episodes=(),
            phase_seconds={},
        )

    def _gathered_cuts(self, slots: list[int]) -> tuple[Tensor, Tensor]:
        found = [
            (row, lane, cuts.seen[cuts.first + number])
            for lane, slot in enumerate(slots)
            if (cuts := self._cuts.get(slot)) is not None
            for number, row in enumerate(cuts.rows)
        ]
        found.sort(key=lambda cut: cut[:2])  # by row, then lane, as collectors do
        if not found:
            empty = self._kept["observations"][0, :0].to(self._device)
            return torch.zeros((0, 2), dtype=torch.int64), empty
        places = torch.tensor([cut[:2] for cut in found])
        return places, torch.stack([seen for _, _, seen in found]).to(self._device)

    def mean_birth(self, slots: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> float:
        """The mean version of the weights that gathered some segments."""
        return float(self._born[slots].mean())

    def _tell_of_shrinking(self, wanted: int, fitting: int, size: float) -> None:
        limit = self._config.memory_gb
        message = (
            f"replay keeps {fitting:,} decisions instead of {wanted:,}: one takes {size:,.0f} bytes, and "
            f"learner.replay.memory-gb is {limit:g}"
        )
        facts = {"wanted_decisions": wanted, "capacity_decisions": fitting, "memory_gb": limit}
        self._notify(Event("replay_shrunk", message, "warning", facts))

    def state(self) -> StateTree:
        """What is filled, and where the ring is; the empty rest takes no room."""
        cuts = sorted(self._cuts.items())
        return {
            "capacity": self.capacity,
            "num_steps": self.num_steps,
            "next": self._next,
            "born": self._born[: self.stored].copy(),
            "kept": {name: kept[: self.stored].clone() for name, kept in self._kept.items()},
            "cut_slots": [slot for slot, _ in cuts],
            "cut_rows": [cut.rows for _, cut in cuts],
            "cut_observations": torch.cat([cut.observations for _, cut in cuts]) if cuts else None,
            "told_of_clamping": self._told_of_clamping,
        }

    def restore(self, state: StateTree) -> None:
        """Go on with those segments."""
        self._told_of_clamping = state["told_of_clamping"]
        lane = {name: part.new_zeros(part.shape[1:]) for name, part in state["kept"].items()}
        self._prepare(state["capacity"], state["num_steps"], lane)
        self.stored, self._next = len(state["born"]), state["next"]
        self._born[: self.stored] = state["born"]
        for name, part in state["kept"].items():
            self._kept[name][: self.stored] = part.to(self._resting)
        if state["cut_observations"] is not None:
            slots_and_rows = zip(state["cut_slots"], state["cut_rows"], strict=True)
            places = [(slot, row) for slot, rows in slots_and_rows for row in rows]
            self._lay_cuts(places, state["cut_observations"].to(self._resting, copy=True))


def storage_device(config: ReplayConfig, device: torch.device) -> torch.device:
    """Where segments rest when the model is on `device`."""
    return torch.device("cpu") if config.storage == "cpu" else device
