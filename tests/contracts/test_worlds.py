"""Every world against the suite for worlds."""

from dataclasses import replace

import pytest
import torch

from respawn.contracts.world import World
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.world import (
    MakeWorld,
    check_contract,
    check_knobs,
    check_render,
    check_resume,
    check_seeds,
    check_world,
)
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.registry import WorldConfig, make_world


def maker(config: WorldConfig) -> MakeWorld:
    def make(num_lanes: int) -> World:
        return make_world(config, num_lanes, device=torch.device("cpu"), seed=0)

    return make


@pytest.mark.parametrize("with_absences", [False, True])
def test_fake(with_absences):
    check_world(lambda num_lanes: FakeWorld(num_lanes, with_absences=with_absences), num_steps=100)


@pytest.mark.parametrize("config", [RecallConfig(), RecallConfig(num_cues=2, delay_steps=0, noise=1.0)])
def test_recall(config):
    check_world(maker(config), num_steps=60)


@pytest.mark.parametrize(
    "env_id",
    [
        "CartPole-v1",
        "Acrobot-v1",
        "MountainCar-v0",
        "MountainCarContinuous-v0",
        "Pendulum-v1",
        "FrozenLake-v1",
        "Taxi-v4",
        "Blackjack-v1",
    ],
)
def test_foreign_in_process(env_id):
    config = ForeignConfig(env_id=env_id, max_episode_steps=60)
    check_world(maker(config), num_steps=130)


def test_foreign_that_cannot_end_by_itself():
    check_world(maker(ForeignConfig(env_id="CliffWalking-v1", max_episode_steps=25)), num_steps=60, is_random=False)


def test_foreign_in_two_workers():
    config = ForeignConfig(workers=2, max_episode_steps=60)
    check_world(maker(config), num_steps=130)


FISH = [(generator, steering) for generator in ("hash", "numpy") for steering in ("discrete", "continuous")]


@pytest.mark.parametrize(("generator", "steering"), FISH)
def test_lonely_fish(generator, steering):
    config = FishConfig(fish=1, generator=generator, steering=steering, limit_steps=20, pre_roll_steps=3)
    check_world(maker(config), num_steps=45)


@pytest.mark.parametrize(("generator", "steering"), FISH)
def test_schools_of_fish(generator, steering):
    """The suite makes 3 lanes where it walks and 2 where it turns knobs and draws: one school each time.

    Lanes of a school are not independent, and fewer than a school cannot be made.
    """
    config = FishConfig(generator=generator, steering=steering, limit_steps=20, forced_reset_steps=12, pre_roll_steps=3)
    config = replace(config, spawn_radius=4.0, forced_reset_share=0.5, staggered=True, density_penalty=0.05)
    three, two = maker(replace(config, fish=3)), maker(replace(config, fish=2))
    check_contract(three, 45)
    check_seeds(three, 45, is_random=True)
    check_resume(three, 45)
    check_knobs(two)
    check_render(two)
