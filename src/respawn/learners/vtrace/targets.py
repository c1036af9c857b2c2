"""From a rollout, through the model, to V-trace targets."""

from dataclasses import dataclass

from torch import Tensor

from respawn.contracts.records import Rollout
from respawn.learners.trainee import Trainee
from respawn.learners.vtrace.config import VTraceConfig
from respawn.maths.bootstrap import next_values
from respawn.maths.vtrace import vtrace


@dataclass(frozen=True, slots=True)
class Targets:
    """What the model says about T rows of B lanes (with gradient), and what it should have said (without)."""

    log_probs: Tensor  # [T, B]
    entropies: Tensor  # [T, B]
    values: Tensor  # [T, B]
    log_rhos: Tensor  # [T, B] without gradient; 0 where nobody decided
    targets: Tensor  # [T, B] without gradient
    advantages: Tensor  # [T, B] without gradient
    valid: Tensor  # [T, B] bool
    chosen: Tensor  # [T, B] bool; valid, and by the policy itself: nobody forced it


def make_targets(trainee: Trainee, rollout: Rollout, config: VTraceConfig) -> Targets:
    """One forward pass serves both: the outputs to improve and the targets to improve them by."""
    unrolled = trainee.unroll_rollout(rollout)
    parameters = unrolled.parameters[:-1]
    distribution = trainee.model.distribution
    log_probs = distribution.log_prob(parameters, rollout.actions)
    # Where nobody decided there is nothing to correct, and what stands there as an action must not cut the trace.
    log_rhos = (log_probs.detach() - rollout.behaviour_log_probs).masked_fill(~rollout.valid, 0.0)
    values = unrolled.values.detach()
    learned = vtrace(
        log_rhos,
        rollout.rewards,
        values[:-1],
        next_values(values, rollout.terminated, rollout.cuts, unrolled.cut_values.detach()),
        rollout.terminated | rollout.truncated,
        discount=config.discount,
        rho_clip=config.rho_clip,
        c_clip=config.c_clip,
        pg_rho_clip=config.rho_clip,
        trace_decay=config.trace_decay,
    )
    return Targets(
        log_probs=log_probs,
        entropies=distribution.entropy(parameters),
        values=unrolled.values[:-1],
        log_rhos=log_rhos,
        targets=learned.targets,
        advantages=learned.advantages,
        valid=rollout.valid,
        chosen=rollout.valid & ~rollout.scripted,
    )
