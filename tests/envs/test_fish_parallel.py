"""A school in the hands of PettingZoo."""

import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from respawn.envs import fish_parallel
from respawn.errors import ConfigError

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed; make setup installs it")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.test.state_test import test_parallel_env as check_state_of_parallel_env
from pettingzoo.utils import parallel_to_aec

STEERINGS = ("discrete", "continuous")
NEAR = {"predator_spawn_radius": 0.0, "pre_roll_steps": 1, "escape_boost": False}
COAST = 4


def make(**settings):
    return fish_parallel.parallel_env(**{"fish": 12, "limit_steps": 60, **settings})


def coast(env):
    return env.step(dict.fromkeys(env.agents, COAST))


@pytest.mark.parametrize("steering", STEERINGS)
def test_passes_pettingzoos_checks_without_a_warning(steering):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(make(steering=steering, **NEAR), num_cycles=200)
        parallel_api_test(make(steering=steering, limit_truncates=False), num_cycles=200)
        parallel_seed_test(lambda: make(steering=steering))


@pytest.mark.filterwarnings("ignore::UserWarning")  # that the reference's observations have no bounds
@pytest.mark.parametrize("steering", STEERINGS)
def test_passes_as_a_turn_based_environment_too(steering):
    api_test(parallel_to_aec(make(steering=steering, **NEAR)), num_cycles=300)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_states_are_what_they_should_be():
    check_state_of_parallel_env(make(limit_steps=20))
    env = make(**NEAR)
    env.reset(seed=3)
    coast(env)
    state = env.state()
    fish = state[:-5].reshape(12, 5)
    assert state in env.state_space and {f"fish_{number}" for number in np.flatnonzero(fish[:, 4])} == set(env.agents)
    assert not fish[fish[:, 4] == 0].any() and state[-1] == pytest.approx(1 / 60)


@pytest.mark.parametrize("steering", STEERINGS)
def test_whole_episodes_follow_from_the_seed(steering):
    def played():
        env = make(steering=steering, **NEAR)
        results = [env.reset(seed=5)]
        for number, agent in enumerate(env.agents):
            env.action_space(agent).seed(number)
        for _ in range(2):
            while env.agents:
                results.append(env.step({agent: env.action_space(agent).sample() for agent in env.agents}))
                results.append((env.state(),))
            results.append(env.reset())
        return results

    first = played()
    assert len(first) > 50 and data_equivalence(first, played(), exact=True)


def test_agents_leave_when_they_are_caught_and_at_the_limit():
    env = make(fish=40, **NEAR)
    observations, infos = env.reset(seed=1)
    assert env.agents == env.possible_agents == list(observations) == list(infos) and env.num_agents == 40
    assert infos["fish_0"]["pre_roll_stats"]["steps"] == 1 and infos["fish_0"]["num_alive"] == 40
    deaths = {}
    for step in range(1, 61):
        before = env.agents
        observations, rewards, terminated, truncated, infos = coast(env)
        for agent in before:
            if terminated[agent]:
                deaths[agent] = step
                assert rewards[agent] == -50.0 and not observations[agent].any() and not truncated[agent]
            else:
                assert observations[agent].any() and truncated[agent] == (step == 60)
        info = infos[before[0]]
        assert (info["num_alive"], info["timestep"]) == (40 - len(deaths), step)
        assert info["survival_rate"] == pytest.approx(1 - len(deaths) / 40)
        assert info["first_death_step"] == min(deaths.values(), default=-1)
        assert [f"fish_{record['fish_idx']}" for record in info["step_one_deaths"]] == [
            agent for agent in env.possible_agents if deaths.get(agent) == 1
        ]
        assert ("death_timesteps" in info) == (step == 60)
    assert 0 < len(deaths) < 40 and env.agents == []
    assert info["death_timesteps"] == [deaths.get(agent, -1) for agent in env.possible_agents]
    assert len(info["step_one_deaths"]) > 0
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step({})
    _, infos = env.reset()
    assert env.num_agents == 40 and infos["fish_0"]["step_one_deaths"] == []


def test_it_is_the_same_school_as_through_gymnasium():
    env, envs = make(), gymnasium.make_vec("respawn/Fish-v0", num_envs=1, fish=12, limit_steps=60)
    rows, _ = envs.reset(seed=11)
    observations, _ = env.reset(seed=11)
    for _ in range(59):
        assert all(np.array_equal(rows[int(agent[5:])], observations[agent]) for agent in env.agents)
        observations, rewards, *_ = coast(env)
        rows, paid, *_ = envs.step(np.full(12, COAST))
        assert all(paid[int(agent[5:])] == rewards[agent] for agent in env.agents)


def test_the_limit_may_terminate_as_in_the_reference():
    env = make(limit_steps=3, limit_truncates=False)
    env.reset(seed=1)
    for _ in range(3):
        observations, _, terminated, truncated, _ = coast(env)
    survivors = [agent for agent, seen in observations.items() if seen.any()]
    assert survivors and all(terminated[agent] for agent in survivors) and not any(truncated.values())
    assert env.agents == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda actions: actions.pop("fish_3"), "none came for fish_3"),
        (lambda actions: (actions.pop("fish_3"), actions.pop("fish_4")), "none came for fish_3 and 1 more"),
        (lambda actions: actions.update(shark=1), "there is no shark"),
        (lambda actions: actions.update(fish_0=5), "actions are 0 to 4"),
        (lambda actions: actions.update(fish_0=[1, 2]), "expected actions of shape"),
    ],
)
def test_bad_actions_are_one_sentence(change, sentence):
    env = make()
    env.reset(seed=1)
    actions = dict.fromkeys(env.agents, COAST)
    change(actions)
    with pytest.raises(gymnasium.error.InvalidAction, match=sentence):
        env.step(actions)


def test_pictures():
    env = make(render_mode="rgb_array", limit_steps=5)
    env.reset(seed=1)
    begin = env.render()
    while env.agents:
        coast(env)
    assert begin.shape == (544, 512, 3) and not np.array_equal(begin, env.render())
    env.close()
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert make().render() is None


def test_bad_settings_are_one_sentence():
    with pytest.raises(ConfigError, match=r"knows no argument 'num_fish'; did you mean fish\?"):
        make(num_fish=3)


def test_without_pettingzoo_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "respawn.envs.fish_agents", raising=False)
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ConfigError, match=r"pip install 'respawn\[pettingzoo\]'"):
        make()
