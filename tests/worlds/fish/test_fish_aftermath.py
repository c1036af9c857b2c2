import pickle

import torch

from respawn.worlds.episodes import ShowsFinalObservations
from respawn.worlds.fish.aftermath import FishWorldWithAftermath
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld

BRIEF = FishConfig(fish=4, limit_steps=30)


def test_it_is_the_same_world():
    plain, keeping = FishWorld(BRIEF, 8), FishWorldWithAftermath(BRIEF, 8)
    assert torch.equal(plain.reset(range(8)), keeping.reset(range(8))) and isinstance(keeping, ShowsFinalObservations)
    for step in range(70):
        actions = torch.arange(8) % 5
        one, other = plain.step(actions), keeping.step(actions)
        assert torch.equal(one.observation, other.observation) and torch.equal(one.reward, other.reward), step
        assert torch.equal(other.cut_observations, keeping.final_observations()[other.truncated])


def test_how_an_episode_ended_is_seen_until_the_next_step():
    world = FishWorldWithAftermath(BRIEF, 8)
    world.reset(range(8))
    for step in range(1, 31):
        assert world.aftermath().steps.tolist() == [step - 1] * 2
        world.step(torch.full((8,), 4))
    assert world.swarm.steps.tolist() == [0, 0]
    left = world.aftermath()
    assert left.steps.tolist() == [30, 30] and torch.equal(left.alive.flatten(), world.final_observations().any(1))
    kept = pickle.loads(pickle.dumps(world.state()))
    world.step(torch.full((8,), 4))
    assert world.aftermath().steps.tolist() == [1, 1] and left.steps.tolist() == [30, 30]
    world.restore(kept)
    assert world.aftermath().steps.tolist() == [30, 30] and torch.equal(world.aftermath().fish, left.fish)
    world.reset(range(8))
    assert world.aftermath().steps.tolist() == [0, 0]


def test_the_predator_of_the_first_step_is_remembered():
    world = FishWorldWithAftermath(BRIEF, 8)
    world.reset(range(8))
    world.step(torch.full((8,), 4))
    first = world.swarm.predator.clone()
    for _ in range(29):
        world.step(torch.full((8,), 4))
        assert torch.equal(world.predator_after_one(), first)
    world.step(torch.full((8,), 4))
    assert not torch.equal(world.predator_after_one(), first)
