"""`respawn/Fish-v0`: one fish through `gymnasium.make`, schools through `make_vec`."""

import pickle
import sys
import types

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics

import respawn
from respawn.envs import showing
from respawn.envs.fish import FishEnv, FishVectorEnv
from respawn.envs.fish_settings import fish_config
from respawn.errors import ConfigError
from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig, FishRewards

gymnasium.register_envs(respawn)
NAME = "respawn/Fish-v0"
COAST = 4
STEERINGS = ("discrete", "continuous")
FACTS = ("num_alive", "survival_rate", "timestep", "first_death_step")
NEAR = {"predator_spawn_radius": 0.0, "pre_roll_steps": 1, "escape_boost": False}
"""A predator that begins where many fish do."""


def play_to_the_end(env):
    while True:
        result = env.step(COAST)
        if result[2] or result[3]:
            return result


@pytest.mark.filterwarnings("ignore:.*Box observation space m.*imum value")
@pytest.mark.parametrize("steering", STEERINGS)
def test_passes_gymnasiums_check(steering, recwarn):
    check_env(gymnasium.make(NAME, steering=steering).unwrapped)
    check_env(gymnasium.make(NAME, steering=steering, render_mode="rgb_array").unwrapped)
    said = [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]
    assert all("infinity" in message for message in said), said  # the reference has no bounds either


@pytest.mark.parametrize("steering", STEERINGS)
def test_two_of_a_kind_do_the_same(steering):
    one, other = (gymnasium.make(NAME, steering=steering, limit_steps=60, render_mode="rgb_array") for _ in range(2))
    check_environments_match(one, other, num_steps=150, seed=3)


def test_info_tells_of_the_tank_and_of_the_end():
    env = gymnasium.make(NAME, limit_steps=25)
    observation, info = env.reset(seed=1)
    assert observation.shape == (18,) and info["pre_roll_stats"]["steps"] == 16
    assert [info[name] for name in FACTS] == [1, 1.0, 0, -1] and info["step_one_deaths"] == []
    observation, _, terminated, truncated, info = play_to_the_end(env)
    assert truncated and not terminated and observation.any()
    assert (info["end"], info["length"], info["timestep"], info["death_timesteps"]) == ("time limit", 25, 25, [-1])
    _, info = env.reset()
    assert info["timestep"] == 0 and "death_timesteps" not in info


def test_a_caught_fish_is_terminated_and_senses_nothing():
    env = gymnasium.make(NAME, **NEAR)
    for seed in range(200):
        env.reset(seed=seed)
        observation, reward, terminated, truncated, info = env.step(COAST)
        if terminated:
            break
    assert terminated and not truncated and reward == -50.0 and not observation.any()
    assert info["end"] == "caught" and info["death_timesteps"] == [1] == [info["first_death_step"]]
    (record,) = info["step_one_deaths"]
    assert set(record) == {
        "fish_idx", "predator_index", "fish_position", "predator_position", "predator_velocity", "timestep",
    }  # fmt: skip
    assert np.hypot(*np.subtract(record["fish_position"], record["predator_position"])) < 0.7
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(COAST)
    # The dead fish's records are gone with it, and those of the world's next episode are its own.
    assert env.reset()[1]["step_one_deaths"] == []


def test_the_limit_may_terminate_as_in_the_reference():
    env = gymnasium.make(NAME, limit_steps=5, limit_truncates=False)
    env.reset(seed=1)
    observation, _, terminated, truncated, info = play_to_the_end(env)
    assert terminated and not truncated and info["end"] == "time limit" and observation.any()


def test_more_than_one_fish_needs_more_than_one_agent():
    with pytest.raises(
        ConfigError, match=r"make_vec\('respawn/Fish-v0', fish=25\).*fish_parallel\.parallel_env\(fish=25\)"
    ):
        gymnasium.make(NAME, fish=25)


def test_pictures_show_how_it_ended():
    env = gymnasium.make(NAME, render_mode="rgb_array", limit_steps=20)
    env.reset(seed=1)
    begin = env.render()
    assert begin.shape == (544, 512, 3) and begin.dtype == np.uint8
    play_to_the_end(env)
    end = env.render()
    assert np.array_equal(end, env.render()) and not np.array_equal(end, begin)
    kept = env.unwrapped.state()
    env.reset()
    assert not np.array_equal(end, env.render())
    env.unwrapped.restore(kept)
    assert not np.array_equal(begin, env.render())
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert gymnasium.make(NAME).unwrapped.render() is None
    with pytest.raises(ConfigError, match="one of human, rgb_array, not 'ansi'"):
        FishEnv(render_mode="ansi")


class Screen(types.ModuleType):
    """As much of tkinter as a window needs."""

    def __init__(self):
        super().__init__("tkinter")
        self.images, self.closed = [], 0

    def Tk(self):
        return self

    def Label(self, root, borderwidth):
        return self

    def PhotoImage(self, data, format):
        self.images.append(data)
        return data

    def destroy(self):
        self.closed += 1

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


