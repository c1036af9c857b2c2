"""Runs whose knobs follow signals are left between moves, in a cool-down and behind a lock, and go on exactly."""

import json
from dataclasses import asdict, replace

import pytest
from tiny_runs import LEARNERS, begin_and_abandon, saving_every, straight, timeless_rows, tiny, trace

from respawn.checkpoints.store import find_newest
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import RunFolder
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.windows import KnobWindow
from respawn.testing.fake_console import FakeGame
from respawn.training.launch import take_up
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario import world as mario_world
from respawn.worlds.mario.config import MarioConfig

UPDATES = 24
ENTROPY = AdaptiveConfig(
    "policy/entropy", "entropy_cost", low=0.0, high=0.1, lowest=0.001, highest=0.05, window=3, cooldown_updates=4,
    anneal_lock=True,
)  # fmt: skip
RATE = AdaptiveConfig(
    "return/mean", "learning_rate", low=-9.0, high=-8.0, lowest=0.5, highest=2.0, window=4, mode="scale", step=0.2
)
CLIP = AdaptiveConfig("evaluation/return_mean", "ppo_clip", low=-9.0, high=-8.0, lowest=0.1, highest=0.3, window=2)
DISTANCE = AdaptiveConfig(
    "world/forward_share", "reward_distance", low=0.1, high=0.15, lowest=0.01, highest=0.3, window=3, mode="replace",
    anneal_lock=True,
)  # fmt: skip
BOOST = AdaptiveConfig("episode/survival", "escape_boost", low=0.9, high=0.95, lowest=0.5, highest=0.9, window=5)
PIECES = CurveConfig("piecewise", points=((0.0, 0.5), (0.5, 1.5), (0.5, 1.0), (1.0, 0.2)))


def run(learner="ppo", *, lag=0, world=None, lanes=3, **schedules):
    config = tiny(
        learner,
        updates=UPDATES,
        planned_updates=UPDATES,
        learner=LEARNERS[learner],
        collection=CollectionConfig(num_lanes=lanes, horizon_steps=8, lag=lag),
        evaluation=EvaluationConfig(every_updates=4, episodes=2, num_lanes=2, limit_steps=30),
        checkpoints=saving_every(5),
        schedules=SchedulesConfig(entropy_cost=CurveConfig("linear"), **schedules),
    )
    return config if world is None else replace(config, world=world)


EARLY = (KnobWindow("reward_distance", first=1, last=4, value=0.2),)
RUNS = {
    "cartpole": run(adaptive=(ENTROPY, RATE, CLIP)),
    "cartpole-vtrace-lag1": run("vtrace", lag=1, adaptive=(ENTROPY, RATE)),
    "mario": run(
        world=MarioConfig(actions="right", limit_steps=30, start_jitter=8), lanes=4, adaptive=(ENTROPY, RATE, DISTANCE),
        reward_death=PIECES, windows=EARLY,
    ),
    "mario-lag1": run(
        lag=1, world=MarioConfig(actions="right", limit_steps=30, start_jitter=8), lanes=4, adaptive=(RATE, DISTANCE),
        windows=EARLY,
    ),
    "fish": run(world=FishConfig(fish=4, judged_fish=4, limit_steps=12), lanes=12, adaptive=(ENTROPY, BOOST)),
    "fish-lag1": run(lag=1, world=FishConfig(fish=4, judged_fish=4, limit_steps=12), lanes=12, adaptive=(RATE, BOOST)),
}  # fmt: skip


def as_text(seen):
    """For a first death may be NaN, which equals nothing."""
    return json.dumps(asdict(seen), sort_keys=True)


@pytest.mark.parametrize("name", RUNS)
def test_left_in_the_middle_and_taken_up_is_the_same_run(name, tmp_path, monkeypatch):
    monkeypatch.setattr(mario_world, "open_game", lambda *_: FakeGame())
    config = RUNS[name]
    expected = straight(config, tmp_path)
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=13)
    saved = find_newest(folder.checkpoints).manifest.updates
    assert saved < 13  # by the count, or because an evaluation was the best so far
    assert take_up(folder).updates == UPDATES
    assert as_text(trace(folder)) == as_text(expected)
    rulings = timeless_rows(folder.rulings)
    assert rulings == timeless_rows(RunFolder(tmp_path / "straight").rulings)
    moves = [row["update"] for row in rulings if row["facts"]["event"] in ("raise", "lower")]
    assert min(moves) <= saved < max(moves)  # before it was saved, and after
