"""Proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.learner import Weights
from respawn.contracts.records import LearnReport, Rollout
from respawn.contracts.saveable import StateTree
from respawn.learners.averages import Averages
from respawn.learners.config import ENTROPY_COSTS, LEARNING_RATES
from respawn.learners.ppo.config import CLIPS, PPOConfig
from respawn.learners.ppo.minibatches import Minibatch, one_row, shuffled, whole_batch
from respawn.learners.soundness import not_finite
from respawn.learners.trainee import Trainee
from respawn.maths.bootstrap import next_values
from respawn.maths.diagnostics import approximate_kl, clipped_fraction, explained_variance, valid_mean
from respawn.maths.gae import gae
from respawn.maths.losses import clipped_surrogate_loss, clipped_value_loss, entropy_loss, normalised, value_loss


class PPOLearner:
    """Several passes of clipped policy improvement over each rollout."""

    def __init__(self, trainee: Trainee, config: PPOConfig) -> None:
        self._trainee = trainee
        self._config = config
        self._no_cuts = torch.zeros((0, 2), dtype=torch.int64)

    @property
    def knobs(self) -> tuple[KnobSpec, ...]:
        """Learning rate, price of entropy, clip."""
        config = self._config
        return (
            KnobSpec("learning_rate", config.optimizer.learning_rate, *LEARNING_RATES),
            KnobSpec("entropy_cost", config.entropy_cost, *ENTROPY_COSTS),
            KnobSpec("ppo_clip", config.clip, *CLIPS),
        )

    def learn(self, rollout: Rollout, knobs: Knobs) -> LearnReport:
        """One update: targets once, then passes over shuffled minibatches until done or moved too far."""
        # Noise is never saved, so none may be left over from the update before.
        self._trainee.model.sample_noise(self._trainee.generator)
        before = self._trainee.optimizer.copy()
        batch, explained = self._targets(rollout)
        averages = Averages()
        # An update that the KL limit ends before its first step has no gradient to speak of, but the same columns.
        averages.add({"gradient/norm": 0.0, "gradient/clipped_fraction": 0.0}, weight=0.0)
        epochs = 0
        for _ in range(self._config.epochs):
            if not self._one_pass(batch, knobs, averages):
                break
            epochs += 1
        self._trainee.updates += 1
        means = averages.means()
        if not_finite(means):  # an update of many steps is made as a whole, or not at all
            self._trainee.optimizer.put_back(before)
        return LearnReport(
            {
                **means,
                "value/explained_variance": float(explained),
                "value/mean": float(valid_mean(batch.values, batch.valid)),
                "policy/epochs": float(epochs),
                "weights/lag": float(self._trainee.updates - 1 - rollout.weights_version),
            }
        )

    def _targets(self, rollout: Rollout) -> tuple[Minibatch, Tensor]:
        config = self._config
        with torch.no_grad():
            unrolled = self._trainee.unroll_rollout(rollout)
        values = unrolled.values[:-1]
        learned = gae(
            rollout.rewards,
            values,
            next_values(unrolled.values, rollout.terminated, rollout.cuts, unrolled.cut_values),
            rollout.terminated | rollout.truncated,
            discount=config.discount,
            trace_decay=config.trace_decay,
        )
        explained = explained_variance(values, learned.targets, rollout.valid)
        if config.normalise_advantages:
            # Of forced rows no advantage is used, so they have no say in the scale of the others.
            chosen = rollout.valid & ~rollout.scripted
            learned = learned._replace(advantages=normalised(learned.advantages, chosen))
        batch = whole_batch(rollout, values, learned)
        return (batch if rollout.memory else one_row(batch)), explained

    def _one_pass(self, batch: Minibatch, knobs: Knobs, averages: Averages) -> bool:
        """One epoch; False if the KL limit ended it early."""
        optimizer = self._trainee.optimizer
        for minibatch in shuffled(batch, self._config.minibatches, self._trainee.generator):
            self._trainee.model.sample_noise(self._trainee.generator)
            optimizer.zero()
            kl = torch.zeros((), device=minibatch.targets.device)
            normaliser = minibatch.valid.sum().clamp(min=1)
            num_chosen = minibatch.chosen.sum().clamp(min=1)
            for part in minibatch.split(self._config.optimizer.accumulation):
                kl += self._accumulate(part, normaliser, knobs, averages) * (part.chosen.sum() / num_chosen)
            averages.add({"policy/kl": kl})
            if self._config.kl_limit > 0 and float(kl) > self._config.kl_limit:
                return False
            norm = optimizer.step(knobs["learning_rate"])
            averages.add({"gradient/norm": norm, "gradient/clipped_fraction": optimizer.was_clipped(norm)})
        return True

    def _accumulate(self, part: Minibatch, normaliser: Tensor, knobs: Knobs, averages: Averages) -> Tensor:
        """Add one part's gradient; returns its KL, over the rows that the policy chose."""
        config, model, clip = self._config, self._trainee.model, knobs["ppo_clip"]
        unrolled = self._trainee.unroll(
            part.observations, part.memory, part.starts, self._no_cuts, part.observations[0, :0]
        )
        log_probs = model.distribution.log_prob(unrolled.parameters, part.actions)
        entropies = model.distribution.entropy(unrolled.parameters)
        policy = clipped_surrogate_loss(
            log_probs, part.behaviour_log_probs, part.advantages, part.chosen, normaliser, clip=clip
        )
        if config.value_clip > 0:
            value = clipped_value_loss(
                unrolled.values, part.values, part.targets, part.valid, normaliser, clip=config.value_clip
            )
        else:
            value = value_loss(unrolled.values, part.targets, part.valid, normaliser)
        entropy = entropy_loss(entropies, part.chosen, normaliser)
        total = policy + config.value_cost * value + knobs["entropy_cost"] * entropy
        total.backward()  # type: ignore[no-untyped-call]
        share = part.valid.sum() / normaliser
        averages.add(
            {
                # The losses are already divided by the whole minibatch's count; the weight would do so again.
                "loss/policy": policy / share.clamp(min=1e-8),
                "loss/value": value / share.clamp(min=1e-8),
                "loss/total": total / share.clamp(min=1e-8),
                "policy/entropy": valid_mean(entropies, part.valid),
            },
            share,
        )
        clipped = clipped_fraction(log_probs, part.behaviour_log_probs, part.chosen, clip=clip)
        averages.add({"policy/clip_fraction": clipped}, part.chosen.sum() / normaliser)
        return approximate_kl(log_probs, part.behaviour_log_probs, part.chosen)

    def weights(self) -> Weights:
        """The weights as they are now."""
        return self._trainee.weights()

    def state(self) -> StateTree:
        """The trainee's."""
        return self._trainee.state()

    def restore(self, state: StateTree) -> None:
        """The trainee's."""
        self._trainee.restore(state)
