"""What schedules decide reaches rewards and losses, gathered and learned from in turn or at once.

The learning rate is 0, so two runs do the same in the same world, and differ by the knob alone.
"""

from dataclasses import replace

import pytest
import torch
from heard_runs import LANES, gathered_with, small_run, ways

from respawn.errors import ConfigError
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig
from respawn.schedules.windows import KnobWindow
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import RewardConfig

SMALL = small_run(5, LANES)
CURVES = {
    "linear": (CurveConfig("linear", final_fraction=3.0), [1.0, 1.4, 1.8, 2.2, 2.6]),
    "cosine": (CurveConfig("cosine", final_fraction=0.0), [1.0, 0.904508, 0.654508, 0.345492, 0.095492]),
    "piecewise": (
        CurveConfig("piecewise", points=((0.2, 1.0), (0.4, 0.5), (0.8, 0.5), (0.8, 2.0))),
        [1, 1, 0.5, 0.5, 2],
    ),
}
COLLECTIONS = ways(LANES)
ONLY = {
    "reward_distance": RewardConfig(distance=0.1, time=0.0, flag=0.0, death=0.0, falls_pay=True),
    "reward_scale": RewardConfig(flag=0.0, death=0.0),
    "reward_death": RewardConfig(distance=0.0, time=0.0, flag=0.0, death=-1.0),
    "reward_flag": RewardConfig(distance=0.0, time=0.0, flag=10.0, death=0.0),
    "reward_time": RewardConfig(distance=0.0, time=-0.1, flag=0.0, death=0.0),
    "reward_score": RewardConfig(distance=0.0, score=0.01, time=0.0, flag=0.0, death=0.0),
    "reward_milestone": RewardConfig(distance=0.0, time=0.0, flag=0.0, death=0.0, milestone=1.0, milestone_pixels=16),
}


