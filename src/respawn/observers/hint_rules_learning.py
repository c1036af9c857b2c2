"""Hints about how it learns: policy, critic, gradients, replay.

Most limits are relative to the run's own past, or to what is possible at all: losses and gradients have the unit of the
rewards, so no number of them is large in itself.
"""

from math import isnan, log, nan
from statistics import median

from respawn.observers.hint_rule import Grounds, Rule
from respawn.observers.hint_view import BLOCK_ROWS, HintView

UNIFORM_ROWS = 50
UNIFORM_SHARE = 0.95
"""Of the entropy of pure chance. A run of two million steps that had learned nothing stood at 0.952; healthy ones are
below 0.9 after a hundred updates."""
DECIDED_SHARE = 0.02
"""Healthy runs stay above 0.15 of the entropy of pure chance to their end."""
ONE_ACTION_SHARE = 0.99
SHORT_ROWS = 20
WAVERING_SHARE = 0.1
"""of all that returns have gained, they may be below the best and count as no worse"""
LONG_ROWS = 100

LARGE_KL = 0.1
"""Five times the upper end of what is usual for PPO; the highest of single rows in healthy runs was 0.022."""
NEGATIVE_VARIANCE = -0.1
"""Around 0 the critic only has not learned yet; below, it is worse than a constant."""
EXPLODED_TIMES = 20.0
"""Times what it was where returns were as good. Values that follow rising returns grow too, and are let off."""
FAR_CLIPPED_TIMES = 20.0
"""Times the limit. At the beginning most runs are clipped always, a few times over, and get on well."""
STARVED_FILL = 0.05


