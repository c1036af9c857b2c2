import torch

from respawn.worlds.mario.buttons import BUTTONS
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.world import MarioWorld

RIGHT = torch.tensor([1, 0])


def test_the_step_that_ended_is_seen_as_it_was_played_and_so_is_what_follows():
    """Lane 0 runs into the first enemy; a world of whole games, where nothing ends, shows the same pictures."""
    world = MarioWorld(MarioConfig(), 2)
    endless = MarioWorld(MarioConfig(whole_game=True, skip_cutscenes=False), 2)
    for each in (world, endless):
        each.reset([1, 2])
        each.render(0)
    for _ in range(200):
        result = world.step(RIGHT)
        endless.step(RIGHT)
        assert (world.last_frames(0) == endless.last_frames(0)).all()
        if result.episodes:
            break
    assert [episode.end for episode in result.episodes] == ["death"]
    assert world.last_buttons(0) == BUTTONS["RIGHT"] and world.last_buttons(1) == 0
    follows = world.aftermath(0, 8)
    for step in range(2):
        endless.step(torch.tensor([0, 0]))
        assert (follows[4 * step : 4 * step + 4] == endless.last_frames(0)).all()
    assert follows.shape == (8, 240, 256, 3)


def test_looking_changes_nothing():
    seen, unseen = MarioWorld(MarioConfig(), 1), MarioWorld(MarioConfig(), 1)
    for world in (seen, unseen):
        world.reset([1])
    seen.render(0)
    for _ in range(20):
        observations = [world.step(RIGHT[:1]).observation for world in (seen, unseen)]
        seen.aftermath(0, 3)
        assert torch.equal(*observations)


def test_the_wait_before_an_episode_is_told():
    world = MarioWorld(MarioConfig(start_jitter=9), 16)
    world.reset(range(16))
    waits = [world.waited_frames(lane) for lane in range(16)]
    assert set(waits) <= set(range(10)) and len(set(waits)) > 3
    assert MarioWorld(MarioConfig(), 1).waited_frames(0) == 0
