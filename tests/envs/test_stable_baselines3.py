"""`respawn/Mario-v0` in the hands of Stable-Baselines3."""

import warnings

import gymnasium
import numpy as np
import pytest

import respawn

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed; make setup installs it")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env

gymnasium.register_envs(respawn)
NAME = "respawn/Mario-v0"
SMALL = {"n_steps": 64, "batch_size": 64, "n_epochs": 1, "device": "cpu", "seed": 1}


@pytest.mark.parametrize("settings", [{"level": "1-1"}, {"level": "1-1", "observation": "pixels"}])
def test_its_check_passes_without_a_warning(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(NAME, render_mode="rgb_array", **settings), skip_render_check=False)


def test_it_learns_in_one_environment():
    model = PPO("MlpPolicy", gymnasium.make(NAME, level="1-1", limit_steps=50), **SMALL)
    before = model.policy.state_dict()["action_net.weight"].clone()
    model.learn(total_timesteps=192)
    assert model.num_timesteps == 192 and not before.equal(model.policy.state_dict()["action_net.weight"])
    assert [episode["l"] for episode in model.ep_info_buffer] == [50, 50, 50]


def test_it_learns_in_many():
    envs = make_vec_env(NAME, n_envs=3, seed=1, env_kwargs={"levels": ["1-1", "1-2"], "limit_steps": 40})
    model = PPO("MlpPolicy", envs, **SMALL).learn(total_timesteps=384)
    assert len(model.ep_info_buffer) >= 9
    action, _ = model.predict(envs.reset(), deterministic=True)
    assert action.shape == (3,)


def test_it_learns_from_pictures():
    envs = make_vec_env(NAME, n_envs=2, seed=1, env_kwargs={"level": "1-1", "observation": "pixels"})
    model = PPO("CnnPolicy", envs, **{**SMALL, "n_steps": 16, "batch_size": 32}).learn(total_timesteps=32)
    assert model.num_timesteps == 32 and envs.observation_space.dtype == np.uint8
