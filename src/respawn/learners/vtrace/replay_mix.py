"""Replayed segments beside the new rollout, in one optimizer step.

V-trace makes their targets anew with the model as it is, from the log-probabilities and the memory that they were
gathered with, so however old they are they are corrected like any other data of an older policy.
"""

from collections.abc import Sequence
from math import isfinite

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import StateTree
from respawn.learners.averages import Averages
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.targets import Targets, make_targets
from respawn.maths.diagnostics import valid_mean
from respawn.maths.losses import entropy_loss, policy_gradient_loss, valid_sum
from respawn.maths.seeding import derive_seed
from respawn.memory.replay import PrioritisedReplay, Replayed
from respawn.memory.rollouts import some_lanes

VARIANCE_MEMORY = 0.95
"""How much of the running mean of the TD errors' variance stays at each update."""

_TOLD = ("loss_policy", "loss_value", "loss_total", "rho_mean", "rho_clipped_fraction", "weight_mean")


class ReplayMix:
    """Decides when to replay, adds the replayed gradient to the rollout's, and keeps the rollout."""

    def __init__(self, trainee: Trainee, config: VTraceConfig) -> None:
        self._trainee = trainee
        self._config = config
        device = next(trainee.model.parameters()).device
        # On the CPU whatever the device is, and apart from the learner's own dice, which noisy heads draw from.
        generator = torch.Generator().manual_seed(derive_seed(trainee.generator.initial_seed(), "replay"))
        self._replay = PrioritisedReplay(config.replay, device, generator, trainee.notify)
        self._variance_mean: float | None = None

    def join(self, rollout: Rollout, targets: Sequence[Targets], knobs: Knobs) -> dict[str, float]:
        """Before the optimizer's step: add the gradient of replayed segments where it is time for it; keep the rollout.

        Args:
          rollout: the new one, whose gradient is there already.
          targets: its parts, in order of lanes.
          knobs: of this update.

        Returns:
          Metrics; the same names at every update.
        """
        errors = torch.cat([each.targets - each.values.detach() for each in targets], 1)  # [T, B]
        mean = valid_mean(errors, rollout.valid)
        variance = float(valid_mean((errors - mean).square(), rollout.valid))
        averages = Averages()
        averages.add({f"replay/{name}": 0.0 for name in _TOLD}, 0.0)
        if not isfinite(variance):  # nothing is learned from such a rollout, now or later
            return {
                **averages.means(),
                **self._replay.statistics(drawn=False),
                "replay/td_variance": variance,
                **self._replay.taken_seconds(),
            }
        due = self._is_due(variance)
        if due:
            # Drawn before the rollout is kept, so that nothing is learned from twice in one update.
            replayed = self._replay.draw(knobs.values.get("replay_beta", 0.0), self._trainee.updates)
            self._replay.reprioritise(replayed, self._learn(replayed, knobs["entropy_cost"], averages))
        self._replay.push(rollout, lane_errors(errors, rollout.valid))
        return {
            **averages.means(),
            **self._replay.statistics(drawn=due),
            "replay/td_variance": variance,
            **self._replay.taken_seconds(),
        }

    def _is_due(self, variance: float) -> bool:
        config, usual = self._config.replay, self._variance_mean
        self._variance_mean = (
            variance if usual is None else VARIANCE_MEMORY * usual + (1.0 - VARIANCE_MEMORY) * variance
        )
        by_count = config.every_updates > 0 and (self._trainee.updates + 1) % config.every_updates == 0
        by_variance = config.variance_trigger > 0 and usual is not None and variance > config.variance_trigger * usual
        return self._replay.can_draw and (by_count or by_variance)

    def _learn(self, replayed: Replayed, entropy_cost: float, averages: Averages) -> Tensor:
        """Add the segments' gradient, in as many parts as the rollout's; returns their mean absolute errors [B]."""
        segments, weights = replayed.segments, replayed.weights
        normaliser = segments.valid.sum().clamp(min=1)
        num_lanes = segments.rewards.shape[1]
        part = -(-num_lanes // self._config.optimizer.accumulation)
        errors = []
        for first in range(0, num_lanes, part):
            lanes = some_lanes(segments, first, first + part)
            targets = make_targets(self._trainee, lanes, self._config)
            self._accumulate(targets, weights[first : first + part], normaliser, entropy_cost, averages)
            errors.append(lane_errors(targets.targets - targets.values.detach(), targets.valid))
        return torch.cat(errors)

    def _accumulate(
        self, targets: Targets, weights: Tensor, normaliser: Tensor, entropy_cost: float, averages: Averages
    ) -> None:
        valid, chosen, config = targets.valid, targets.chosen, self._config
        each = weights.expand_as(targets.values)  # [T, b]
        policy = policy_gradient_loss(targets.log_probs, each * targets.advantages, chosen, normaliser)
        value = valid_sum(each * 0.5 * (targets.values - targets.targets).square(), valid) / normaliser
        entropy = entropy_loss(each * targets.entropies, chosen, normaliser)
        total = config.replay.cost * (policy + config.value_cost * value + entropy_cost * entropy)
        total.backward()  # type: ignore[no-untyped-call]
        share = valid.sum() / normaliser
        rhos = targets.log_rhos.exp()
        clipped = rhos > config.rho_clip * (1.0 + 1e-4)
        averages.add(
            {
                "replay/loss_policy": policy / share.clamp(min=1e-8),
                "replay/loss_value": value / share.clamp(min=1e-8),
                "replay/loss_total": total / share.clamp(min=1e-8),
                "replay/weight_mean": valid_mean(each, valid),
            },
            share,
        )
        averages.add(
            {
                "replay/rho_mean": valid_mean(rhos, chosen),
                "replay/rho_clipped_fraction": valid_mean(clipped.float(), chosen),
            },
            chosen.sum() / normaliser,
        )

    def state(self) -> StateTree:
        """What is kept, and how much errors vary as a rule."""
        return {**self._replay.state(), "variance_mean": self._variance_mean}

    def restore(self, state: StateTree) -> None:
        """Both again."""
        self._replay.restore(state)
        self._variance_mean = state["variance_mean"]


def lane_errors(errors: Tensor, valid: Tensor) -> Tensor:
    """The mean absolute error [B] over each lane's valid rows; 0 where there are none."""
    return errors.abs().masked_fill(~valid, 0.0).sum(0) / valid.sum(0).clamp(min=1)
