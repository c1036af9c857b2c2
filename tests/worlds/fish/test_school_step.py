"""The compiled step of the fish world against the same in torch."""

import copy

import numpy as np
import pytest
import torch

from respawn.worlds.fish import _school, kernels
from respawn.worlds.fish.config import LEGACY_REWARDS, FishConfig
from respawn.worlds.fish.neighbours import torch_statistics
from respawn.worlds.fish.physics import length
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.tank import CompiledTank, TorchTank, make_tank
from respawn.worlds.fish.world import FishWorld, school_seeds

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def path_as_before():
    before = _school.simd_path()
    yield
    _school.set_simd_path(before)


def swarm(num_schools, num_fish, seed=0):
    """Fish all over the tank, many at the wall, some that stand or are too fast, some dead; and predators."""
    random = torch.Generator().manual_seed(seed)
    made = SwarmState.empty(num_schools, num_fish, CPU)
    shape = (num_schools, num_fish)
    at_wall = torch.rand(shape, generator=random) < 0.3
    far = torch.where(
        at_wall, 9.9 + 0.1 * torch.rand(shape, generator=random), 10 * torch.rand(shape, generator=random)
    )
    angle, heading = 2 * torch.pi * torch.rand(2, *shape, generator=random)
    speeds = torch.tensor([0.0, 0.009, 0.02, 0.7, 1.5, 2.0, 5.0])
    fast = speeds[torch.randint(len(speeds), shape, generator=random)]
    made.fish = torch.stack([far * angle.cos(), far * angle.sin(), fast * heading.cos(), fast * heading.sin()])
    made.predator = torch.randn(4, num_schools, generator=random) * torch.tensor([4.0, 4.0, 1.5, 1.5])[:, None]
    made.alive = torch.rand(shape, generator=random) < 0.85
    made.sizes.fill_(num_fish)
    return made


def actions_for(config, shape, seed):
    random = torch.Generator().manual_seed(seed)
    if config.steering == "discrete":
        return torch.randint(5, (shape.numel(),), generator=random)
    return 1.5 * torch.randn(shape.numel(), 2, generator=random)


def one_step(tank, config, state, actions, statistics_of):
    state.steps += 1
    distance, caught = tank.move(state, actions)
    statistics = statistics_of(state)
    observation = torch.full((*state.alive.shape, config.num_values), -7.0)
    tank.sense(state, distance, statistics if config.neighbours else None, observation)
    reward = tank.pay(state, distance, caught, statistics, 0.05)
    paid, living = tank.tally(state, reward, caught)
    return distance, caught, observation, reward, paid, living


CONFIGS = [
    FishConfig(fish=25),
    FishConfig(fish=25, neighbours=False, rewards=LEGACY_REWARDS),
    FishConfig(fish=25, divergence_reward=0.3),
    FishConfig(fish=25, steering="continuous"),
]


class TestStep:
    @pytest.mark.parametrize("path", _school.simd_paths())
    @pytest.mark.parametrize("config", CONFIGS)
    @pytest.mark.parametrize("sizes", [(1, 1), (40, 25), (3, 300)])
    def test_is_that_of_torch_to_the_bit(self, path, config, sizes):
        _school.set_simd_path(path)
        native, plain = swarm(*sizes), swarm(*sizes)
        crowd = torch_statistics(native.fish, native.alive, 3.0, 6) if config.neighbours else None
        for number in range(30):
            actions = actions_for(config, native.alive.shape, number)
            came = one_step(make_tank(config, CPU), config, native, actions, lambda _: crowd)
            wanted = one_step(TorchTank(config), config, plain, actions, lambda _: crowd)
            close = {"rtol": 0.0, "atol": 0.0} if config.steering == "discrete" else {"rtol": 1e-6, "atol": 1e-6}
            for one, other in zip((*came[:4], came[5]), (*wanted[:4], wanted[5]), strict=True):
                torch.testing.assert_close(one, other, **close)
            torch.testing.assert_close(came[4], wanted[4], rtol=1e-6, atol=1e-6)
            for name in ("fish", "predator", "alive", "death_steps"):
                torch.testing.assert_close(getattr(native, name), getattr(plain, name), **close)
            if config.steering == "continuous":  # rounding adds up: begin the next step from the same
                native = copy.deepcopy(plain)

    def test_leaves_the_dead_alone_and_changes_in_place(self):
        state = swarm(30, 25)
        before, places = copy.deepcopy(state), state.fish
        CompiledTank(FishConfig(), _school).move(state, torch.zeros(750, dtype=torch.int64))
        assert state.fish is places
        assert torch.equal(state.fish[:, ~before.alive], before.fish[:, ~before.alive])
        assert not torch.equal(state.fish[:, before.alive], before.fish[:, before.alive])

    @pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
    def test_takes_actions_of_any_kind_and_order(self, dtype):
        first, second = swarm(6, 25), swarm(6, 25)
        actions = torch.randint(5, (2, 150)).T[:, 0]
        tank = CompiledTank(FishConfig(), _school)
        tank.move(first, actions.contiguous())
        tank.move(second, torch.stack([actions, actions], 1).to(dtype)[:, 0])
        assert torch.equal(first.fish, second.fish)

    def test_takes_numpy(self):
        state, other = swarm(6, 25), swarm(6, 25)
        actions, distance, caught = np.full((6, 25), 1), np.zeros((6, 25), np.float32), np.ones((6, 25), bool)
        _school.step(state.fish.numpy(), state.predator.numpy(), state.alive.numpy(), actions, distance, caught)
        CompiledTank(FishConfig(), _school).move(other, torch.ones(150, dtype=torch.int64))
        assert torch.equal(state.fish, other.fish) and torch.equal(state.predator, other.predator)


