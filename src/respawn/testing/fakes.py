"""Small stand-ins for the parts of a run, for tests of the rest of the house."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import DiscreteActions, Frame, ObservationSpec, StepResult, WorldSpec
from respawn.errors import WorldError
from respawn.maths.hashing import mix
from respawn.worlds.episodes import EpisodeTracker

REWARD_SCALE = KnobSpec("fake/reward_scale", default=1.0, low=0.0, high=10.0)


class FakeWorld:
    """A cheap world in which everything happens: ends of both kinds, early ends, absent agents, a knob.

    Four numbers wander about, pushed by the actions and by noise that follows from the lane's seed. An episode lasts 5
    to 12 steps and then terminates or is truncated; it terminates sooner if the first number is driven too far.

    Args:
      num_lanes: How many lanes.
      device: Where its tensors are.
      with_absences: In steps 2 and 3 of every other episode nobody is there: not valid, no reward, actions ignored.
      fail_at_step: The count, from this world's construction, of the `step` call that raises a WorldError.
      step_seconds: How long each step takes at least.
    """

    def __init__(
        self,
        num_lanes: int = 4,
        *,
        device: torch.device | None = None,
        with_absences: bool = False,
        fail_at_step: int | None = None,
        step_seconds: float = 0.0,
    ) -> None:
        self._device = device or torch.device("cpu")
        self._with_absences = with_absences
        self._fail_at_step = fail_at_step
        self._step_seconds = step_seconds
        self._calls = 0
        self._spec = WorldSpec(
            name="fake",
            observation=ObservationSpec((4,)),
            actions=DiscreteActions(3),
            num_lanes=num_lanes,
            knobs=(REWARD_SCALE,),
        )
        self._seeds = torch.arange(num_lanes, dtype=torch.int64, device=self._device)  # [B]
        self._episodes = torch.zeros_like(self._seeds)  # [B] how many came before in this lane
        self._steps = torch.zeros_like(self._seeds)  # [B] steps into the episode
        self._place = self._births()  # [B, 4]
        self._finals = self._place.clone()  # [B, 4]
        self._reward_scale = REWARD_SCALE.default
        self._tracker = EpisodeTracker(num_lanes)

    @property
    def spec(self) -> WorldSpec:
        """Four float32 numbers in, three actions out, one knob."""
        return self._spec

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin each lane's sequence of episodes."""
        if len(seeds) != self._spec.num_lanes:
            raise WorldError(f"expected one seed for each of {self._spec.num_lanes} lanes, got {len(seeds)}")
        self._seeds = torch.tensor(list(seeds), dtype=torch.int64, device=self._device)
        self._episodes = torch.zeros_like(self._seeds)
        self._steps = torch.zeros_like(self._seeds)
        self._place = self._births()
        self._tracker.begin()
        return self._place

    def step(self, actions: Tensor) -> StepResult:
        """Push each lane's numbers, and begin the next episode where one ends."""
        self._calls += 1
        if self._calls == self._fail_at_step:
            raise WorldError(f"the fake world fails at step {self._calls}, as it was asked to")
        if self._step_seconds:
            time.sleep(self._step_seconds)
        present = self._present()  # [B]
        push = torch.where(present, (actions - 1).float() * 0.2, 0.0)  # [B]
        place = 0.9 * self._place + 0.1 * self._noise(4, salt=1)
        place[:, 0] += push
        reward = torch.where(present, self._reward_scale * (1.0 - place[:, 0].abs()), 0.0)  # [B]
        steps = self._steps + 1
        time_is_up = steps >= self._lifetimes()
        is_cut = (self._draw(salt=3) & 1).bool()
        terminated = (place[:, 0].abs() > 0.9) | (time_is_up & ~is_cut)
        truncated = time_is_up & is_cut & ~terminated
        ended = terminated | truncated
        self._finals = place
        self._episodes = self._episodes + ended
        self._steps = torch.where(ended, 0, steps)
        self._place = torch.where(ended[:, None], self._births(), place)
        return StepResult(
            observation=self._place,
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            cut_observations=place[truncated],
            valid=self._present(),
            episodes=self._tracker.record(reward, terminated, truncated),
        )

    def observe(self) -> Tensor:
        """The current observations [B, 4]."""
        return self._place

    def final_observations(self) -> Tensor:
        """Where the lanes were after the last step, before any of them began anew, [B, 4]."""
        return self._finals

    def present(self) -> Tensor:
        """The lanes in which somebody is there."""
        return self._present()

    def facts_so_far(self, lane: int) -> Mapping[str, float | str]:
        """Nothing beyond return and length."""
        return {}

    def apply(self, knobs: Knobs) -> None:
        """Take over the scale of rewards."""
        self._reward_scale = knobs[REWARD_SCALE.name]

    def render(self, lane: int) -> Frame:
        """Four grey bars."""
        bars = (self._place[lane].clamp(-1, 1) * 127 + 128).to("cpu", torch.uint8).numpy()  # [4]
        return np.broadcast_to(np.repeat(bars, 4)[None, :, None], (16, 16, 3)).copy()

    def close(self) -> None:
        """Nothing to give back."""

    def state(self) -> StateTree:
        """All lanes, and the knob."""
        return {
            "seeds": self._seeds.clone(),
            "episodes": self._episodes.clone(),
            "steps": self._steps.clone(),
            "place": self._place.clone(),
            "reward_scale": self._reward_scale,
            "tracker": self._tracker.state(),
        }

    def restore(self, state: StateTree) -> None:
        """Put all back."""
        self._seeds = state["seeds"].to(self._device, copy=True)
        self._episodes = state["episodes"].to(self._device, copy=True)
        self._steps = state["steps"].to(self._device, copy=True)
        self._place = state["place"].to(self._device, copy=True)
        self._reward_scale = state["reward_scale"]
        self._tracker.restore(state["tracker"])

    def _present(self) -> Tensor:
        """Where somebody is there to decide, [B]."""
        absent = (self._steps >= 2) & (self._steps <= 3) & (self._episodes % 2 == 1)
        return ~absent if self._with_absences else torch.ones_like(absent)

    def _lifetimes(self) -> Tensor:
        """How long each lane's episode may last, 5 to 12 steps, [B]."""
        return 5 + (self._draw(salt=2) & 7)

    def _births(self) -> Tensor:
        """Where each lane's episode begins, [B, 4]."""
        return 0.3 * self._noise(4, salt=0)

    def _draw(self, salt: int) -> Tensor:
        """Random bits of each lane's episode, [B] int64."""
        return mix(mix(mix(self._seeds) + self._episodes) + salt)

    def _noise(self, columns: int, salt: int) -> Tensor:
        """Uniform numbers in [-1, 1) of each lane's step, [B, columns]."""
        moment = mix(self._draw(salt) + self._steps)  # [B]
        bits = mix(moment[:, None] + torch.arange(columns, device=self._device)) & 0xFF_FFFF
        return bits.float() / 2**23 - 1.0
