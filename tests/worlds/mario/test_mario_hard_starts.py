"""Levels that are open, and episodes that begin in the middle of one, on a game of our own that needs no ROM."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from fake_play import CAREFUL, make, press, run_and_jump

from respawn.contracts.knobs import Knobs, Start
from respawn.errors import ConfigError, KnobError
from respawn.worlds.mario.hard_starts import HardStart, read_start
from respawn.worlds.mario.levels import find_level
from respawn.worlds.mario.starts import open_game
from respawn.worlds.mario.world import MarioWorld
from the_game import needed_rom

FOUR = replace(CAREFUL, levels=("1-1..1-4",))


def knobs_of(world, starts=(), **changes):
    return Knobs(0, {knob.name: knob.default for knob in world.spec.knobs} | changes, tuple(starts))


def told(world, lane=0):
    """All that the game's memory says of a lane."""
    return {name: np.asarray(values)[lane].tolist() for name, values in world.facts().state().items()}


def levels_begun(world, episodes=40):
    """The levels of some episodes in turn, each of them a stroll to its end."""
    seen = []
    while len(seen) < episodes:
        seen += [episode.facts["level"] for episode in press(world, FOUR, "RIGHT").episodes]
    return set(seen)


def test_only_open_levels_are_begun_in_from_the_next_rollout_on():
    world = make(FOUR, 4)
    world.reset([1, 2, 3, 4])
    world.apply(knobs_of(world, first_level=2.0, last_level=3.0))
    assert levels_begun(world) == {"1-2", "1-3"}
    world.apply(knobs_of(world))
    levels_begun(world, 4)
    assert levels_begun(world) == {"1-1", "1-2", "1-3", "1-4"}


def test_a_window_that_is_none_is_refused():
    world = make(FOUR)
    with pytest.raises(KnobError, match="first_level"):
        world.apply(knobs_of(world, first_level=3.0, last_level=2.0))


@pytest.mark.parametrize("observation", ["tiles", "pixels"])
def test_a_hard_start_is_the_very_moment(observation):
    config = replace(CAREFUL, observation=observation, start_jitter=3)
    world = make(config)
    world.reset([5])
    waited, held = world.waited_frames(0), []
    for _ in range(25):
        result = press(world, config, run_and_jump(world.facts()))
        held.append(world.last_buttons(0))
    start = HardStart(find_level("1-1"), waited, tuple(held))
    other = make(config)
    other.reset([9])
    other.apply(knobs_of(other, [Start(0, "harvested", start.state(config))], hard_start_share=1.0))
    while not other.facts_so_far(0)["hard_start"]:
        dealt = press(other, config, "RIGHT")
    assert dealt.counts["hard_starts"] == 1
    assert torch.equal(dealt.observation, result.observation)
    assert told(other) == told(world)
    for _ in range(10):
        name = run_and_jump(world.facts())
        mine, theirs = press(world, config, name), press(other, config, name)
        assert torch.equal(mine.observation, theirs.observation) and torch.equal(mine.reward, theirs.reward)
        assert told(other) == told(world)


EVERYWHERE = replace(CAREFUL, levels=("1-1", "1-2", "2-2", "4-4", "8-4"), start_jitter=7, noop_starts=2)


@pytest.mark.parametrize("game", ["fake", "real"])
@pytest.mark.parametrize("sticky", [0.0, 0.25])
@pytest.mark.parametrize("view", [{}, {"observation": "pixels"}, {"observation": "pixels", "max_of_two": True}])
def test_many_moments_are_what_they_were(view, sticky, game):
    """Whatever chance did to the buttons, in waters, mazes and castles, and behind cutscenes."""
    if game == "real":
        needed_rom()
    config = replace(EVERYWHERE, **view, sticky=sticky)
    lanes = len(config.levels)
    world, other = (make(config, n) if game == "fake" else MarioWorld(config, n) for n in (lanes, 1))
    world.reset(list(range(lanes)))
    dice, checked = torch.Generator().manual_seed(0), 0
    waited, held = [world.waited_frames(lane) for lane in range(lanes)], [[] for _ in range(lanes)]
    for step in range(1, 121):
        wild = torch.randint(len(config.action_names), (lanes,), generator=dice)
        ahead = config.action_names.index("RIGHT+B")
        result = world.step(torch.where(torch.rand(lanes, generator=dice) < 0.7, ahead, wild))
        for lane in range(lanes):
            held[lane].append(world.last_buttons(lane))
            if result.terminated[lane] or result.truncated[lane]:
                waited[lane], held[lane] = world.waited_frames(lane), []
            if step % 30 == 0 and held[lane]:
                level = find_level(world.facts_so_far(lane)["level"])
                check_moment(world, lane, other, HardStart(level, waited[lane], tuple(held[lane])).state(config))
                checked += 1
    assert checked > 2 * lanes
    open_game.cache_clear()


