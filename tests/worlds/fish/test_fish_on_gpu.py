"""The same world on a GPU; run with `pytest -m gpu` where there is one."""

import pytest
import torch

from respawn.testing.suites.world import check_world
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.neighbours import torch_statistics
from respawn.worlds.fish.world import FishWorld, school_seeds

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")]


@pytest.mark.parametrize("steering", ["discrete", "continuous"])
def test_the_suite_for_worlds(steering):
    cuda = torch.device("cuda")
    check_world(lambda lanes: FishWorld(FishConfig(fish=1, steering=steering), lanes, device=cuda), num_steps=600)


@pytest.mark.parametrize(("schools", "fish"), [(7, 1), (50, 3), (64, 25), (33, 96), (5, 255), (4, 1000), (2, 1500)])
@pytest.mark.parametrize("count", [1, 6])
def test_the_kernel_says_what_torch_says(schools, fish, count):
    from respawn.worlds.fish.neighbours_triton import triton_statistics

    dice = torch.Generator(device="cuda").manual_seed(fish)
    places = 4 * torch.randn(4, schools, fish, device="cuda", generator=dice)
    alive = torch.rand(schools, fish, device="cuda", generator=dice) < 0.8
    ours, plain = (compute(places, alive, 3.0, count) for compute in (triton_statistics, torch_statistics))
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-5)


def test_an_episode_is_the_same_as_on_the_cpu():
    config = FishConfig(fish=25)
    here, there = FishWorld(config, 50), FishWorld(config, 50, device=torch.device("cuda"))
    seeds = school_seeds([1, 2], 25)
    torch.testing.assert_close(here.reset(seeds), there.reset(seeds).cpu(), atol=1e-5, rtol=1e-5)
    dice = torch.Generator().manual_seed(0)
    for _ in range(100):
        actions = torch.randint(5, (50,), generator=dice)
        near, far = here.step(actions), there.step(actions.cuda())
        torch.testing.assert_close(near.observation, far.observation.cpu(), atol=1e-5, rtol=1e-5)
        assert torch.equal(near.valid, far.valid.cpu())
