"""How fast a world steps by itself, with so many lanes: what `respawn bench world` measures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.world import ActionSpec, ContinuousActions, DiscreteActions
from respawn.training.bench_matrix import Entry, Results, Tell, measure_matrix
from respawn.training.bench_summary import Row, cell_rows
from respawn.training.bench_watch import Watch
from respawn.training.device import prepare_torch, resolve_device
from respawn.worlds.registry import WorldConfig, make_world

WARM_STEPS = 50
_ACTION_ROWS = 64


@dataclass(frozen=True)
class WorldPlan:
    """How many lanes, and for how long."""

    lanes: tuple[int, ...] = (1, 8, 64)
    repeats: int = 5
    seconds: float = 2.0
    """of each turn"""
    device: str = "cpu"
    """where the worlds' tensors are"""


class WorldCase:
    """A world that random actions are played in for ever, beginnings of new episodes included.

    Args:
      config: which world.
      num_lanes: that are stepped together.
      seconds: of each turn.
      device_name: where its tensors are.
    """

    def __init__(self, config: WorldConfig, num_lanes: int, seconds: float, device_name: str) -> None:
        self._device = resolve_device(device_name, wants_gpu=False)
        prepare_torch(self._device, 1)
        self._seconds = seconds
        self._world = make_world(config, num_lanes, device=self._device, seed=0)
        self._actions = random_actions(self._world.spec.actions, num_lanes, self._device)
        self._steps = 0
        for _ in range(WARM_STEPS):
            self._advance()

    def turn(self) -> dict[str, Any]:
        """Play on for a while."""
        decisions, episodes = 0, 0
        self._wait()
        with Watch() as watch:
            while decisions == 0 or watch.seconds < self._seconds:
                decisions += int(self._world.present().sum())
                episodes += self._advance()
                self._wait()
        frames = decisions * self._world.spec.frames_per_step
        return {**watch.taken, "decisions": decisions, "frames": frames, "episodes": episodes}

    def close(self) -> None:
        """Leave it."""
        self._world.close()

    def _advance(self) -> int:
        result = self._world.step(self._actions[self._steps % _ACTION_ROWS])
        self._steps += 1
        return len(result.episodes)

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def random_actions(spec: ActionSpec, num_lanes: int, device: torch.device) -> Tensor:
    """Some rows [R, B, ...] of actions, the same every time."""
    dice = torch.Generator().manual_seed(0)
    if isinstance(spec, DiscreteActions):
        actions = torch.randint(spec.num_actions, (_ACTION_ROWS, num_lanes), generator=dice)
    elif isinstance(spec, ContinuousActions):
        actions = 2 * torch.rand((_ACTION_ROWS, num_lanes, spec.size), generator=dice) - 1
    else:
        size = (_ACTION_ROWS, num_lanes)
        actions = torch.stack([torch.randint(choices, size, generator=dice) for choices in spec.sizes], -1)
    return actions.to(device)


def measure_worlds(
    of: str,
    worlds: Mapping[str, WorldConfig],
    plan: WorldPlan,
    tell: Tell = lambda doing, part: None,
    keep: Callable[[list[Row]], None] = lambda rows: None,
) -> list[Row]:
    """A row for each world and number of lanes; those of the same lanes are measured in turn.

    Args:
      of: what the worlds are kinds of.
      worlds: by the names of their rows.
      plan: how many lanes, and for how long.
      tell: is told what is being done, and which part of all is done.
      keep: is given all rows as far as they are known, whenever that is more than before.
    """

    def rows_of(results: Results) -> list[Row]:
        # Worlds of other kinds do other things in a step: a ratio of the two would say nothing.
        return [row for found in results.values() for row in cell_rows(found, of, lambda result: False)]

    cells = {
        f"{of} {count} lanes": [
            Entry(
                partial(WorldCase, config, count, plan.seconds, plan.device),
                {"mode": name, "num_envs": count, "threads": 1},
                longest_turn=plan.seconds,
            )
            for name, config in worlds.items()
        ]
        for count in plan.lanes
    }
    return rows_of(measure_matrix(cells, plan.repeats, tell, lambda results: keep(rows_of(results))))
