import gymnasium
import numpy as np
import pytest
from gymnasium import error, spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from respawn.contracts.world import ContinuousActions, MultiDiscreteActions, ObservationSpec
from respawn.testing.fakes import FakeWorld
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld
from respawn.worlds.vector_env import WorldVectorEnv, action_space, observation_space


def test_equals_gymnasiums_own():
    ours = WorldVectorEnv(ForeignWorld(ForeignConfig(max_episode_steps=20), 3))
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1", max_episode_steps=20)] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert ours.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert ours.action_space == theirs.action_space
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    generator = np.random.default_rng(0)
    num_ended = 0
    for _ in range(200):
        actions = generator.integers(2, size=3)
        mine, their = ours.step(actions), theirs.step(actions)
        assert np.array_equal(mine[0], their[0]) and np.array_equal(mine[1], their[1])
        assert np.array_equal(mine[2], their[2])
        assert np.array_equal(mine[3], their[3] & ~their[2])
        ended = mine[2] | mine[3]
        assert ("final_obs" in mine[4]) == ended.any() == ("final_obs" in their[4])
        if ended.any():
            assert np.array_equal(mine[4]["_final_obs"], their[4]["_final_obs"])
            for lane in np.flatnonzero(ended):
                assert np.array_equal(mine[4]["final_obs"][lane], their[4]["final_obs"][lane])
            assert (mine[4]["final_info"]["episode"]["l"][ended] > 0).all()
            num_ended += int(ended.sum())
    assert num_ended > 5
    ours.close()


def test_a_world_that_keeps_no_last_observation_shows_the_one_before():
    env = WorldVectorEnv(RecallWorld(RecallConfig(num_cues=2, delay_steps=0), 2))
    env.reset(seed=[1, 2])
    before, *_ = env.step(np.zeros(2, np.int64))
    _, _, terminated, _, infos = env.step(np.zeros(2, np.int64))
    assert terminated.all() and np.array_equal(np.stack(list(infos["final_obs"])), before)


def test_observations_are_the_callers_to_keep():
    env = WorldVectorEnv(FakeWorld(2))
    first, _ = env.reset(seed=0)
    kept = first.copy()
    for _ in range(5):
        env.step(env.action_space.sample())
    assert np.array_equal(first, kept)


def test_seeds():
    env = WorldVectorEnv(FakeWorld(2))
    one, _ = env.reset(seed=3)
    listed, _ = env.reset(seed=[3, 4])
    assert np.array_equal(one, listed)
    assert not np.array_equal(env.reset()[0], env.reset()[0])
    with pytest.raises(error.ResetNeeded):
        WorldVectorEnv(FakeWorld(2)).step(np.zeros(2, np.int64))


def test_spaces():
    assert observation_space(ObservationSpec((3, 8, 8), "uint8")) == spaces.Box(0, 255, (3, 8, 8), np.uint8)
    assert action_space(MultiDiscreteActions((2, 3))) == spaces.MultiDiscrete([2, 3])
    assert action_space(ContinuousActions(2)) == spaces.Box(-1, 1, (2,), np.float32)


def test_render():
    env = WorldVectorEnv(FakeWorld(2))
    assert [frame.shape for frame in env.render()] == [(16, 16, 3)] * 2


def test_refuses_actions_that_there_are_none_of():
    env = WorldVectorEnv(RecallWorld(RecallConfig(num_cues=4), 2))
    env.reset(seed=0)
    with pytest.raises(error.InvalidAction, match="0 to 3"):
        env.step(np.array([0, -1]))
