import numpy as np
import torch

from respawn.testing.fake_console import FakeGame
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.world import MarioWorld

PIXELS = MarioConfig(observation="pixels", picture_size=48, frame_stack=3, limit_steps=5)


def make(config, num_lanes=2):
    world = MarioWorld(config, num_lanes, game=FakeGame())
    world.reset(range(num_lanes))
    return world


def step(world, name="RIGHT+B"):
    action = MarioConfig().action_names.index(name)
    return world.step(torch.full((world.spec.num_lanes,), action))


class TestPixels:
    def test_are_bytes_as_large_and_as_many_as_asked(self):
        world = make(PIXELS)
        assert (world.spec.observation.shape, world.spec.observation.dtype) == ((3, 48, 48), "uint8")
        assert world.observe().shape == (2, 3, 48, 48)

    def test_an_episode_begins_as_if_its_start_had_always_been_seen(self):
        seen = make(PIXELS).observe()
        assert torch.equal(seen, seen[:, :1].expand(-1, 3, -1, -1))
        assert seen.unique().numel() > 1

    def test_the_newest_picture_is_the_last_and_the_oldest_falls_out(self):
        world = make(PIXELS)
        before = world.observe().clone()
        for _ in range(3):
            after = step(world, "RIGHT+A+B").observation
            assert torch.equal(after[:, :-1], before[:, 1:])
            assert not torch.equal(after[:, -1], before[:, -1])
            before = after.clone()

    def test_a_new_episode_keeps_no_picture_of_the_old_one(self):
        world = make(PIXELS)
        start = world.observe().clone()
        for _ in range(5):
            result = step(world)
        assert result.truncated.all()
        assert torch.equal(result.observation, start)
        assert not torch.equal(result.cut_observations, start)

    def test_the_newest_picture_is_what_people_are_shown(self):
        world = make(MarioConfig(observation="pixels", picture_size=240))
        for _ in range(4):
            world.render(0)
            newest = step(world).observation[0, -1].numpy()
        lines = world.render(0)[:, :, 0]
        columns = np.arange(240) * 256 // 240
        assert np.array_equal(newest, lines[:, columns])

    def test_the_brighter_of_two_frames_differs_from_the_last(self):
        plain, brighter = make(PIXELS), make(MarioConfig(**{**vars(PIXELS), "max_of_two": True}))
        one, two = step(plain, "A").observation, step(brighter, "A").observation
        assert (two >= one).all()
        assert not torch.equal(one, two)


class TestTiles:
    def test_results_are_not_overwritten_by_the_next_step(self):
        world = make(MarioConfig(limit_steps=2))
        first = world.observe()
        kept = first.clone()
        second = step(world).observation
        copy = second.clone()
        step(world)
        assert torch.equal(first, kept)
        assert torch.equal(second, copy)
