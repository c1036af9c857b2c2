"""Every action is tried, and nothing of it is left in the world."""

from dataclasses import replace

import pytest
import torch

from respawn.collection.probing import probe_actions
from respawn.contracts.world import ContinuousActions
from respawn.errors import ConfigError, WorldError
from respawn.testing.fake_console import FakeGame
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.saveable import freeze
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.world import ForeignWorld
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.starts import open_game
from respawn.worlds.mario.world import MarioWorld
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.recall.world import RecallWorld
from the_game import needed_rom

EXTENDED = MarioConfig(actions="extended", sticky=0.25, start_jitter=8, limit_steps=9)
WORLDS = {
    "fake": lambda: FakeWorld(3, with_absences=True),
    "mario": lambda: MarioWorld(EXTENDED, 3, game=FakeGame()),
    "mario-pixels": lambda: MarioWorld(replace(EXTENDED, observation="pixels"), 3, game=FakeGame()),
    "recall": lambda: RecallWorld(RecallConfig(delay_steps=2, noise=0.5), 3, device=torch.device("cpu")),
    "foreign": lambda: ForeignWorld(ForeignConfig(max_episode_steps=12), 3, device=torch.device("cpu")),
    "fish": lambda: FishWorld(FishConfig(fish=3, limit_steps=12), 3, device=torch.device("cpu")),
}


def played(world, decisions=15):
    """All that a world does from here with fixed actions, as something that can be compared."""
    dice = torch.Generator().manual_seed(3)
    steps = []
    for _ in range(decisions):
        actions = torch.randint(world.spec.actions.num_actions, (3,), generator=dice)
        result = world.step(actions)
        steps.append([result.observation.tolist(), result.reward.tolist(), result.terminated.tolist(), result.episodes])
    return steps


def check_left_as_it_was(world, untouched):
    """Compare a world in which actions were tried in the middle of episodes with one in which none were."""
    for one in (world, untouched):
        one.reset([1, 2, 3])
        played(one, 4)
    before, seen = freeze(world.state()), world.observe().clone()
    tried = probe_actions(world, 10)
    assert sorted(action for action, _ in tried) == list(range(world.spec.actions.num_actions))
    assert [gain for _, gain in tried] == sorted((gain for _, gain in tried), reverse=True)
    assert freeze(world.state()) == before == freeze(untouched.state())
    assert torch.equal(world.observe(), seen)
    assert torch.equal(world.present(), untouched.present())
    assert repr(played(world)) == repr(played(untouched))  # as text: nan is nan
    world.close()
    untouched.close()


@pytest.mark.parametrize("name", WORLDS)
def test_the_world_is_put_back_to_the_last_bit(name):
    check_left_as_it_was(WORLDS[name](), WORLDS[name]())


def test_the_game_itself_is_put_back_and_running_right_is_found():
    needed_rom()
    config = replace(EXTENDED, sticky=0.0, limit_steps=0)
    check_left_as_it_was(MarioWorld(config, 3), MarioWorld(config, 3))
    world = MarioWorld(config, 2)
    world.reset([1, 2])
    names, tried = config.action_names, probe_actions(world, 24)
    gains = {names[action]: gain for action, gain in tried}
    assert names[tried[0].action] in ("RIGHT+B", "RIGHT+A+B")
    assert gains["NONE"] == gains["START"] == 0.0 < gains["RIGHT"] < gains["RIGHT+B"]
    open_game.cache_clear()


def test_gains_are_distances_where_the_world_tells_them():
    config = MarioConfig()
    world = MarioWorld(config, 2, game=FakeGame())
    world.reset([1, 2])
    gains = {config.action_names[action]: gain for action, gain in probe_actions(world, 12)}
    walked = world.facts_so_far(0)["x"]
    for _ in range(12):
        world.step(torch.full((2,), config.action_names.index("RIGHT+B")))
    assert gains["RIGHT+B"] == world.facts_so_far(0)["x"] - walked > gains["RIGHT"] > 0.0 == gains["LEFT"]


def test_gains_are_rewards_elsewhere_and_of_one_episode():
    world = ForeignWorld(ForeignConfig(), 2, device=torch.device("cpu"))
    world.reset([1, 2])
    tried = probe_actions(world, 40)
    assert all(5.0 < gain < 15.0 for _, gain in tried)  # the pole falls after about ten steps of one push
    world.close()


def test_longer_is_further():
    world = MarioWorld(MarioConfig(), 1, game=FakeGame())
    world.reset([1])
    assert probe_actions(world, 2)[0].gain < probe_actions(world, 6)[0].gain


class Unsayable(FakeWorld):
    @property
    def spec(self):
        return replace(super().spec, exact_resume=False)


class Uncountable(FakeWorld):
    @property
    def spec(self):
        return replace(super().spec, actions=ContinuousActions(2))


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Unsayable, "puts the world back where it was, and fake cannot say where it is; name .*forward-action instead"),
        (Uncountable, "those of fake cannot be counted"),
    ],
)
def test_what_cannot_be_put_back_or_counted_is_refused(kind, complaint):
    world = kind(3)
    world.reset([1, 2, 3])
    before = freeze(world.state())
    with pytest.raises(ConfigError, match=complaint):
        probe_actions(world, 3)
    assert freeze(world.state()) == before


def test_a_world_that_fails_is_put_back_too():
    world = FakeWorld(3, fail_at_step=7)
    world.reset([1, 2, 3])
    before = freeze(world.state())
    with pytest.raises(WorldError, match="fails at step 7"):
        probe_actions(world, 5)
    assert freeze(world.state()) == before
