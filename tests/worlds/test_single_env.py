import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from respawn.errors import ConfigError
from respawn.testing.fakes import FakeWorld
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld
from respawn.worlds.single_env import WorldEnv


@pytest.mark.parametrize(
    "world",
    [FakeWorld(1), RecallWorld(RecallConfig(), 1), ForeignWorld(ForeignConfig(), 1)],
    ids=["fake", "recall", "foreign"],
)
def test_passes_gymnasiums_check(world):
    check_env(WorldEnv(world), skip_render_check=True)


def test_equals_the_environment_inside():
    ours, theirs = WorldEnv(ForeignWorld(ForeignConfig(), 1)), gymnasium.make("CartPole-v1")
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    for _ in range(3):
        while True:
            mine, their = ours.step(1), theirs.step(1)
            assert np.array_equal(mine[0], their[0]) and mine[1:4] == their[1:4]
            if mine[2]:
                break
        assert mine[4]["end"] == "terminated" and mine[4]["length"] >= 5 and mine[4]["return"] == mine[4]["length"]
        assert np.array_equal(ours.reset()[0], theirs.reset()[0])  # the episode that the world had already begun


def test_no_step_without_an_episode():
    env = WorldEnv(RecallWorld(RecallConfig(delay_steps=0), 1))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    before, *_ = env.step(0)
    last, _, terminated, _, _ = env.step(0)
    assert terminated and np.array_equal(last, before)  # recall keeps no last observation
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_reset_in_the_middle_begins_another_episode():
    env = WorldEnv(FakeWorld(1))
    first, _ = env.reset(seed=1)
    env.step(1)
    assert not np.array_equal(env.reset()[0], first)


def test_one_lane_only():
    with pytest.raises(ConfigError, match="one lane, got 2; use WorldVectorEnv"):
        WorldEnv(FakeWorld(2))


def test_render():
    assert WorldEnv(FakeWorld(1)).render().shape == (16, 16, 3)


@pytest.mark.parametrize("action", [-1, 4])
def test_refuses_an_action_that_there_is_none_of(action):
    env = WorldEnv(RecallWorld(RecallConfig(num_cues=4), 1))
    env.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match="0 to 3"):
        env.step(action)