def check_moment(world, lane, other, state):
    """Begin the other world with the start that leads to where a lane of the first one is."""
    other.apply(knobs_of(other, [Start(0, "harvested", state)], hard_start_share=1.0))
    assert torch.equal(other.reset([9])[0], world.observe()[lane])
    assert other.facts_so_far(0)["hard_start"] and told(other) == told(world, lane)
    mine, theirs = world.state(), other.state()
    assert np.array_equal(theirs["consoles"][0], mine["consoles"][lane])
    assert theirs["held"][0] == mine["held"][lane]  # what a decision that is not heard goes on with
    for name in ("home", "first_layout"):
        assert theirs["progress"][name][0] == mine["progress"][name][lane]


def test_the_share_decides_how_many_episodes_begin_hard_and_their_flags_do_not_count():
    config = replace(CAREFUL, limit_steps=20)
    start = HardStart(find_level("1-1"), 0, (128,) * 5).state(config)
    shares = {}
    for share in (0.0, 0.5, 1.0):
        world = make(config, 2)
        world.reset([1, 2])
        world.apply(knobs_of(world, [Start(n, "main", start) for n in range(100)], hard_start_share=share))
        ended = [episode for _ in range(200) for episode in press(world, config, "NONE").episodes][2:]
        hard = [episode for episode in ended if episode.facts["hard_start"]]
        assert all(episode.facts["cleared"] != episode.facts["cleared"] for episode in hard)
        shares[share] = len(hard) / len(ended)
    assert shares == {0.0: 0.0, 0.5: pytest.approx(0.5, abs=0.1), 1.0: 1.0}


def test_a_restored_world_deals_what_it_would_have_dealt():
    config = replace(CAREFUL, limit_steps=15)
    starts = [Start(n, "main", HardStart(find_level("1-1"), 0, (128,) * n).state(config)) for n in range(1, 9)]
    world, other = make(config, 2), make(config, 2)
    world.reset([1, 2])
    knobs = knobs_of(world, starts, hard_start_share=0.5)
    world.apply(knobs)
    for _ in range(40):
        press(world, config, "NONE")
    other.restore(world.state())
    other.apply(knobs)
    for _ in range(60):
        mine, theirs = press(world, config, "RIGHT"), press(other, config, "RIGHT")
        assert torch.equal(mine.observation, theirs.observation) and mine.counts == theirs.counts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stage": 2}, "none of world.levels"),
        ({"wait": 1}, "stood still"),
        ({"frame_skip": 3}, "frame-skip"),
        ({"held": [256]}, "bytes from 0 to 255"),
        ({"more": 1}, "found"),
    ],
)
def test_starts_of_another_world_are_refused(changes, message):
    state = HardStart(find_level("1-1"), 0, (1, 2)).state(CAREFUL)
    assert read_start(state, CAREFUL).held == (1, 2)
    with pytest.raises(ConfigError, match=message):
        read_start({**state, **changes}, CAREFUL)


def test_a_start_that_leads_to_an_end_is_refused():
    world = make(CAREFUL)
    world.reset([1])
    held = (128,) * 600
    start = Start(0, "main", HardStart(find_level("1-1"), 0, held).state(CAREFUL))
    world.apply(knobs_of(world, [start], hard_start_share=1.0))
    with pytest.raises(ConfigError, match="end of an episode"):
        for _ in range(600):
            press(world, CAREFUL, "RIGHT")
