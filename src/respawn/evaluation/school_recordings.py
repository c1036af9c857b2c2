"""Schools of fish step by step, exactly as they were played: what films of them are painted from."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator

from respawn.contracts.policy import Policy
from respawn.evaluation.schools import SchoolRecord, play_schools
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.world import FishWorld


@dataclass(frozen=True)
class SchoolRecording:
    """One school's episode and every moment of it."""

    record: SchoolRecord
    moments: tuple[SwarmState, ...]
    """the school alone, from its beginning to what its last step left: one more than there were steps"""


class _Recorder:
    """Copies some schools of a batch at every step until their first episode ends; a few kilobytes a step each."""

    def __init__(self, schools: Sequence[int]) -> None:
        self.moments: dict[int, list[SwarmState]] = {school: [] for school in schools}
        self._going_on = list(schools)

    def watch(self, world: FishWorld) -> None:
        """Look at the schools that still play."""
        ended: dict[int, SwarmState] = {}
        if world.ended is not None:  # they have begun anew already
            schools, swarm = world.ended
            ended = {school: _only(swarm, place) for place, school in enumerate(schools)}
        for school in self._going_on:
            self.moments[school].append(ended[school] if school in ended else _only(world.swarm, school))
        self._going_on = [school for school in self._going_on if school not in ended]


def record_schools(
    world: FishWorld,
    policy: Policy,
    seeds: Sequence[int],
    wanted: Sequence[int],
    generator: Generator | None,
    device: torch.device,
) -> list[SchoolRecording]:
    """Play as `play_schools` does, and keep every moment of some schools, in the order that they are wanted in.

    All schools of a batch are played, for a matrix product may differ in its last bit with the number of its rows, and
    a fish may then choose otherwise.

    Args:
      world: with as many schools as it had when they were played, if they are to be the same again.
      policy: who plays.
      seeds: of all schools.
      wanted: places among the seeds of those to keep.
      generator: draws actions; without one the likeliest are taken.
      device: where the policy computes.
    """
    num_schools = world.spec.num_lanes // world.config.fish
    found: dict[int, SchoolRecording] = {}
    for first in range(0, len(seeds), num_schools):
        here = [place for place in dict.fromkeys(wanted) if first <= place < first + num_schools]
        if not here and generator is None:
            continue  # nothing is carried over from it, where no actions are drawn
        recorder = _Recorder([place - first for place in here])
        batch = seeds[first : first + num_schools]
        records = play_schools(world, policy, batch, generator, device, recorder.watch)
        for place in here:
            found[place] = SchoolRecording(records[place - first], tuple(recorder.moments[place - first]))
    return [found[place] for place in wanted]


def _only(swarm: SwarmState, school: int) -> SwarmState:
    return swarm.some(torch.tensor([school], device=swarm.alive.device))
