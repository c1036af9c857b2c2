"""What schedules decide reaches rewards and losses, gathered and learned from in turn or at once.

The learning rate is 0, so two runs do the same in the same world, and differ by the knob alone.
"""

import json
from dataclasses import replace

import pytest
import torch

from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.learners.ppo.learner import PPOLearner
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.windows import KnobWindow
from respawn.testing.fake_console import FakeGame
from respawn.training.config import RunConfig
from respawn.training.launch import begin
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario import world as mario_world
from respawn.worlds.mario.config import MarioConfig, RewardConfig

UPDATES = 5
STILL = SchedulesConfig(learning_rate=CurveConfig(initial_fraction=0.0))
CURVES = {
    "linear": (CurveConfig("linear", final_fraction=3.0), [1.0, 1.4, 1.8, 2.2, 2.6]),
    "cosine": (CurveConfig("cosine", final_fraction=0.0), [1.0, 0.904508, 0.654508, 0.345492, 0.095492]),
    "piecewise": (
        CurveConfig("piecewise", points=((0.2, 1.0), (0.4, 0.5), (0.8, 0.5), (0.8, 2.0))),
        [1, 1, 0.5, 0.5, 2],
    ),
}
LANES = CollectionConfig(num_lanes=8, horizon_steps=48)
COLLECTIONS = {"sync": LANES, "overlap": replace(LANES, lag=1), "overlap-serial": replace(LANES, lag=1, threaded=False)}
ONLY = {
    "reward_distance": RewardConfig(distance=0.1, time=0.0, flag=0.0, death=0.0, falls_pay=True),
    "reward_scale": RewardConfig(flag=0.0, death=0.0),
    "reward_death": RewardConfig(distance=0.0, time=0.0, flag=0.0, death=-1.0),
}