class TestWorld:
    def test_is_the_same_where_the_module_was_not_built(self, monkeypatch):
        config = FishConfig(fish=7, neighbours=False, limit_steps=60, forced_reset_steps=40, forced_reset_share=0.5)
        native = FishWorld(config, 9 * config.fish)
        monkeypatch.setattr(kernels, "compiled", lambda device: None)
        plain = FishWorld(config, 9 * config.fish)
        seeds = school_seeds(range(9), config.fish)
        assert torch.equal(native.reset(seeds), plain.reset(seeds))
        for number in range(130):
            actions = actions_for(config, native.swarm.alive.shape, number)
            came, wanted = native.step(actions), plain.step(actions)
            for name in ("observation", "reward", "terminated", "truncated", "cut_observations", "valid"):
                assert torch.equal(getattr(came, name), getattr(wanted, name)), (number, name)
            assert [episode.facts["alive"] for episode in came.episodes] == [
                episode.facts["alive"] for episode in wanted.episodes
            ]

    def test_of_another_device_does_without_the_module(self):
        assert kernels.compiled(CPU) is _school
        assert kernels.compiled(torch.device("meta")) is None


class TestLength:
    def test_does_not_depend_on_where_a_number_lies(self):
        x, y = torch.randn(2, 1003, generator=torch.Generator().manual_seed(1))
        wanted = np.sqrt(x.numpy() * x.numpy() + y.numpy() * y.numpy())
        assert np.array_equal(length(x, y).numpy(), wanted)
        assert all(torch.equal(length(x[i : i + 7], y[i : i + 7]), length(x, y)[i : i + 7]) for i in range(0, 900, 13))


class TestNeighboursOf:
    @pytest.mark.parametrize("num_fish", [1, 25, 96, 300])
    def test_planes_are_those_of_pairs(self, num_fish):
        state = swarm(5, num_fish)
        pairs, planes = torch.empty(2, 5, num_fish, 7)
        positions, velocities = (part.permute(1, 2, 0).contiguous() for part in (state.fish[:2], state.fish[2:]))
        _school.neighbours(positions, velocities, state.alive, 3.0, 6, pairs)
        _school.neighbours_of(state.fish, state.alive, 3.0, 6, planes, 2)
        assert torch.equal(pairs, planes)


def arrays(function):
    state = swarm(4, 30)
    distance, caught = torch.zeros(4, 30), torch.zeros(4, 30, dtype=torch.bool)
    tanks = {"fish": state.fish, "alive": state.alive, "distance": distance}
    free = {"alive": 1, "sight": 1, "out_of_sight": 1, "reach": 1, "wall": 1, "scale": 1, "death": 1, "smooth": True}
    return {
        "step": {**tanks, "predator": state.predator, "actions": torch.zeros(4, 30).long(), "caught": caught},
        "look": {**tanks, "predator": state.predator, "out": torch.zeros(4, 30, 18)},
        "pay": {**tanks, "caught": caught, "prices": _school.Prices(**free), "out": torch.zeros(4, 30)},
        "neighbours_of": {
            "fish": state.fish,
            "alive": state.alive,
            "radius": 3.0,
            "average_count": 6,
            "out": torch.zeros(4, 30, 7),
        },
        "tally": {
            "reward": torch.zeros(4, 30),
            "alive": state.alive,
            "caught": caught,
            "steps": state.steps,
            "death_steps": state.death_steps,
            "rewards": torch.zeros(4).double(),
            "living": torch.zeros(4).long(),
        },
    }[function]


