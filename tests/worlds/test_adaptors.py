import json

import bad_envs  # noqa: F401
import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

from respawn.errors import CheckpointError, WorldError
from respawn.testing.suites.saveable import check_plain, freeze
from respawn.worlds.foreign.adaptors import adaptor_for

KNOWN = [
    "CartPole-v1",
    "Acrobot-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
    "FrozenLake-v1",
    "CliffWalkingSlippery-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "bad/TellsItsState-v0",
]


def play(env, num_steps, seed):
    """Step with random actions and begin anew after an end; all that was returned, to the last bit."""
    generator = np.random.default_rng(seed)
    told = []
    for _ in range(num_steps):
        space = env.action_space
        is_discrete = isinstance(space, gymnasium.spaces.Discrete)
        action = int(generator.integers(space.n)) if is_discrete else generator.uniform(space.low, space.high)
        observation, reward, terminated, truncated, _ = env.step(action)
        told.append((freeze(np.asarray(observation)), float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated:
            told.append(freeze(np.asarray(env.reset()[0])))
    return told


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("env_id", KNOWN)
@pytest.mark.parametrize("after", [0, 1, 37])
def test_a_new_environment_goes_on_exactly(env_id, after, checked):
    env, other = (gymnasium.make(env_id, max_episode_steps=50, disable_env_checker=not checked) for _ in range(2))
    env.reset(seed=3)
    play(env, after, seed=0)
    adaptor, others = adaptor_for(env), adaptor_for(other)
    state = adaptor.state()
    check_plain(state)
    saved = freeze(state)
    straight = play(env, 120, seed=1)
    others.restore(state)
    assert play(other, 120, seed=1) == straight
    assert freeze(state) == saved
    adaptor.restore(state)
    assert play(env, 120, seed=1) == straight


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Blackjack-v1"])
def test_state_survives_json_but_for_its_arrays(env_id):
    env = gymnasium.make(env_id)
    env.reset(seed=3)
    json.dumps(adaptor_for(env).state(), default=lambda leaf: leaf.tolist())


def cartpole():
    return gymnasium.make("CartPole-v1")


@pytest.mark.parametrize(
    "env",
    [
        wrappers.NormalizeReward(cartpole()),
        wrappers.FrameStackObservation(cartpole(), 2),
        wrappers.TimeAwareObservation(cartpole()),
        wrappers.TransformReward(cartpole(), abs),
        wrappers.FlattenObservation(wrappers.NormalizeObservation(cartpole())),
        gymnasium.make("bad/Walker-v0"),
        gymnasium.make("FrozenLake-v1", map_name=None),
    ],
)
def test_no_claim_where_memory_is_unknown(env):
    assert adaptor_for(env) is None


@pytest.mark.parametrize("env", [wrappers.FlattenObservation(cartpole()), wrappers.ClipReward(cartpole(), 0, 1)])
def test_wrappers_that_forget_are_fine(env):
    assert adaptor_for(env) is not None


class Remembering(gymnasium.Wrapper):
    """A wrapper with a memory, which speaks for itself and for what it wraps."""

    def state(self):
        return {"inside": adaptor_for(self.env).state()}

    def restore(self, state):
        adaptor_for(self.env).restore(state["inside"])


def test_a_wrapper_may_speak_for_all_inside_it():
    env = Remembering(gymnasium.make("CartPole-v1"))
    env.reset(seed=1)
    state = adaptor_for(env).state()
    straight = play(env, 30, seed=0)
    adaptor_for(env).restore(state)
    assert play(env, 30, seed=0) == straight


def test_mistakes_are_named():
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1)
    state = adaptor_for(env).state()
    with pytest.raises(CheckpointError, match=r"expected the state of a .*AcrobotEnv, got that of a .*CartPoleEnv"):
        adaptor_for(gymnasium.make("Acrobot-v1")).restore(state)
    with pytest.raises(CheckpointError, match="3 layers"):
        adaptor_for(gymnasium.make("CartPole-v1", disable_env_checker=True)).restore(state)
    odd = gymnasium.make("bad/TellsAnObject-v0")
    odd.reset(seed=1)
    with pytest.raises(WorldError, match=r"in the state of .*'count'.*got <class 'object'>"):
        adaptor_for(odd).state()
