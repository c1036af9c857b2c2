"""The recall task as a World. It is also the living template: a new world can start as a copy of this file.

A cue is shown at the first step, then `delay_steps` blank steps follow, then a flag asks for it: the action taken there
must be the cue. Right is +1, wrong is -1, everything else 0. Without a memory nothing beats guessing, a mean return of
2 / num_cues - 1; with one, 1.0 can be had every time.

What a world's author may want to take from here:

- The whole state is a few tensors [B]; everything else follows from them, so `state` and `restore` are two lines each.
- Random numbers come from a hash of (lane seed, episode, step). No generator is shared between lanes, so what happens
  in a lane depends on its own seed only, and there is no generator state to save.
- No Python loop over lanes, and no branch on a tensor's value: the same code runs on a GPU.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import DiscreteActions, Frame, ObservationSpec, StepResult, WorldSpec
from respawn.errors import CheckpointError, WorldError
from respawn.maths.hashing import int64_tensor, mix
from respawn.worlds.episodes import EpisodeTracker
from respawn.worlds.recall.config import RecallConfig

CELL_PIXELS = 32


class RecallWorld:
    """A batch of recall episodes, one a lane; observations are [one-hot cue or noise, cue flag, question flag]."""

    def __init__(self, config: RecallConfig, num_lanes: int, *, device: torch.device | None = None) -> None:
        self._config = config
        self._device = device or torch.device("cpu")
        self._spec = WorldSpec(
            name="recall",
            observation=ObservationSpec(shape=(config.num_cues + 2,)),
            actions=DiscreteActions(config.num_cues),
            num_lanes=num_lanes,
        )
        self._seeds = torch.zeros(num_lanes, dtype=torch.int64, device=self._device)  # [B]
        self._episodes = torch.zeros_like(self._seeds)  # [B] how many came before in this lane
        self._steps = torch.zeros_like(self._seeds)  # [B] steps into the episode
        self._valid = torch.ones(num_lanes, dtype=torch.bool, device=self._device)  # [B] always somebody there
        self._never = torch.zeros_like(self._valid)  # [B] nothing is ever cut short
        self._no_cuts = torch.zeros(0, config.num_cues + 2, device=self._device)
        self._tracker = EpisodeTracker(num_lanes)
        self._observation = self._look()

    @property
    def spec(self) -> WorldSpec:
        """Shapes and lanes; no knobs."""
        return self._spec

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin the first episode of each lane's sequence."""
        if len(seeds) != self._spec.num_lanes:
            raise WorldError(f"expected one seed for each of {self._spec.num_lanes} lanes, got {len(seeds)}")
        self._seeds.copy_(int64_tensor(list(seeds), self._device))
        self._episodes.zero_()
        self._steps.zero_()
        self._tracker.begin()
        self._observation = self._look()
        return self._observation

    def step(self, actions: Tensor) -> StepResult:
        """Judge the actions of lanes that are asked; move the others on."""
        asked = self._steps == self._config.delay_steps + 1  # [B]
        right = actions == self._cues()  # [B]
        reward = torch.where(asked, torch.where(right, 1.0, -1.0), 0.0)  # [B]
        self._episodes += asked
        self._steps = torch.where(asked, 0, self._steps + 1)
        self._observation = self._look()
        return StepResult(
            observation=self._observation,
            reward=reward,
            terminated=asked,
            truncated=self._never,
            cut_observations=self._no_cuts,
            valid=self._valid,
            episodes=self._tracker.record(reward, asked, self._never),
        )

    def observe(self) -> Tensor:
        """The current observations [B, num_cues + 2]."""
        return self._observation

    def present(self) -> Tensor:
        """Somebody is there in every lane."""
        return self._valid

    def facts_so_far(self, lane: int) -> Mapping[str, float | str]:
        """Nothing beyond return and length."""
        return {}

    def apply(self, knobs: Knobs) -> None:
        """Nothing to take over: this world declares no knobs."""

    def render(self, lane: int) -> Frame:
        """One column a number of the observation: cues blue, the cue flag green, the question red."""
        brightness = self._observation[lane].clamp(0, 1).mul(255).to("cpu", torch.uint8).numpy()
        colours = np.zeros((len(brightness), 3), np.uint8)
        colours[:-2, 2] = brightness[:-2]
        colours[-2, 1] = brightness[-2]
        colours[-1, 0] = brightness[-1]
        row = np.repeat(colours, CELL_PIXELS, axis=0)  # [width, 3]
        return np.repeat(row[None], CELL_PIXELS, axis=0)

    def close(self) -> None:
        """Nothing to give back."""

    def state(self) -> StateTree:
        """Where each lane is; what it shows follows from that."""
        return {
            "seeds": self._seeds.clone(),
            "episodes": self._episodes.clone(),
            "steps": self._steps.clone(),
            "tracker": self._tracker.state(),
        }

    def restore(self, state: StateTree) -> None:
        """Put each lane back where it was."""
        if state["seeds"].shape != self._seeds.shape:
            raise CheckpointError(
                f"expected the state of {self._spec.num_lanes} lanes, got {len(state['seeds'])}; "
                "resume with the number of lanes that the run began with"
            )
        self._seeds.copy_(state["seeds"])
        self._episodes.copy_(state["episodes"])
        self._steps = state["steps"].to(self._device, copy=True)
        self._tracker.restore(state["tracker"])
        self._observation = self._look()

    def _cues(self) -> Tensor:
        """The cue of each lane's episode, [B] int64."""
        return (mix(mix(self._seeds) + self._episodes) & 0x7FFF_FFFF) % self._config.num_cues

    def _look(self) -> Tensor:
        """What each lane shows at its step of its episode, [B, num_cues + 2]."""
        num_cues = self._config.num_cues
        showing = self._steps == 0  # [B]
        cues = torch.nn.functional.one_hot(self._cues(), num_cues).float()
        shown = torch.where(showing[:, None], cues, self._distraction())
        asking = self._steps == self._config.delay_steps + 1  # [B]
        return torch.cat([shown, showing[:, None].float(), asking[:, None].float()], dim=1)

    def _distraction(self) -> Tensor:
        """Uniform numbers in [-noise, noise), [B, num_cues]."""
        num_cues = self._config.num_cues
        if self._config.noise == 0.0:
            return torch.zeros(self._spec.num_lanes, num_cues, device=self._device)
        columns = torch.arange(1, num_cues + 1, device=self._device)
        moment = mix(mix(mix(self._seeds) + self._episodes) + self._steps)  # [B]
        bits = mix(moment[:, None] + columns) & 0xFF_FFFF  # 24 bits are what a float32 holds exactly
        return (bits.float() / 2**23 - 1.0) * self._config.noise
