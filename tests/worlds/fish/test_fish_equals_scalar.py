"""The batched world against a plain program that moves one fish after the other."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from respawn.testing.scalar_fish import ScalarSchool
from respawn.worlds.fish.config import HEADINGS, LEGACY_REWARDS, SPEEDS, FishConfig, FishRewards
from respawn.worlds.fish.world import FishWorld, school_seeds

CONFIGS = st.builds(
    FishConfig,
    fish=st.integers(1, 7),
    neighbours=st.booleans(),
    neighbour_radius=st.sampled_from([0.5, 2.0, 3.0, 15.0]),
    neighbour_count=st.integers(1, 7),
    escape_boost=st.booleans(),
    escape_boost_speed=st.floats(0.0, 1.0),
    escape_jitter=st.sampled_from([0.0, 0.35]),
    density_penalty=st.sampled_from([0.0, 0.5]),
    divergence_reward=st.sampled_from([0.0, 0.2]),
    rewards=st.sampled_from([LEGACY_REWARDS, FishRewards(), FishRewards(alive=0.0, reach=15.0, scale=1.0, death=1.0)]),
    predator_spawn_radius=st.sampled_from([0.0, 1.6, 9.0]),
    pre_roll_steps=st.sampled_from([0, 3, 16]),
    pre_roll_angle_jitter=st.sampled_from([0.0, 0.3]),
    pre_roll_speed_jitter=st.sampled_from([0.0, 0.2]),
    headings=st.sampled_from([(), HEADINGS]),
    speeds=st.sampled_from([(), SPEEDS]),
    whole_circle=st.booleans(),
    limit_truncates=st.booleans(),
    limit_steps=st.sampled_from([500, 60]),
    generator=st.just("numpy"),
)


@settings(max_examples=25, deadline=None)
@given(config=CONFIGS, seeds=st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=3), chance=st.integers(0, 999))
def test_whole_episodes_are_the_same(config, seeds, chance):
    check(config, seeds, chance)


@pytest.mark.parametrize("fish", [25, 96])
def test_a_whole_episode_of_a_school_is_the_same(fish):
    check(FishConfig(fish=fish, density_penalty=0.05, rewards=LEGACY_REWARDS, generator="numpy"), [411232], 3)


def check(config, seeds, chance):
    world = FishWorld(config, len(seeds) * config.fish)
    scalars = [ScalarSchool(config) for _ in seeds]
    seen = world.reset(school_seeds(seeds, config.fish)).view(len(seeds), config.fish, -1)
    running = dict(enumerate(scalars))
    for number, scalar in running.items():
        np.testing.assert_allclose(seen[number], scalar.reset(seeds[number]), atol=1e-5)
        check_bits(world.swarm, number, scalar)
    dice = torch.Generator().manual_seed(chance)
    while running:
        actions = torch.randint(5, (len(seeds), config.fish), generator=dice)
        living = world.swarm.alive.clone()
        result = world.step(actions.flatten())
        for number, scalar in list(running.items()):
            senses, rewards, over, info = scalar.step(actions[number][living[number]].tolist())
            np.testing.assert_allclose(result.reward.view(len(seeds), -1)[number], rewards, atol=1e-5, rtol=1e-5)
            if over:
                episode = next(episode for episode in result.episodes if episode.lane == number * config.fish)
                schools, ended = world.ended
                check_bits(ended, schools.index(number), scalar)
                assert (episode.length, episode.facts["alive"]) == (info["timestep"], info["num_alive"])
                assert (episode.end == "everyone caught") == (info["num_alive"] == 0)
                del running[number]
                continue
            check_bits(world.swarm, number, scalar)
            here = result.observation.view(len(seeds), config.fish, -1)[number][world.swarm.alive[number]]
            np.testing.assert_allclose(here.reshape(-1, config.num_values), senses, atol=1e-5)


def check_bits(swarm, number, scalar):
    """Places and velocities to the last bit, and who died when."""
    expected = np.array([[*p, *v] for p, v in zip(scalar.places, scalar.velocities, strict=True)], np.float32)
    np.testing.assert_array_equal(swarm.fish[:, number].T.numpy(), expected)
    np.testing.assert_array_equal(swarm.predator[:, number].numpy(), np.array(scalar.predator, np.float32))
    assert swarm.death_steps[number].tolist() == scalar.death_steps
    assert swarm.alive[number].tolist() == scalar.alive
