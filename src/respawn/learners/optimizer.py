"""A step: scale, clip, update, count. Nothing else touches the parameters."""

import math

import torch
from torch import Tensor, nn

from respawn.contracts.saveable import StateTree
from respawn.errors import CheckpointError
from respawn.learners.config import OptimizerConfig


class Optimizer:
    """AdamW over a model's parameters, with its memory kept by parameter name."""

    def __init__(self, model: nn.Module, config: OptimizerConfig) -> None:
        self._parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        # Biases, norms and other vectors set scales and offsets: decay would only fight what they are for.
        offsets = {name for name, p in self._parameters.items() if p.dim() < 2 or name.endswith("bias")}
        matrices = [p for name, p in self._parameters.items() if name not in offsets]
        vectors = [p for name, p in self._parameters.items() if name in offsets]
        groups = [
            {"params": matrices, "weight_decay": config.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self._gradient_norm = config.gradient_norm
        self._adamw = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=True,
        )

    def zero(self) -> None:
        """Forget the gradients."""
        self._adamw.zero_grad(set_to_none=True)

    def step(self, learning_rate: float, is_sound: Tensor | None = None) -> Tensor:
        """Clip the gradients, move the weights unless one is not finite; returns the norm before clipping.

        Args:
          learning_rate: of this step.
          is_sound: false: move nothing, though gradients are finite; they can be where a loss is not.
        """
        limit = self._gradient_norm if self._gradient_norm > 0 else math.inf
        norm = nn.utils.clip_grad_norm_(self._parameters.values(), limit)
        for group in self._adamw.param_groups:
            group["lr"] = learning_rate
        # A gradient that is not finite must never reach the weights. The optimizer is told on the device itself, as it
        # is by a gradient scaler: nothing waits for it, and a step that is sound is the same to the last bit.
        moves = norm.isfinite() if is_sound is None else norm.isfinite() & is_sound
        setattr(self._adamw, "found_inf", (~moves).to(torch.float32))  # noqa: B010 - torch declares none
        self._adamw.step()
        return norm.detach()

    def copy(self) -> StateTree:
        """Weights and moments as they are now, for `put_back`."""
        weights = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}
        return {"weights": weights, "moments": self.state()}

    @torch.no_grad()
    def put_back(self, copied: StateTree) -> None:
        """Undo all steps since `copy`."""
        for name, parameter in self._parameters.items():
            parameter.copy_(copied["weights"][name])  # in place: graphs and compiled code know the old memory
        self.restore(copied["moments"])

    def was_clipped(self, norm: Tensor) -> Tensor:
        """1 where a gradient of this norm was scaled down, else 0; a tensor, so that nothing waits for it."""
        limit = self._gradient_norm if self._gradient_norm > 0 else math.inf
        return (norm > limit).float()

    def state(self) -> StateTree:
        """AdamW's moments, by parameter name."""
        return {
            name: {key: value.clone() for key, value in self._adamw.state[parameter].items()}
            for name, parameter in self._parameters.items()
            if parameter in self._adamw.state
        }

    def restore(self, state: StateTree) -> None:
        """Take up the moments again."""
        unknown = sorted(set(state) - set(self._parameters))
        if unknown:
            raise CheckpointError(f"the checkpoint's optimizer knows parameters that this model lacks: {unknown[:3]}")
        self._adamw.state.clear()
        for name, moments in state.items():
            parameter = self._parameters[name]
            self._adamw.state[parameter] = {
                key: value.to(parameter.device, copy=True) for key, value in moments.items()
            }
