"""`respawn/Mario-v0` on a game of our own, which needs no ROM."""

import copy
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
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordManyStatistics

import respawn
from respawn.envs import showing
from respawn.envs.mario import LARGEST_NUMBER
from respawn.errors import ConfigError, VideoError
from respawn.testing.fake_console import FakeGame
from respawn.worlds.mario import world as mario_world

gymnasium.register_envs(respawn)
NAME = "respawn/Mario-v0"
FACTS = {"x", "y", "score", "coins", "time", "lives", "power", "level", "cleared"}
SETTINGS = {
    "tiles": {"level": "1-1", "start_jitter": 16, "sticky": 0.25, "limit_steps": 60},
    "pixels": {"levels": ["1-1", "1-2"], "observation": "pixels", "picture_size": 24, "limit_steps": 60},
}


@pytest.fixture(autouse=True)
def fake_game(monkeypatch):
    monkeypatch.setattr(mario_world, "open_game", lambda rom, region: FakeGame())


@pytest.fixture
def no_warnings(recwarn):
    yield
    assert [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)] == []


def play_to_the_end(env, most_steps=400):
    """Run to the right; the last result."""
    for _ in range(most_steps):
        result = env.step(3)
        if result[2] or result[3]:
            return result
    raise AssertionError("no end")


@pytest.mark.parametrize("name", SETTINGS)
def test_passes_gymnasiums_check_without_a_warning(name, no_warnings):
    check_env(gymnasium.make(NAME, **SETTINGS[name]).unwrapped)
    check_env(gymnasium.make(NAME, render_mode="rgb_array", **SETTINGS[name]).unwrapped)


@pytest.mark.parametrize("name", SETTINGS)
def test_two_of_a_kind_do_the_same(name):
    one, other = (gymnasium.make(NAME, render_mode="rgb_array", **SETTINGS[name]) for _ in range(2))
    check_environments_match(one, other, num_steps=150, seed=3)


def test_info_tells_of_the_game_and_of_its_end():
    env = gymnasium.make(NAME, level="1-1")
    _, info = env.reset(seed=1)
    assert set(info) == FACTS and info["level"] == "1-1" and info["lives"] == 3 and info["cleared"] is False
    start = info["x"]
    observation, reward, terminated, truncated, info = play_to_the_end(env)
    assert terminated and not truncated and reward < 0 and observation in env.observation_space
    assert info["end"] == "death" and info["x"] > start and info["length"] > 5 and info["cleared"] is False
    assert env.reset()[1]["x"] == start