def test_human_shows_every_step_in_a_window(monkeypatch):
    screen = Screen()
    monkeypatch.setitem(sys.modules, "tkinter", screen)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(showing.Pace, "is_time", lambda pace: True)
    env = gymnasium.make(NAME, render_mode="human")
    env.reset(seed=1)
    env.step(COAST)
    assert len(screen.images) == 2 and screen.images[0].startswith(b"P6 768 816 255 ")
    assert env.render() is None
    env.close()
    assert screen.closed == 1


@pytest.mark.parametrize("steering", STEERINGS)
def test_a_restored_environment_does_the_same_again(steering):
    env = gymnasium.make(NAME, steering=steering, limit_steps=15).unwrapped
    env.reset(seed=7)
    env.action_space.seed(1)
    for _ in range(4):
        env.step(env.action_space.sample())
    kept = pickle.loads(pickle.dumps(env.state()))
    actions = [env.action_space.sample() for _ in range(40)]
    first = _played(env, actions)
    env.restore(kept)
    assert data_equivalence(first, _played(env, actions), exact=True)
    other = gymnasium.make(NAME, steering=steering, limit_steps=15).unwrapped
    other.restore(kept)
    assert data_equivalence(first, _played(other, actions), exact=True)


def _played(env, actions):
    results = []
    for action in actions:
        results.append(env.step(action))
        if results[-1][2] or results[-1][3]:
            results.append((*env.reset(), False, False, {}))
    return results


def test_the_usual_statistics_wrapper_works():
    env = RecordEpisodeStatistics(gymnasium.make(NAME, limit_steps=10))
    env.reset(seed=1)
    info = play_to_the_end(env)[4]
    assert info["episode"]["l"] == info["length"] and info["episode"]["r"] == pytest.approx(info["return"])


def test_lanes_are_fish_and_those_who_died_wait():
    envs = gymnasium.make_vec(NAME, num_envs=3, fish=16, limit_steps=60, **NEAR)
    assert envs.num_envs == 48 and envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    observation, infos = envs.reset(seed=4)
    assert observation.shape == (48, 18) and infos["alive"].all() and (infos["num_alive"] == 16).all()
    returns, lengths = np.zeros(48), np.zeros(48, int)
    num_caught = num_cut = 0
    envs.action_space.seed(1)
    for step in range(1, 131):
        alive = infos["alive"]
        observation, reward, terminated, truncated, infos = envs.step(envs.action_space.sample())
        ended = terminated | truncated
        assert not (terminated & truncated).any() and not ended[~alive].any() and not reward[~alive].any()
        assert not observation[~infos["alive"]].any() and observation[infos["alive"]].any(1).all()
        returns, lengths = returns + reward, lengths + alive
        assert ("final_info" in infos) == ended.any()
        if ended.any():
            final = infos["final_info"]
            assert np.allclose(final["episode"]["r"][ended], returns[ended])
            assert np.array_equal(final["episode"]["l"][ended], lengths[ended])
            assert np.array_equal(infos["_final_obs"], ended) and np.array_equal(final["_end"], ended)
            assert set(final["end"][terminated]) <= {"caught"} and set(final["end"][truncated]) <= {"time limit"}
            assert all(infos["final_obs"][lane].any() for lane in np.flatnonzero(truncated))
            assert not any(infos["final_obs"][lane].any() for lane in np.flatnonzero(terminated))
            assert (final["first_death_step"][terminated] > 0).all()
            returns[ended], lengths[ended] = 0.0, 0
        if step % 60 == 0:
            assert truncated[alive & ~terminated].all() and infos["alive"].all() and not infos["timestep"].any()
        else:
            assert np.array_equal(infos["alive"], alive & ~terminated)
        num_caught, num_cut = num_caught + terminated.sum(), num_cut + truncated.sum()
        assert (infos["alive"].reshape(3, 16).sum(1).repeat(16) == infos["num_alive"]).all()
    assert num_caught > 5 and num_cut > 30


@pytest.mark.parametrize("steering", STEERINGS)
def test_schools_of_one_equal_gymnasiums_own_many(steering):
    settings = {"fish": 1, "steering": steering, "limit_steps": 25}
    ours = gymnasium.make_vec(NAME, num_envs=3, **settings)
    made = gymnasium.make_vec(
        NAME,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **settings,
    )
    assert isinstance(made, SyncVectorEnv) and ours.observation_space == made.observation_space
    assert np.array_equal(ours.reset(seed=5)[0], made.reset(seed=5)[0])
    ours.action_space.seed(2)
    for _ in range(60):
        actions = ours.action_space.sample()
        mine, theirs = ours.step(actions), made.step(actions)
        for my, their in zip(mine[:4], theirs[:4], strict=True):
            assert np.array_equal(my, their)
        ended = mine[2] | mine[3]
        assert all(list(mine[4][fact]) == list(theirs[4][fact]) for fact in FACTS)
        if ended.any():
            for fact in (*FACTS, "end"):
                assert list(mine[4]["final_info"][fact][ended]) == list(theirs[4]["final_info"][fact][ended]), fact
            for lane in np.flatnonzero(ended):
                assert np.array_equal(mine[4]["final_obs"][lane], theirs[4]["final_obs"][lane])


