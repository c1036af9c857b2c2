"""The model that is being trained, with all that training it needs: optimizer, dice, compiled forward pass, count."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from respawn.contracts.learner import Weights
from respawn.contracts.records import Event, Memory, Rollout
from respawn.contracts.saveable import StateTree
from respawn.errors import CheckpointError
from respawn.learners.optimizer import Optimizer
from respawn.learners.out_of_memory import gpu_is_full
from respawn.maths.seeding import generator_state, restore_generator
from respawn.models.actor_critic import ActorCritic, Unrolled


class Trainee:
    """What a learner changes. Its state is all but the weights, which `ModelWeights` keeps."""

    def __init__(
        self,
        model: ActorCritic,
        optimizer: Optimizer,
        generator: Generator,
        *,
        compile_model: bool = False,
        notify: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.model = model.train()
        self.optimizer = optimizer
        self.generator = generator
        self.updates = 0
        self.notify = notify
        self._wants_compile = compile_model
        self._compiled: Callable[..., Unrolled] | None = None

    def unroll(
        self, observations: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_observations: Tensor
    ) -> Unrolled:
        """The model's forward pass over rows of lanes; compiled on first use if asked for, after weights are loaded."""
        inputs = (observations, memory, starts, cuts, cut_observations)
        if self._wants_compile:
            try:
                if self._compiled is None:
                    self._compiled = torch.compile(self.model.unroll)
                return self._compiled(*inputs)
            except (RuntimeError, OSError, ImportError) as error:
                if gpu_is_full(error):
                    raise
                # Dynamo's and Inductor's own errors are RuntimeErrors; a missing C++ compiler is an OSError. They may
                # come late: shapes and gradients that were not seen before are compiled anew. Should the model itself
                # be at fault, the plain pass below raises the same error again.
                self._give_up_compiling(error)
        return self.model.unroll(*inputs)

    def _give_up_compiling(self, error: Exception) -> None:
        self._wants_compile, self._compiled = False, None
        cause = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        message = f"torch.compile failed, so the model runs uncompiled (slower, same results to rounding): {cause}"
        self.notify(Event("compile_fallback", message, "warning"))

    def unroll_rollout(self, rollout: Rollout) -> Unrolled:
        """The forward pass over all T+1 rows of a rollout, the cut observations included."""
        return self.unroll(
            rollout.observations, rollout.memory, episode_starts(rollout), rollout.cuts, rollout.cut_observations
        )

    def weights(self) -> Weights:
        """A copy of the weights as they are now."""
        tensors = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}
        return Weights(version=self.updates, tensors=tensors)

    def state(self) -> StateTree:
        """Moments, dice and count."""
        return {
            "updates": self.updates,
            "optimizer": self.optimizer.state(),
            "generator": generator_state(self.generator),
        }

    def restore(self, state: StateTree) -> None:
        """Take them up again."""
        self.updates = state["updates"]
        self.optimizer.restore(state["optimizer"])
        restore_generator(self.generator, state["generator"])


class ModelWeights:
    """A model's weights as a part of a checkpoint. Compiling never changes their names."""

    def __init__(self, model: ActorCritic) -> None:
        self._model = model

    def state(self) -> StateTree:
        """Every parameter and persistent buffer by name."""
        return {name: tensor.detach().clone() for name, tensor in self._model.state_dict().items()}

    def restore(self, state: StateTree) -> None:
        """Load the weights; all must be there and fit."""
        own = self._model.state_dict()
        differing = sorted(
            name
            for name in own.keys() | state.keys()
            if name not in own or name not in state or own[name].shape != state[name].shape
        )
        if differing:
            raise CheckpointError(
                f"the checkpoint's weights are of another model ({len(differing)} of {len(own)} tensors differ in name "
                f"or shape, the first is '{differing[0]}'); use the model settings that it was trained with"
            )
        self._model.load_state_dict(state)


def episode_starts(rollout: Rollout) -> Tensor:
    """[T+1, B] bool: rows before which a lane's memory is wiped. Row 0 never: its memory is already as it should be."""
    ended = rollout.terminated | rollout.truncated
    return torch.cat([torch.zeros_like(ended[:1]), ended])