def test_a_cleared_level_says_so():
    env = gymnasium.make(NAME, level="1-1", buttons=["RIGHT+B", "RIGHT+A+B", "NONE"])
    env.reset(seed=1)
    for step in range(600):
        _, _, terminated, _, info = env.step(step // 6 % 2)
        if terminated:
            env.reset()
            if info["cleared"]:
                break
    assert info["cleared"] is True and info["end"] == "flag"


@pytest.mark.parametrize("name", SETTINGS)
def test_many_equal_gymnasiums_own_many(name):
    ours = gymnasium.make_vec(NAME, num_envs=3, **SETTINGS[name])
    made = gymnasium.make_vec(
        NAME,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **SETTINGS[name],
    )
    assert isinstance(made, SyncVectorEnv) and ours.observation_space == made.observation_space
    mine, theirs = ours.reset(seed=5), made.reset(seed=5)
    assert np.array_equal(mine[0], theirs[0])
    generator = np.random.default_rng(0)
    num_ended = 0
    for _ in range(150):
        actions = generator.integers(7, size=3)
        mine, theirs = ours.step(actions), made.step(actions)
        for my, their in zip(mine[:4], theirs[:4], strict=True):
            assert np.array_equal(my, their)
        ended = mine[2] | mine[3]
        num_ended += int(ended.sum())
        for fact in FACTS:
            assert list(mine[4][fact]) == list(theirs[4][fact])
        if ended.any():
            for fact in (*FACTS, "end"):
                my, their = mine[4]["final_info"][fact], theirs[4]["final_info"][fact]
                assert list(my[ended]) == list(their[ended]), fact
            for lane in np.flatnonzero(ended):
                assert np.array_equal(mine[4]["final_obs"][lane], theirs[4]["final_obs"][lane])
    assert num_ended > 2


def test_many_without_facts_say_only_how_episodes_end():
    envs = gymnasium.make_vec(NAME, num_envs=2, level="1-1", facts=False, max_episode_steps=3)
    assert envs.reset(seed=1)[1] == {}
    infos = [envs.step(np.zeros(2, np.int64))[4] for _ in range(3)]
    assert infos[:2] == [{}, {}]
    assert set(infos[2]["final_info"]) == {"episode", "_episode", "end", "_end"}
    assert list(infos[2]["final_info"]["end"]) == ["step limit"] * 2


def test_the_usual_statistics_wrappers_work():
    env = RecordEpisodeStatistics(gymnasium.make(NAME, level="1-1"))
    env.reset(seed=1)
    info = play_to_the_end(env)[4]
    assert info["episode"]["l"] == info["length"] and info["episode"]["r"] == pytest.approx(info["return"])
    envs = RecordManyStatistics(gymnasium.make_vec(NAME, num_envs=2, level="1-1", limit_steps=10))
    envs.reset(seed=1)
    for _ in range(10):
        infos = envs.step(np.zeros(2, np.int64))[4]
    assert list(infos["episode"]["l"]) == [10, 10] == list(infos["final_info"]["episode"]["l"])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_restored_environment_does_the_same_again(name):
    env = gymnasium.make(NAME, **SETTINGS[name]).unwrapped
    env.reset(seed=7)
    for _ in range(10):
        env.step(1)
    kept = pickle.loads(pickle.dumps(env.state()))
    actions = np.random.default_rng(1).integers(7, size=120)
    first = _played(env, actions)
    env.restore(kept)
    again = _played(env, actions)
    assert data_equivalence(first, again, exact=True) and any(terminated or cut for _, _, terminated, cut, _ in first)
    other = gymnasium.make(NAME, **SETTINGS[name]).unwrapped
    other.restore(copy.deepcopy(kept))
    assert data_equivalence(first, _played(other, actions), exact=True)


def _played(env, actions):
    results = []
    for action in actions:
        results.append(env.step(action))
        if results[-1][2] or results[-1][3]:
            results.append((*env.reset()[:1], 0.0, False, False, {}))
    return results


def test_many_restored_do_the_same_again():
    envs = gymnasium.make_vec(NAME, num_envs=2, **SETTINGS["tiles"])
    envs.reset(seed=7)
    envs.step(np.ones(2, np.int64))
    kept = envs.unwrapped.state()
    actions = np.random.default_rng(1).integers(7, size=(80, 2))
    first = [envs.step(action)[:4] for action in actions]
    envs.unwrapped.restore(kept)
    again = [envs.step(action)[:4] for action in actions]
    assert all(
        np.array_equal(a, b) for one, two in zip(first, again, strict=True) for a, b in zip(one, two, strict=True)
    )


def test_pictures():
    env = gymnasium.make(NAME, level="1-1", render_mode="rgb_array", max_episode_steps=500)
    env.reset(seed=1)
    begin = env.render()
    assert begin.shape == (240, 256, 3) and begin.dtype == np.uint8
    play_to_the_end(env)
    assert not np.array_equal(env.render(), begin)  # how it ended, and not the next beginning
    assert env.metadata["render_fps"] == pytest.approx(15, abs=0.1)
    several = gymnasium.make(NAME, level="1-1", render_mode="rgb_array_list")
    several.reset(seed=1)
    several.step(1)
    assert len(several.render()) == 2
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert gymnasium.make(NAME).unwrapped.render() is None
    assert gymnasium.make(NAME).render_mode is None
    envs = gymnasium.make_vec(NAME, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    assert [picture.shape for picture in envs.render()] == [(240, 256, 3)] * 2


class Screen(types.ModuleType):
    """As much of tkinter as a window needs."""

    class TclError(Exception):
        pass

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

    def protocol(self, name, handler):
        self.close_button = handler

    def destroy(self):
        self.closed += 1

    def title(self, text): ...

    def resizable(self, *ways): ...

    def pack(self): ...

    def configure(self, image): ...

    def update(self): ...


def test_human_shows_every_frame_in_a_window(monkeypatch):
    screen = Screen()
    monkeypatch.setitem(sys.modules, "tkinter", screen)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(showing.Pace, "is_time", lambda pace: True)
    env = gymnasium.make(NAME, level="1-1", render_mode="human")
    env.reset(seed=1)
    env.step(1)
    assert len(screen.images) == 1 + 4 and screen.images[0].startswith(b"P6 512 480 255 ")
    assert env.render() is None and len(screen.images) == 6
    screen.close_button()
    env.step(1)
    assert len(screen.images) == 6
    env.close()
    env.close()
    assert screen.closed == 1
    assert env.metadata["render_modes"] == ["human", "rgb_array"]


def test_human_without_a_display_is_one_sentence(monkeypatch):
    class NoScreen(Screen):
        def Tk(self):
            raise self.TclError("no display here")

    monkeypatch.setitem(sys.modules, "tkinter", NoScreen())
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(VideoError, match=r"none can be opened here \(no display here\); use 'rgb_array'"):
        gymnasium.make(NAME, render_mode="human")
    if sys.platform == "linux":
        assert gymnasium.make(NAME).metadata["render_modes"] == ["rgb_array"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lvl": "1-1"}, "knows no argument 'lvl'; did you mean level?"),
        ({"level": "1-1", "levels": ["1-2"]}, "level and levels say the same thing"),
        ({"rewards": {"flags": 1}}, "knows no reward 'flags'; did you mean flag?"),
        ({"rewards": "sweet"}, "rewards must be one of respawn, seed, a dict or a RewardConfig, not 'sweet'"),
        ({"frame_skip": 0}, "frame-skip must be from 1 to 60, not 0"),
    ],
)
def test_bad_arguments_are_one_sentence(settings, sentence):
    with pytest.raises(ConfigError) as caught:
        gymnasium.make(NAME, **settings)
    assert sentence in str(caught.value)


def test_unknown_render_modes_are_refused():
    with pytest.raises(ConfigError, match="one of rgb_array, not 'human'"):
        gymnasium.make_vec(NAME, num_envs=2, render_mode="human")


def test_every_setting_has_its_name():
    env = gymnasium.make(
        NAME, level="4-4", actions="complex", frame_skip=2, rewards="seed", rows_above=3, buttons=(), noop_starts=2
    )
    assert env.action_space.n == 12
    assert gymnasium.make(NAME, rewards={"flag": 9.0}, buttons=["RIGHT", "NONE"]).action_space.n == 2


def test_tiles_stay_within_their_bounds_whatever_memory_holds():
    from respawn.worlds.mario import ram
    from respawn.worlds.mario.config import MarioConfig
    from respawn.worlds.mario.tiles import TileReader

    bytes_ = np.random.default_rng(0).integers(0, 256, size=(4096, len(ram.WATCHED)), dtype=np.uint8)
    bytes_[:256] = 255
    seen = TileReader(MarioConfig()).read(bytes_, ram.read_facts(bytes_))
    assert np.abs(seen).max() <= LARGEST_NUMBER
