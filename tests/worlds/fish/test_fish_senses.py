"""What fish sense of each other and are paid, in each of the ways that it is computed."""

import itertools

import pytest
import torch
from little_schools import begun, coast, put, turn

from respawn.worlds.fish import neighbours
from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig, FishRewards
from respawn.worlds.fish.constants import VISION_RADIUS
from respawn.worlds.fish.neighbours import Neighbourhood, torch_statistics

AT_REST = (0.0, 0.0, 0.0, -0.05)
"""A predator that a step leaves where it is, in the centre."""


def swarm(num_schools, num_fish, alive_share=0.8, seed=0, size=10.0):
    """Fish [4, S, N], crowded in the middle, and who lives."""
    dice = torch.Generator().manual_seed(seed)
    radius = size * torch.rand(num_schools, num_fish, generator=dice)
    angle = 2 * torch.pi * torch.rand(num_schools, num_fish, generator=dice)
    speeds = torch.randn(2, num_schools, num_fish, generator=dice)
    fish = torch.stack([radius * angle.cos(), radius * angle.sin(), *speeds])
    return fish, torch.rand(num_schools, num_fish, generator=dice) < alive_share


class TestNeighbours:
    @pytest.mark.parametrize("num_fish", [1, 2, 25, 96, 256, 257, 300, 700])
    @pytest.mark.parametrize("alive_share", [0.05, 0.8, 1.0])
    def test_three_ways_agree(self, num_fish, alive_share, monkeypatch):
        fish, alive = swarm(2, num_fish, alive_share, seed=num_fish)
        compiled = Neighbourhood(3.0, 6, torch.device("cpu"))
        assert compiled._native is not None
        monkeypatch.setattr(neighbours, "LARGE_SCHOOL", 10_000)
        dense = torch_statistics(fish, alive, 3.0, 6)
        monkeypatch.setattr(neighbours, "LARGE_SCHOOL", 0)
        in_order = torch_statistics(fish, alive, 3.0, 6)
        torch.testing.assert_close(in_order, dense, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(compiled.statistics(fish, alive), dense, rtol=1e-5, atol=1e-5)
        assert num_fish < 25 or alive_share < 0.8 or (dense[..., 0] > 0).any()

    @pytest.mark.parametrize("radius", [0.1, 1.0, 20.0])
    @pytest.mark.parametrize("count", [1, 6, 500])
    def test_whatever_is_near_and_however_many_are_averaged(self, radius, count, monkeypatch):
        fish, alive = swarm(3, 300)
        compiled = Neighbourhood(radius, count, torch.device("cpu")).statistics(fish, alive)
        in_order = torch_statistics(fish, alive, radius, count)
        monkeypatch.setattr(neighbours, "LARGE_SCHOOL", 10_000)
        dense = torch_statistics(fish, alive, radius, count)
        torch.testing.assert_close(in_order, dense, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(compiled, dense, rtol=1e-5, atol=1e-5)

    def test_many_schools_are_done_in_parts_with_the_same_result(self, monkeypatch):
        fish, alive = swarm(9, 30)
        at_once = torch_statistics(fish, alive, 3.0, 6)
        monkeypatch.setattr(neighbours, "_PAIRS_AT_ONCE", 2 * 30**2)
        assert torch.equal(torch_statistics(fish, alive, 3.0, 6), at_once)

    def test_the_dead_are_nobodys_neighbours(self, way):
        fish, alive = swarm(1, 30, alive_share=1.0, size=2.0)
        sense = Neighbourhood(3.0, 6, torch.device("cpu"))
        alive[0, 10:] = False
        some = sense.statistics(fish, alive)
        torch.testing.assert_close(some[:, :10], sense.statistics(fish[:, :, :10].contiguous(), alive[:, :10]))
        assert not some[0, 10:].any() and some[0, :10, 0].max() <= 9

    def test_a_world_of_large_schools_goes_the_same_way_in_torch(self, monkeypatch):
        config = FishConfig(fish=300, density_penalty=0.05, divergence_reward=0.1)
        compiled = begun(config, 2)
        monkeypatch.setattr("respawn.worlds.fish.kernels.compiled", lambda device: None)
        plain = begun(config, 2)
        for _ in range(5):
            one, other = coast(compiled), coast(plain)
            torch.testing.assert_close(one.observation, other.observation, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(one.reward, other.reward, rtol=1e-5, atol=1e-5)


class TestRewards:
    def paid(self, rewards, *distances):
        """What lonely fish at rest are paid at these distances from the predator."""
        world = begun(FishConfig(fish=1, neighbours=False, rewards=rewards), len(distances))
        state = world.state()
        state["swarm"]["fish"].zero_()[0, :, 0] = torch.tensor(distances)
        state["swarm"]["predator"].copy_(torch.tensor(AT_REST)[:, None])
        state["swarm"]["alive"][:] = True
        world.restore(state)
        return coast(world).reward.tolist()

    def test_legacy_has_a_step_where_the_predator_comes_into_sight(self, way):
        inside, outside = self.paid(LEGACY_REWARDS, VISION_RADIUS - 1e-4, VISION_RADIUS + 1e-4)
        assert inside - outside == pytest.approx(0.5, abs=1e-3)

    def test_smooth_has_none_anywhere_and_never_pays_for_being_seen(self, way):
        paid = self.paid(FishRewards(), *(0.8 + 0.01 * number for number in range(800)))
        steps = [later - earlier for earlier, later in itertools.pairwise(paid)]
        assert min(steps) >= -1e-6 and max(steps) < 0.1 * 5.0 * 0.01 / VISION_RADIUS + 1e-5
        assert paid[-1] == max(paid) == pytest.approx(0.7)
        inside, outside = self.paid(FishRewards(), VISION_RADIUS - 1e-4, VISION_RADIUS + 1e-4)
        assert inside == pytest.approx(outside, abs=1e-4)

    def test_a_longer_reach_pays_beyond_sight(self, way):
        far = FishRewards(alive=0.0, wall=0.0, scale=1.0, out_of_sight=1.0, reach=15.0)
        assert self.paid(far, 6.0, 9.0) == pytest.approx([0.4, 0.6])

    def test_the_price_of_a_crowd_is_a_knob(self, way):
        config = FishConfig(fish=4, rewards=LEGACY_REWARDS, density_target=0.0)
        world = begun(config, 1)
        four = [(5.0, 0.0, 0.0, 0.0), (5.5, 0.0, 0.0, 0.0), (5.0, 0.5, 0.0, 0.0), (5.0, -0.5, 0.0, 0.0)]
        put(world, four, predator=AT_REST)
        free = coast(world).reward
        turn(world, density_penalty=2.0)
        put(world, four, predator=AT_REST)
        torch.testing.assert_close(coast(world).reward, free - 0.1 * 2.0 * 3 / 6)