def test_a_school_has_one_seed_and_one_picture():
    envs = gymnasium.make_vec(NAME, num_envs=2, fish=3, render_mode="rgb_array")
    one, _ = envs.reset(seed=8)
    assert np.array_equal(one, envs.reset(seed=[8, 9])[0])
    assert np.array_equal(one[3:], gymnasium.make_vec(NAME, num_envs=1, fish=3).reset(seed=9)[0])
    assert len(envs.render()) == 2
    with pytest.raises(ConfigError, match="one for each of 2, not 6"):
        envs.reset(seed=range(6))


def test_many_restored_do_the_same_again():
    envs = gymnasium.make_vec(NAME, num_envs=2, fish=4, limit_steps=20, **NEAR)
    envs.reset(seed=7)
    envs.step(np.ones(8, np.int64))
    kept = pickle.loads(pickle.dumps(envs.unwrapped.state()))
    actions = np.random.default_rng(1).integers(5, size=(50, 8))
    first = [envs.step(action) for action in actions]
    envs.unwrapped.restore(kept)
    assert data_equivalence(first, [envs.step(action) for action in actions], exact=True)


def test_many_without_facts_say_who_is_alive_and_how_episodes_end():
    envs = gymnasium.make_vec(NAME, num_envs=1, fish=2, facts=False, max_episode_steps=3)
    assert set(envs.reset(seed=1)[1]) == {"alive", "_alive"}
    infos = [envs.step(np.full(2, COAST))[4] for _ in range(3)][-1]
    assert set(infos["final_info"]) == {"episode", "_episode", "end", "_end"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_fish": 1}, "respawn/Fish-v0 knows no argument 'num_fish'; did you mean fish?"),
        ({"fish": "one"}, "respawn/Fish-v0 wants int for fish, not 'one'"),
        ({"steering": "free"}, "wants one of 'discrete', 'continuous' for steering, not 'free'"),
        ({"rewards": {"alife": 1}}, "knows no reward 'alife'; did you mean alive?"),
        ({"rewards": "sweet"}, "rewards must be one of respawn, legacy, a dict or a FishRewards, not 'sweet'"),
        ({"headings": 5}, "headings must be a list of (from, to, weight), such as [(0, 360, 1)], not 5"),
        ({"speeds": [(0, "fast", 1)]}, "respawn/Fish-v0 wants"),
        ({"spawn_distance": 99}, "spawn-distance must be from 0.0 to 5.0, not 99"),
    ],
)
def test_bad_arguments_are_one_sentence(settings, sentence):
    with pytest.raises(ConfigError) as caught:
        gymnasium.make(NAME, **settings)
    assert sentence in str(caught.value)


def test_no_schools_are_refused():
    with pytest.raises(ConfigError, match="number of schools, which must be at least 1, not 0"):
        FishVectorEnv(0)


@pytest.mark.parametrize("action", [-1, 5, [1, 2]])
def test_refuses_actions_that_there_are_none_of(action):
    env = gymnasium.make(NAME, disable_env_checker=True)
    env.reset(seed=1)
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step(action)


def test_continuous_actions_may_be_doubles_but_must_be_numbers():
    envs = gymnasium.make_vec(NAME, num_envs=1, fish=2, steering="continuous")
    envs.reset(seed=1)
    assert envs.step(np.zeros((2, 2), np.float64))[0].dtype == np.float32
    with pytest.raises(gymnasium.error.InvalidAction, match="finite"):
        envs.step(np.full((2, 2), np.nan))
    with pytest.raises(gymnasium.error.InvalidAction, match=r"shape \(2, 2\), and \(2,\) came"):
        envs.step(np.zeros(2))


def test_every_setting_has_its_name():
    config = fish_config({"fish": np.int64(7), "headings": [[0, 360, 1]], "speeds": (), "rewards": {"alive": 1}})
    assert config == FishConfig(fish=7, headings=((0.0, 360.0, 1.0),), speeds=(), rewards=FishRewards(alive=1.0))
    assert fish_config({"rewards": "legacy"}).rewards == LEGACY_REWARDS
    assert fish_config({"rewards": FishRewards(wall=3.0)}).rewards.wall == 3.0
    assert gymnasium.make(NAME, neighbours=False).observation_space.shape == (11,)
