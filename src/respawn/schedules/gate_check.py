"""Whether a gate's limits leave room for a policy to pass: what contradicts itself, and what nobody can reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from respawn.errors import ConfigError
from respawn.schedules.gate_config import (
    DEATH_P10,
    EARLY_DEATH,
    STEP_ONE_COUNT,
    STEP_ONE_EXCESS,
    STEP_ONE_RATIO,
    SURVIVAL_MEAN,
    SURVIVAL_WORST,
    Criterion,
    GateConfig,
    criteria_for,
)

_P10_SHARE = 0.10
_EARLY_STEP = 100


@dataclass(frozen=True)
class GateCeiling:
    """What is known of the evaluations that a gate will judge; what is not, is not checked."""

    doomed_fraction: float | None = None
    """share of the population that is lost whatever anybody does"""
    population: int | None = None
    """how many live in one evaluation, all episodes together"""
    horizon: int | None = None
    """the most steps an episode lasts"""
    evaluation_every: int | None = None
    """updates between two evaluations"""
    planned_updates: int | None = None
    """updates of the whole run"""
    null_policies: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """metrics of policies that have learned nothing, by their names"""


def refuse_unsound(config: GateConfig, ceiling: GateCeiling | None = None) -> None:
    """Raise ConfigError where limits contradict each other, or where no policy, or any policy, can pass."""
    found = _about_limits(config, ceiling or GateCeiling())
    if found:
        raise ConfigError(f"the gate cannot work as configured: {'; '.join(found)}; change these limits")


def explain_gate(config: GateConfig, ceiling: GateCeiling | None = None) -> list[str]:
    """All that stands in a gate's way, one sentence each."""
    known = ceiling or GateCeiling()
    return [*_about_limits(config, known), *(_about_time(config, known) if config.mode == "legacy" else ())]


def _about_limits(config: GateConfig, ceiling: GateCeiling) -> list[str]:
    found: list[str] = []
    for kind in config.kinds:
        success, failure = criteria_for(config.success, kind), criteria_for(config.failure, kind)
        found += _contradictions(success, failure)
        for criterion in success:
            out_of_reach = _out_of_reach(criterion, ceiling)
            if out_of_reach:
                found.append(f"no policy can keep {criterion.told()}, because {out_of_reach}")
        found += _met_by_nobody_who_learned(success, ceiling, kind)
    return list(dict.fromkeys(found))  # kinds share most of their criteria


def _contradictions(success: tuple[Criterion, ...], failure: tuple[Criterion, ...]) -> list[str]:
    found = []
    wins = {criterion.metric: criterion for criterion in success}
    for loss in failure:
        win = wins.get(loss.metric)
        if win is not None and (win.at_least is None) != (loss.at_least is None):
            found.append(f"success asks for {win.told()} and failure watches {loss.told()}, which are opposite bounds")
        elif win is not None and not _is_strictly_laxer(loss, win):
            found.append(f"a success needs {win.told()}, but it is already a failure without {loss.told()}")
        if loss.metric == DEATH_P10 and loss.at_least is not None:
            found += _early_against_p10(wins, loss)
    return found


def _is_strictly_laxer(loss: Criterion, win: Criterion) -> bool:
    return loss.limit < win.limit if loss.at_least is not None else loss.limit > win.limit


def _early_against_p10(wins: Mapping[str, Criterion], loss: Criterion) -> list[str]:
    """A tenth dead before step 100 and a 10th percentile below 100 are the same statement."""
    early, p10 = wins.get(EARLY_DEATH), wins.get(DEATH_P10)
    if early is None or early.limit <= _P10_SHARE or (p10 is not None and p10.limit > loss.limit):
        return []
    return [
        f"a success may have {early.told()}, but where more than {_P10_SHARE:g} are dead before step {_EARLY_STEP} the "
        f"10th percentile is below {_EARLY_STEP}, and it is a failure without {loss.told()}"
    ]


def _out_of_reach(criterion: Criterion, ceiling: GateCeiling) -> str | None:
    """Why nobody can keep a limit; None: somebody may."""
    limit, doomed = criterion.limit, ceiling.doomed_fraction
    if criterion.metric == STEP_ONE_EXCESS and limit < 0:
        return "an excess below 0 would save some who cannot be saved"
    if criterion.metric == DEATH_P10 and ceiling.horizon is not None and limit > ceiling.horizon:
        return f"an episode lasts {ceiling.horizon} steps at most"
    if doomed is None:
        return None
    lost = f"{doomed:.4g} of these starts are lost whatever anybody does"
    if criterion.metric in (SURVIVAL_MEAN, SURVIVAL_WORST) and limit > 1.0 - doomed:
        return lost
    if criterion.metric in (STEP_ONE_RATIO, EARLY_DEATH) and limit < doomed:
        return lost
    if criterion.metric == STEP_ONE_COUNT and ceiling.population and limit < doomed * ceiling.population:
        return f"{lost}, {doomed * ceiling.population:.0f} of {ceiling.population}"
    if criterion.metric == DEATH_P10 and doomed > _P10_SHARE and limit > 1:
        return lost
    return None


def _met_by_nobody_who_learned(success: tuple[Criterion, ...], ceiling: GateCeiling, kind: str) -> list[str]:
    found = []
    for name, metrics in ceiling.null_policies.items():
        known = [criterion for criterion in success if criterion.metric in metrics]
        if known and all(criterion.kept_by(metrics[criterion.metric]) for criterion in known):
            where = f" ({kind})" if kind else ""
            limits = ", ".join(criterion.told() for criterion in known)
            found.append(f"the policy '{name}', which has learned nothing, keeps every limit{where}: {limits}")
    return found


def _about_time(config: GateConfig, ceiling: GateCeiling) -> list[str]:
    """How a legacy gate gets in its own way; a sound one has none of these."""
    found = [
        f"{criterion.told()} can never be kept, because a window of 1 has no median there"
        for criterion in config.success
        if criterion.rule == "last_and_median" and criterion.window == 1
    ]
    every = ceiling.evaluation_every
    if every is None:
        return found
    if config.required_successes > 1 and config.success_freeze_updates > every:
        found.append(
            f"success-freeze-updates ({config.success_freeze_updates}) outlast the {every} updates to the next one: "
            "that evaluation is frozen, which wipes the streak"
        )
    if config.freeze_updates <= every:
        found.append(
            f"freeze-updates ({config.freeze_updates}) end before the next evaluation, {every} updates later: no "
            "freeze is ever felt"
        )
    if ceiling.planned_updates is not None:
        judged = ceiling.planned_updates // every - config.lock_until // every
        needed = config.required_successes * (len(config.allowance) - 1)
        if judged < needed:
            found.append(
                f"only {judged} evaluations come after the lock ({config.lock_until}), and the last stage needs "
                f"{needed} successes"
            )
    return found