def mario(collection="sync", rewards=None, **schedules):
    world = replace(SMALL.world, rewards=rewards or RewardConfig())
    return replace(
        SMALL, world=world, collection=COLLECTIONS[collection], schedules=replace(SMALL.schedules, **schedules)
    )


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("knob", ONLY)
@pytest.mark.parametrize("shape", CURVES)
def test_curves_reach_the_reward(shape, knob, collection, train):
    curve, factors = CURVES[shape]
    before = train(mario(collection, ONLY[knob]))
    after = train(mario(collection, ONLY[knob], **{knob: curve}))
    for one, other, factor in zip(before.rollouts, after.rollouts, gathered_with(factors, collection), strict=True):
        assert one.rewards.count_nonzero() > 0
        torch.testing.assert_close(other.rewards, one.rewards * factor, rtol=1e-4, atol=1e-6)
        assert torch.equal(one.actions, other.actions)  # a knob of rewards changes no policy
        assert torch.equal(one.behaviour_log_probs, other.behaviour_log_probs)


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("shape", CURVES)
def test_curves_of_entropy_reach_the_loss_of_their_own_update(shape, collection, train):
    curve, factors = CURVES[shape]
    before, after = train(mario(collection)), train(mario(collection, entropy_cost=curve))
    for one, other, factor in zip(before.said, after.said, factors, strict=True):
        price = 0.01 * (factor - 1.0)
        assert other["policy/entropy"] == one["policy/entropy"] > 0.0
        assert other["loss/total"] - one["loss/total"] == pytest.approx(-price * one["policy/entropy"], abs=1e-6)
        assert one["policy/kl"] == other["policy/kl"] == pytest.approx(0.0, abs=1e-6)  # acting and learning agree


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_early_shaping_reaches_the_reward(collection, train):
    rewards = ONLY["reward_distance"]
    window = KnobWindow("reward_distance", first=1, last=2, value=0.2)
    before, after = train(mario(collection, rewards)), train(mario(collection, rewards, windows=(window,)))
    factors = gathered_with([2.0, 2.0, 1.0, 1.0, 1.0], collection)
    for plain, shaped, factor in zip(before.of_each("rewards"), after.of_each("rewards"), factors, strict=True):
        torch.testing.assert_close(shaped, plain * factor, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("signal", ["world/forward_share", "policy/entropy", "return/mean"])
def test_a_channel_reaches_the_reward(signal, collection, train):
    """The signal is far above its band, so the weight halves its way to the lower bound after every report of it."""
    rewards = ONLY["reward_distance"]
    channel = AdaptiveConfig(
        signal, "reward_distance", low=-9.0, high=1e-3, lowest=0.02, highest=0.5, window=1, step=0.5
    )
    before, after = train(mario(collection, rewards)), train(mario(collection, rewards, adaptive=(channel,)))
    weights = [row["knob/reward_distance"] for row in after.rows]
    assert weights[0] == 0.1 and weights[-1] < 0.05 and weights == sorted(weights, reverse=True)
    held = gathered_with(weights, collection)
    for plain, adapted, weight in zip(before.of_each("rewards"), after.of_each("rewards"), held, strict=True):
        torch.testing.assert_close(adapted, plain * (weight / 0.1), rtol=1e-4, atol=1e-6)
    told = [row["facts"] for row in after.rulings if row["schedule"] == "adaptive"]
    assert [facts["knob_value"] for facts in told][:-1] == weights[1:]
    assert [facts["newest"] for facts in told] == [row.get(signal) for row in after.rows]


def test_the_share_of_ground_that_is_new_does_not_saturate(train):
    shares = [row["world/forward_share"] for row in train(mario()).rows]
    assert all(0.0 < share < 1.0 for share in shares) and len(set(shares)) > 1


@pytest.mark.parametrize("collection", ["sync", "overlap"])
def test_a_channel_turns_the_learning_rate_of_its_own_update(collection, train):
    channel = AdaptiveConfig(
        "policy/entropy", "learning_rate", low=0.0, high=0.1, lowest=0.1, highest=2.0, mode="scale", window=2, step=0.5
    )
    config = mario(collection, adaptive=(channel,), learning_rate=CurveConfig("linear", final_fraction=0.5))
    rates = [row["knob/learning_rate"] for row in train(config).rows]
    base = config.learner.optimizer.learning_rate
    assert rates == pytest.approx([base * f for f in (1.0, 0.9, 0.8 * 0.55, 0.7 * 0.325, 0.6 * 0.2125)])


@pytest.mark.parametrize("collection", ["sync", "overlap"])
def test_a_channel_turns_the_fishes_penalty(collection, train):
    """A penalty of crowding that comes with entropy: the rewards of the schools fall."""
    channel = AdaptiveConfig(
        "policy/entropy", "density_penalty", low=0.0, high=0.1, lowest=0.0, highest=0.5,
        below="lowest", above="highest", window=2, step=0.5,
    )  # fmt: skip
    plain = replace(
        mario(collection),
        world=FishConfig(fish=8, limit_steps=40, density_target=0.0),
        collection=replace(COLLECTIONS[collection], horizon_steps=8),
    )
    before, after = train(plain), train(replace(plain, schedules=replace(plain.schedules, adaptive=(channel,))))
    penalties = [row["knob/density_penalty"] for row in after.rows]
    assert penalties == [0.0, 0.0, 0.25, 0.375, 0.4375]
    held = gathered_with(penalties, collection)
    for one, other, penalty in zip(before.of_each("rewards"), after.of_each("rewards"), held, strict=True):
        assert (other.sum() < one.sum()) if penalty else torch.equal(one, other)


def test_a_signal_that_never_comes_ends_the_run(train):
    channel = AdaptiveConfig(
        "world/forwards_share", "ppo_clip", low=0.0, high=0.1, lowest=0.1, highest=0.3, window=1, patience_updates=2
    )
    with pytest.raises(ConfigError, match=r"has not appeared in 2 updates; did you mean world/forward_share\?"):
        train(mario(adaptive=(channel,)))