class TestArrays:
    @pytest.mark.parametrize(
        ("function", "name", "wrong", "error", "sentence"),
        [
            ("step", "fish", torch.zeros(3, 4, 30), ValueError, r"fish must have shape \(4, any, any\)"),
            ("step", "fish", torch.zeros(4, 4, 30).double(), TypeError, "fish must be float32, but is torch.float64"),
            ("step", "fish", torch.zeros(4, 30, 4).transpose(1, 2), ValueError, "fish must lie in memory without gaps"),
            ("step", "fish", None, TypeError, "fish must be a CPU tensor or a NumPy array of float32"),
            ("step", "predator", torch.zeros(4, 5), ValueError, r"predator must have shape \(4, 4\)"),
            ("step", "alive", torch.ones(4, 30), TypeError, "alive must be bool, but is torch.float32"),
            ("step", "actions", torch.zeros(4, 30).int(), TypeError, "actions must be int64, but is torch.int32"),
            ("step", "actions", torch.zeros(4, 30), TypeError, "actions must be int64, but is torch.float32"),
            ("step", "actions", torch.zeros(4, 30, 3), ValueError, r"actions must have shape \(4, 30, 2\)"),
            ("step", "actions", torch.zeros(4, 30, 2).long(), TypeError, "actions must be float32"),
            ("step", "actions", 3, TypeError, "actions must be a CPU tensor"),
            ("step", "distance", torch.zeros(4, 29), ValueError, r"distance must have shape \(4, 30\)"),
            ("step", "caught", torch.zeros(4, 30), TypeError, "caught must be bool"),
            ("step", "threads", 0, ValueError, "threads must be 1 to"),
            ("look", "out", torch.zeros(4, 30, 10), ValueError, "numbers of each fish in out must be 11 to"),
            ("look", "statistics", torch.zeros(4, 30, 6), ValueError, r"statistics must have shape \(4, 30, 7\)"),
            ("look", "out", np.broadcast_to(np.float32(0), (4, 30, 18)), ValueError, "out"),
            ("pay", "prices", 3.0, TypeError, "pay"),
            ("pay", "out", torch.zeros(4, 30, 1), ValueError, r"out must have shape \(4, 30\)"),
            ("neighbours_of", "fish", torch.zeros(4, 30, 2), ValueError, r"alive must have shape \(30, 2\)"),
            ("neighbours_of", "radius", -1.0, ValueError, "radius must be a number from"),
            ("tally", "steps", torch.zeros(4).long(), TypeError, "steps must be int32, but is torch.int64"),
            ("tally", "rewards", torch.zeros(4), TypeError, "rewards must be float64"),
            ("tally", "living", torch.zeros(3).long(), ValueError, r"living must have shape \(4,\)"),
        ],
    )
    def test_that_do_not_fit_are_refused(self, function, name, wrong, error, sentence):
        asked = arrays(function)
        getattr(_school, function)(**asked)
        before = {key: value.clone() for key, value in asked.items() if isinstance(value, torch.Tensor)}
        with pytest.raises(error, match=sentence):
            getattr(_school, function)(**(asked | {name: wrong}))
        assert all(torch.equal(asked[key], value) for key, value in before.items())

    def test_that_are_read_only_are_not_written(self):
        asked = arrays("step")
        asked["distance"] = np.frombuffer(bytes(4 * 4 * 30), np.float32).reshape(4, 30)
        with pytest.raises(ValueError, match="distance is written to, but is read-only"):
            _school.step(**asked)

    def test_leave_columns_that_are_not_theirs(self):
        asked = arrays("look")
        asked["out"].fill_(-7.0)
        _school.look(**asked)
        assert (asked["out"][..., 11:] == -7).all() and not (asked["out"][..., :11] == -7).any()
        assert not asked["out"][~asked["alive"]][..., :11].any()