def mario(collection="sync", rewards=None, **schedules):
    return RunConfig(
        updates=UPDATES,
        planned_updates=UPDATES,
        device="cpu",
        world=MarioConfig(actions="right", rewards=rewards or RewardConfig(), start_jitter=8, limit_steps=60),
        model=ModelConfig(hidden_sizes=(8,)),
        learner=PPOConfig(epochs=1, minibatches=1, entropy_cost=0.01),
        collection=COLLECTIONS[collection],
        evaluation=EvaluationConfig(every_updates=0),
        observers=ObserversConfig(console=False, tensorboard=False),
        schedules=replace(STILL, **schedules),
    )


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Trains, and answers what was learned from in each update, what the learner said of it, and the folder."""
    monkeypatch.setattr(mario_world, "open_game", lambda *_: FakeGame())
    learn = PPOLearner.learn

    def run(config):
        rewards, actions, said = [], [], []

        def overheard(self, rollout, knobs):
            rewards.append(rollout.rewards.clone())
            actions.append((rollout.actions.clone(), rollout.behaviour_log_probs.clone()))
            report = learn(self, rollout, knobs)
            said.append(report.metrics)
            return report

        with monkeypatch.context() as patch:
            patch.setattr(PPOLearner, "learn", overheard)
            folder, _ = begin(config, preset="test", runs_dir=tmp_path, name=f"run-{len(list(tmp_path.iterdir()))}")
        return rewards, actions, said, folder

    return run


def gathered_with(factors, collection):
    """The knob of each rollout that was learned from: with lag 1 the first two are gathered with the first one's."""
    return factors if collection == "sync" else [factors[0], *factors[:-1]]


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("knob", ONLY)
@pytest.mark.parametrize("shape", CURVES)
def test_curves_reach_the_reward(shape, knob, collection, train):
    curve, factors = CURVES[shape]
    before, actions_before, _, _ = train(mario(collection, ONLY[knob]))
    after, actions_after, _, _ = train(mario(collection, ONLY[knob], **{knob: curve}))
    for rewards, changed, factor in zip(before, after, gathered_with(factors, collection), strict=True):
        assert rewards.count_nonzero() > 0
        torch.testing.assert_close(changed, rewards * factor, rtol=1e-4, atol=1e-6)
    for (one, certain), (other, as_certain) in zip(actions_before, actions_after, strict=True):
        assert torch.equal(one, other) and torch.equal(certain, as_certain)  # a knob of rewards changes no policy


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("shape", CURVES)
def test_curves_of_entropy_reach_the_loss_of_their_own_update(shape, collection, train):
    curve, factors = CURVES[shape]
    _, _, before, _ = train(mario(collection))
    _, _, after, _ = train(mario(collection, entropy_cost=curve))
    for one, other, factor in zip(before, after, factors, strict=True):
        price = 0.01 * (factor - 1.0)
        assert other["policy/entropy"] == one["policy/entropy"] > 0.0
        assert other["loss/total"] - one["loss/total"] == pytest.approx(-price * one["policy/entropy"], abs=1e-6)
        assert one["policy/kl"] == other["policy/kl"] == pytest.approx(0.0, abs=1e-6)  # acting and learning agree


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_early_shaping_reaches_the_reward(collection, train):
    rewards = ONLY["reward_distance"]
    window = KnobWindow("reward_distance", first=1, last=2, value=0.2)
    before, *_ = train(mario(collection, rewards))
    after, *_ = train(mario(collection, rewards, windows=(window,)))
    for plain, shaped, factor in zip(before, after, gathered_with([2.0, 2.0, 1.0, 1.0, 1.0], collection), strict=True):
        torch.testing.assert_close(shaped, plain * factor, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("signal", ["world/forward_share", "policy/entropy", "return/mean"])
def test_a_channel_reaches_the_reward(signal, collection, train):
    """The signal is far above its band, so the weight halves its way to the lower bound after every report of it."""
    rewards = ONLY["reward_distance"]
    channel = AdaptiveConfig(
        signal, "reward_distance", low=-9.0, high=1e-3, lowest=0.02, highest=0.5, window=1, step=0.5
    )
    before, *_ = train(mario(collection, rewards))
    after, *_, folder = train(mario(collection, rewards, adaptive=(channel,)))
    rows = [json.loads(line) for line in folder.updates.read_text().splitlines()]
    weights = [row["knob/reward_distance"] for row in rows]
    assert weights[0] == 0.1 and weights[-1] < 0.05 and weights == sorted(weights, reverse=True)
    for plain, adapted, weight in zip(before, after, gathered_with(weights, collection), strict=True):
        torch.testing.assert_close(adapted, plain * (weight / 0.1), rtol=1e-4, atol=1e-6)
    rulings = [json.loads(line) for line in folder.rulings.read_text().splitlines()]
    told = [row["facts"] for row in rulings if row["schedule"] == "adaptive"]
    assert [facts["knob_value"] for facts in told][:-1] == weights[1:]
    assert [facts["newest"] for facts in told] == [row.get(signal) for row in rows]


def test_the_share_of_ground_that_is_new_does_not_saturate(train):
    *_, folder = train(mario())
    shares = [json.loads(line)["world/forward_share"] for line in folder.updates.read_text().splitlines()]
    assert all(0.0 < share < 1.0 for share in shares) and len(set(shares)) > 1


@pytest.mark.parametrize("collection", ["sync", "overlap"])
def test_a_channel_turns_the_learning_rate_of_its_own_update(collection, train):
    channel = AdaptiveConfig(
        "policy/entropy", "learning_rate", low=0.0, high=0.1, lowest=0.1, highest=2.0, mode="scale", window=2, step=0.5
    )
    config = mario(collection, adaptive=(channel,), learning_rate=CurveConfig("linear", final_fraction=0.5))
    *_, folder = train(config)
    rates = [json.loads(line)["knob/learning_rate"] for line in folder.updates.read_text().splitlines()]
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
    before, *_ = train(plain)
    after, *_, folder = train(replace(plain, schedules=replace(plain.schedules, adaptive=(channel,))))
    penalties = [json.loads(line)["knob/density_penalty"] for line in folder.updates.read_text().splitlines()]
    assert penalties == [0.0, 0.0, 0.25, 0.375, 0.4375]
    for one, other, penalty in zip(before, after, gathered_with(penalties, collection), strict=True):
        assert (other.sum() < one.sum()) if penalty else torch.equal(one, other)


def test_a_signal_that_never_comes_ends_the_run(train):
    channel = AdaptiveConfig(
        "policy/entropie", "ppo_clip", low=0.0, high=0.1, lowest=0.1, highest=0.3, window=1, patience_updates=2
    )
    with pytest.raises(
        ConfigError, match=r"'policy/entropie' has not appeared in 2 updates; did you mean policy/entropy\?"
    ):
        train(mario(adaptive=(channel,)))
