"""Fish that nothing can save: as many as were counted in the reference's own evaluations."""

import pytest
import torch

from respawn.contracts.knobs import Knobs
from respawn.evaluation.schools import reference_seeds
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.doomed import born_inside, doomed
from respawn.worlds.fish.world import FishWorld, school_seeds

FISH, SCHOOLS = 96, 20
PROBES = [  # the first seed, the boost at that time, the doomed of 1,920 fish
    (774941881, 0.75, 37),
    (1120166328, 0.75, 34),
    (1998182649, 0.76, 24),
    (1162494815, 0.78, 42),
    (848573024, 0.80, 47),
    (886793816, 0.80, 40),
    (382005367, 0.80, 30),
]


@pytest.fixture(scope="module")
def world():
    return FishWorld(FishConfig().as_judged(FISH), SCHOOLS * FISH)


def begin(world, seeds, boost):
    values = {"school_size": FISH, "escape_boost": boost, "density_penalty": 0.0, "hard_start_share": 0.0}
    world.apply(Knobs(0, values))
    world.reset(school_seeds(seeds, FISH))
    return world.births


@pytest.mark.parametrize("number", range(len(PROBES)))
def test_as_many_as_in_the_reference(world, number):
    first, boost, wanted = PROBES[number]
    seeds = reference_seeds(411232, SCHOOLS * number, SCHOOLS)
    births = begin(world, seeds, boost)
    assert seeds[0] == first
    assert int(doomed(births.fish, births.predator).sum()) == wanted


@pytest.mark.parametrize("action", range(5))
def test_they_die_whatever_they_do_and_others_have_a_way_out(world, action):
    births = begin(world, reference_seeds(411232, 0, SCHOOLS), 0.75)
    lost = doomed(births.fish, births.predator)
    world.step(torch.full((SCHOOLS * FISH,), action))
    caught = world.swarm.death_steps == 1
    assert caught[lost].all() and lost.any()
    assert 0.0 < caught[~lost].float().mean() < 0.02  # this action was the wrong one for some that could have lived


def test_who_is_not_doomed_survives_one_of_the_five(world):
    births = begin(world, reference_seeds(411232, 0, SCHOOLS), 0.75)
    always = torch.ones(SCHOOLS, FISH, dtype=torch.bool)
    for action in range(5):
        begin(world, reference_seeds(411232, 0, SCHOOLS), 0.75)
        world.step(torch.full((SCHOOLS * FISH,), action))
        always &= world.swarm.death_steps == 1
    assert torch.equal(always, doomed(births.fish, births.predator))


def test_about_two_in_a_hundred_begin_within_reach(world):
    births = begin(world, reference_seeds(411232, 0, SCHOOLS), 0.8)
    inside = born_inside(births.fish, births.predator)
    distance = (births.fish[:2] - births.predator[:2, :, None]).norm(dim=0)
    assert torch.equal(inside, distance < 0.7)
    assert 0.012 < inside.float().mean() < 0.035
