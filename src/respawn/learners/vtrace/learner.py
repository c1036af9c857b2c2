"""The V-trace actor-critic (IMPALA; Espeholt et al. 2018, https://arxiv.org/abs/1802.01561)."""

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.learner import Weights
from respawn.contracts.records import LearnReport, Rollout
from respawn.contracts.saveable import StateTree
from respawn.learners.averages import Averages
from respawn.learners.config import ENTROPY_COSTS, LEARNING_RATES
from respawn.learners.soundness import LOSSES
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.learners.vtrace.replay_mix import ReplayMix
from respawn.learners.vtrace.targets import Targets, make_targets
from respawn.maths.diagnostics import approximate_kl, explained_variance, valid_mean
from respawn.maths.losses import entropy_loss, policy_gradient_loss, value_loss
from respawn.memory.rollouts import some_lanes


class VTraceLearner:
    """One optimizer step a rollout, corrected for the age of the weights that gathered it."""

    def __init__(self, trainee: Trainee, config: VTraceConfig) -> None:
        self._trainee = trainee
        self._config = config
        self._mix = ReplayMix(trainee, config) if config.replay.is_on else None

    @property
    def knobs(self) -> tuple[KnobSpec, ...]:
        """Learning rate and price of entropy; with replay that prefers anything, how far its weights undo that."""
        prefers = self._config.replay.is_on and self._config.replay.alpha > 0.0
        replays = (KnobSpec("replay_beta", 1.0, 0.0, 1.0),) if prefers else ()
        return (
            KnobSpec("learning_rate", self._config.optimizer.learning_rate, *LEARNING_RATES),
            KnobSpec("entropy_cost", self._config.entropy_cost, *ENTROPY_COSTS),
            *replays,
        )

    def learn(self, rollout: Rollout, knobs: Knobs) -> LearnReport:
        """One update over all lanes, in as many parts as accumulation asks for."""
        optimizer = self._trainee.optimizer
        self._trainee.model.sample_noise(self._trainee.generator)
        optimizer.zero()
        averages = Averages()
        normaliser = rollout.valid.sum().clamp(min=1)
        num_lanes = rollout.rewards.shape[1]
        part = -(-num_lanes // self._config.optimizer.accumulation)
        valued: list[Targets] = []
        for first in range(0, num_lanes, part):
            targets = make_targets(self._trainee, some_lanes(rollout, first, first + part), self._config)
            self._accumulate(targets, normaliser, knobs, averages)
            valued.append(targets)
        replayed = self._mix.join(rollout, valued, knobs) if self._mix is not None else {}
        norm = optimizer.step(knobs["learning_rate"], averages.are_finite(LOSSES))
        self._trainee.updates += 1
        averages.add({"gradient/norm": norm, "gradient/clipped_fraction": optimizer.was_clipped(norm)})
        # The variance of the whole is not the mean of the parts' variances, so it has to wait for all of them.
        values = torch.cat([each.values.detach() for each in valued], 1)
        learned = torch.cat([each.targets for each in valued], 1)
        means = averages.means()
        return LearnReport(
            {
                **means,
                **replayed,
                "value/explained_variance": float(explained_variance(values, learned, rollout.valid)),
                "weights/lag": float(self._trainee.updates - 1 - rollout.weights_version),
            }
        )

    def _accumulate(self, targets: Targets, normaliser: Tensor, knobs: Knobs, averages: Averages) -> None:
        valid = targets.valid
        # A forced action cannot be corrected for: what else the policy might have done there was never tried.
        chosen = targets.chosen
        policy = policy_gradient_loss(targets.log_probs, targets.advantages, chosen, normaliser)
        value = value_loss(targets.values, targets.targets, valid, normaliser)
        entropy = entropy_loss(targets.entropies, chosen, normaliser)
        total = policy + self._config.value_cost * value + knobs["entropy_cost"] * entropy
        total.backward()  # type: ignore[no-untyped-call]
        share = valid.sum() / normaliser
        rhos = targets.log_rhos.exp()
        # Data of the same policy has ratios of 1 give or take rounding, which is no reason to speak of clipping.
        clipped = rhos > self._config.rho_clip * (1.0 + 1e-4)
        behaviour_log_probs = targets.log_probs.detach() - targets.log_rhos
        averages.add(
            {
                # The losses are already divided by the whole batch's count; the weight would do so again.
                "loss/policy": policy / share.clamp(min=1e-8),
                "loss/value": value / share.clamp(min=1e-8),
                "loss/total": total / share.clamp(min=1e-8),
                "policy/entropy": valid_mean(targets.entropies, valid),
                "value/mean": valid_mean(targets.values, valid),
            },
            share,
        )
        averages.add(
            {
                "policy/kl": approximate_kl(targets.log_probs, behaviour_log_probs, chosen),
                "policy/rho_mean": valid_mean(rhos, chosen),
                "policy/rho_clipped_fraction": valid_mean(clipped.float(), chosen),
            },
            chosen.sum() / normaliser,
        )

    def weights(self) -> Weights:
        """The weights as they are now."""
        return self._trainee.weights()

    def state(self) -> StateTree:
        """The trainee's, and what is kept for replay."""
        replay = {} if self._mix is None else {"replay": self._mix.state()}
        return {**self._trainee.state(), **replay}

    def restore(self, state: StateTree) -> None:
        """Both again; a state without replay leaves it as it is."""
        self._trainee.restore(state)
        if self._mix is not None and "replay" in state:
            self._mix.restore(state["replay"])