def _earliest(view: HintView, updates: int) -> bool:
    """Whether it is late enough to judge: after so many updates, or half of a plan that is short, but never at once."""
    return view.update >= max(min(updates, view.facts.planned_updates // 2), UNIFORM_ROWS)


def policy_uniform(view: HintView) -> Grounds | None:
    """The policy is as undecided as on the first day."""
    num_actions, entropies = view.facts.num_actions, view.recent("policy/entropy", UNIFORM_ROWS)
    if num_actions is None or num_actions < 2 or entropies is None or not _earliest(view, 100):
        return None
    share = min(entropies) / log(num_actions)
    return {"share": share, "entropy": entropies[-1]} if share > UNIFORM_SHARE else None


def _fixed_action(view: HintView) -> tuple[str, float] | None:
    shares = {} if view.was_scripted(SHORT_ROWS) else view.action_shares(SHORT_ROWS)
    if len(shares) < 2:
        return None
    action = max(shares, key=lambda name: shares[name])
    return (action, shares[action]) if shares[action] >= ONE_ACTION_SHARE else None


def one_action(view: HintView) -> Grounds | None:
    """The policy does nearly always the same."""
    found = _fixed_action(view)
    return None if found is None else {"action": found[0], "share": found[1], "updates": SHORT_ROWS}


def decided_early(view: HintView) -> Grounds | None:
    """The policy no longer explores, though most of the plan is ahead and episodes still end very differently."""
    num_actions, entropies = view.facts.num_actions, view.recent("policy/entropy", SHORT_ROWS)
    mean, spread = view.middle("return/mean", SHORT_ROWS), view.middle("return/std", SHORT_ROWS)
    if num_actions is None or num_actions < 2 or entropies is None or mean is None or spread is None:
        return None
    if 2 * view.update > view.facts.planned_updates or _fixed_action(view) is not None:
        return None
    share = max(entropies) / log(num_actions)
    # Where nothing is left to learn, as in a solved CartPole, a decided policy is as it should be.
    is_unsolved = spread > 0.1 * abs(mean)
    return {"share": share, "entropy": entropies[-1]} if share < DECIDED_SHARE and is_unsolved else None


def _moved(view: HintView) -> tuple[float, float, float] | None:
    """How far the policy that learns is from the one that acted, what is far, and by how many updates that is older.

    With V-trace this is a matter of old weights alone. How many of its ratios are clipped says nothing of it: with the
    clip at 1 it is half of them as soon as the two policies differ at all.
    """
    limit = max(LARGE_KL, 2 * view.facts.kl_limit)
    kl, lag = view.middle("policy/kl", SHORT_ROWS), view.middle("weights/lag", SHORT_ROWS)
    return None if kl is None or lag is None or kl <= limit else (kl, limit, lag)


def kl_large(view: HintView) -> Grounds | None:
    """Updates move the policy far, one after the other."""
    moved = _moved(view)
    return None if moved is None or moved[2] >= 1 else {"kl": moved[0], "limit": moved[1]}


def explained_variance_negative(view: HintView) -> Grounds | None:
    """The critic is worse than a constant, and errs as much as ever."""
    variance, loss = view.middle("value/explained_variance", UNIFORM_ROWS), view.middle("loss/value", UNIFORM_ROWS)
    earlier = view.earlier("loss/value")
    if variance is None or loss is None or not earlier or not _earliest(view, LONG_ROWS):
        return None
    # Where targets hardly differ, as in a solved CartPole, no critic explains them; but then its loss has become small.
    still_errs = loss > 0.1 * max(earlier)
    return {"explained_variance": variance} if variance < NEGATIVE_VARIANCE and still_errs else None


def value_loss_exploding(view: HintView) -> Grounds | None:
    """The value loss is the highest there was, and many times what it was where returns were as good."""
    *earlier, (loss, returned) = view.blocks("loss/value", "return/mean") or [(nan, nan)]
    highest = max(view.earlier("loss/value"), default=nan)
    as_good = [before for before, then in earlier if not isnan(before) and (isnan(returned) or then >= returned)]
    # Against the median: a loss that explodes little by little is soon the highest many times over.
    if not as_good or not loss > max(highest, EXPLODED_TIMES * median(as_good)):
        return None
    return {"loss": loss, "usual": median(as_good), "updates": BLOCK_ROWS}


def loss_high(view: HintView) -> Grounds | None:
    """Values are wrong by more than any of the recent episodes returned."""
    loss = view.middle("loss/value", UNIFORM_ROWS)
    high, low = view.recent("return/max", UNIFORM_ROWS), view.recent("return/min", UNIFORM_ROWS)
    if loss is None or high is None or low is None:
        return None
    # Episodes that are cut are worth more than they returned; where most are, returns say little about values.
    terminated = view.middle("episodes/terminated_fraction", UNIFORM_ROWS)
    largest = max(max(abs(value) for value in high), max(abs(value) for value in low))
    error = (2 * loss) ** 0.5  # the loss is half the mean square
    if terminated is None or terminated < 0.5 or largest == 0 or error <= largest:
        return None
    return {"error": error, "largest_return": largest, "updates": UNIFORM_ROWS}


def gradients_clipped(view: HintView) -> Grounds | None:
    """Every gradient is cut, to a small part of what it was, and the policy does not get better by it."""
    clipped = view.recent("gradient/clipped_fraction", LONG_ROWS)
    norm, limit = view.middle("gradient/norm", LONG_ROWS), view.facts.gradient_norm
    if clipped is None or norm is None or limit <= 0 or min(clipped) < 1.0 or norm <= FAR_CLIPPED_TIMES * limit:
        return None
    if _has_got_better(view):
        return None
    return {"norm": norm, "limit": limit, "updates": LONG_ROWS}


def _has_got_better(view: HintView) -> bool:
    """Whether returns are higher than they were, and still about the best there were."""
    now, before = view.middle("return/mean", SHORT_ROWS), view.earlier("return/mean")
    if now is None or not before or now <= min(before):
        return False
    return now >= max(before) - WAVERING_SHARE * (max(before) - min(before))


def weights_stale(view: HintView) -> Grounds | None:
    """What is learned from was gathered by a policy that is far from the one that learns."""
    moved = _moved(view)
    return None if moved is None or moved[2] < 1 else {"kl": moved[0], "limit": moved[1], "lag": moved[2]}


def replay_starved(view: HintView) -> Grounds | None:
    """There is replay, and nothing comes of it: hardly anything is kept, or nothing is drawn."""
    fill, drawn = view.latest("replay/fill"), view.recent("replay/sampled", LONG_ROWS)
    if not view.facts.has_replay or fill is None or drawn is None:
        return None
    is_empty = fill < STARVED_FILL and view.update >= 300
    return {"fill": fill, "drawn": sum(drawn) / LONG_ROWS} if is_empty or max(drawn) == 0 else None


def updates_dropped(view: HintView) -> Grounds | None:
    """More than one update in twenty had to be thrown away."""
    dropped = view.recent("learn/dropped", LONG_ROWS)
    count = 0 if dropped is None else sum(1 for value in dropped if value > 0)
    return {"dropped": count, "updates": LONG_ROWS} if count > LONG_ROWS // 20 else None


RULES = (
    Rule(
        "policy-uniform",
        policy_uniform,
        "the policy is still {share:.0%} of pure chance: see that rewards differ at all, then raise "
        "--learner.optimizer.learning-rate or lower --learner.entropy-cost",
    ),
    Rule(
        "one-action",
        one_action,
        "action {action} was {share:.1%} of all decisions for {updates} updates: begin again with a higher "
        "--learner.entropy-cost or a lower --learner.optimizer.learning-rate",
    ),
    Rule(
        "decided-early",
        decided_early,
        "the policy has all but stopped exploring ({share:.1%} of the entropy of chance) before half of its plan: "
        "raise --learner.entropy-cost, or where a curve lowers it, --schedules.entropy-cost.final-fraction",
    ),
    Rule(
        "kl-large",
        kl_large,
        "updates move the policy by {kl:.3g} nats, above {limit:.3g}: lower --learner.optimizer.learning-rate, or with "
        "PPO set --learner.kl-limit 0.02 or fewer --learner.epochs",
    ),
    Rule(
        "explained-variance-negative",
        explained_variance_negative,
        "the critic predicts worse than a constant (explained variance {explained_variance:.2f}): give it a network of "
        "its own with --model.separate-value, lower --learner.discount, or raise --learner.value-cost",
    ),
    Rule(
        "value-loss-exploding",
        value_loss_exploding,
        "the value loss is {loss:.3g} over {updates} updates, the highest there was, and was {usual:.3g} where returns "
        "were as good: lower --learner.optimizer.learning-rate or --learner.optimizer.gradient-norm, and go on from an "
        "earlier checkpoint with --weights-from RUN@best",
    ),
    Rule(
        "loss-high",
        loss_high,
        "values are wrong by {error:.3g} on average, more than any recent return ({largest_return:.3g}): lower "
        "--learner.optimizer.learning-rate, or scale the rewards down",
    ),
    Rule(
        "gradients-clipped",
        gradients_clipped,
        "every gradient of {updates} updates was cut, from {norm:.3g} to {limit:.3g}: scale the rewards down, lower "
        "--learner.value-cost, or raise --learner.optimizer.gradient-norm",
    ),
    Rule(
        "weights-stale",
        weights_stale,
        "weights that are {lag:g} updates old act {kl:.3g} nats away from those that learn, above {limit:.3g}: lower "
        "--collection.most-lag and --collection.actors, or use --collection.lag 0, or lower "
        "--learner.optimizer.learning-rate",
    ),
    Rule(
        "replay-starved",
        replay_starved,
        "replay is {fill:.1%} full and was drawn from in {drawn:.0%} of the last updates: lower "
        "--learner.replay.capacity-decisions, or --learner.replay.variance-trigger or every-updates if nothing is "
        "drawn",
    ),
    Rule(
        "updates-dropped",
        updates_dropped,
        "{dropped} of the last {updates} updates were thrown away, for their numbers were not finite: lower "
        "--learner.optimizer.learning-rate, or use --model.precision float32; the batches lie in the run folder",
    ),
)
