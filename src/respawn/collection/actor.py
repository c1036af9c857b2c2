"""The collector's own copy of the policy: its weights, its memory of each lane, its dice."""

import torch
from torch import Generator, Tensor

from respawn.contracts.learner import Weights
from respawn.contracts.policy import Decision
from respawn.contracts.records import Memory
from respawn.contracts.saveable import StateTree
from respawn.maths.seeding import generator_state, restore_generator
from respawn.models.actor_critic import ActorCritic


class Actor:
    """Decides for all lanes, and forgets a lane's past when its episode ends.

    The model is private: a learner that changes its own weights meanwhile cannot be seen from here.
    """

    def __init__(self, model: ActorCritic, num_lanes: int, generator: Generator) -> None:
        self._model = model.eval()
        self._generator = generator
        self._initial_memory = model.initial_memory(num_lanes)
        self.memory: Memory = self._initial_memory

    def load(self, weights: Weights) -> None:
        """Take over new weights, and draw fresh noise where the model has any."""
        self._model.load_state_dict(dict(weights.tensors))
        self._model.sample_noise(self._generator)
        self._forget_nonsense()

    def decide(self, observation: Tensor) -> Decision:
        """One action a lane."""
        decision = self._model.act(observation, self.memory, self._generator)
        self.memory = decision.memory
        return decision

    def forget(self, ended: Tensor) -> None:
        """Begin afresh in the lanes [B] whose episode ended."""
        if self.memory and bool(ended.any()):
            self._keep(~ended)

    def _forget_nonsense(self) -> None:
        """Begin afresh where the memory is not finite: it would spoil all that is still to come of that episode."""
        if self.memory:
            finite = [tensor.isfinite().reshape(len(tensor), -1).all(1) for tensor in self.memory.values()]
            self._keep(torch.stack(finite).all(0))

    def _keep(self, lanes: Tensor) -> None:
        """Begin afresh in all other lanes than these [B]."""
        self.memory = {
            name: tensor.where(lanes.view(-1, *[1] * (tensor.dim() - 1)), self._initial_memory[name])
            for name, tensor in self.memory.items()
        }

    def forget_all(self) -> None:
        """Begin afresh in every lane."""
        self.memory = self._initial_memory

    def state(self) -> StateTree:
        """Memory and dice; the weights come with the next order."""
        return {
            "memory": {name: tensor.clone() for name, tensor in self.memory.items()},
            "generator": generator_state(self._generator),
        }

    def restore(self, state: StateTree) -> None:
        """Go on with that memory and those dice."""
        self.memory = {name: tensor.to(self._initial_memory[name].device) for name, tensor in state["memory"].items()}
        restore_generator(self._generator, state["generator"])
