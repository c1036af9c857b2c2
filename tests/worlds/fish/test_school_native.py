import os
import threading

import numpy as np
import pytest
import torch

from respawn.worlds.fish import _school

RADIUS = 3.0


@pytest.fixture(autouse=True)
def path_as_before():
    before = _school.simd_path()
    yield
    _school.set_simd_path(before)


def schools(num_schools, num_fish, size=10.0, seed=0):
    """Positions, velocities and who is alive; uniform in the radius, so that the middle is crowded."""
    random = torch.Generator().manual_seed(seed)
    far = torch.rand(num_schools, num_fish, generator=random) * size
    angle = torch.rand(num_schools, num_fish, generator=random) * 2 * torch.pi
    positions = torch.stack([far * angle.cos(), far * angle.sin()], -1)
    velocities = torch.randn(num_schools, num_fish, 2, generator=random)
    return positions, velocities, torch.rand(num_schools, num_fish, generator=random) < 0.9


def ask(positions, velocities, alive, average_count=6, threads=1, radius=RADIUS):
    out = torch.full((*alive.shape, _school.FACTS), -1.0)
    _school.neighbours(positions, velocities, alive, radius, average_count, out, threads)
    return out


def all_pairs(positions, velocities, alive, average_count):
    """The definition, in double; only who is near whom, and who is nearer, is decided as the module does."""
    offset = positions[:, None] - positions[:, :, None]  # [S, i, j, 2]
    square = offset[..., 0] * offset[..., 0] + offset[..., 1] * offset[..., 1]
    near = (square <= RADIUS * RADIUS) & alive[:, None] & alive[:, :, None] & ~torch.eye(alive.shape[1], dtype=bool)
    ranked = torch.where(near, square, torch.inf).sort(dim=-1, stable=True).indices.argsort(-1)
    chosen = near & (ranked < average_count)
    offset, velocities = offset.double(), velocities.double()[:, None].expand(-1, alive.shape[1], -1, -1)
    distance = offset.norm(dim=-1)
    speed = velocities.norm(dim=-1) / 2
    away = torch.where(distance > 0, (velocities * offset).sum(-1) / distance, 0.0) / 2

    def mean(values, mask):
        return torch.where(mask, values, 0.0).sum(-1) / mask.sum(-1).clamp(min=1)

    speed_mean = mean(speed, near)
    nearest = torch.where(near, distance, torch.inf).amin(-1)
    facts = [
        near.sum(-1).double(),
        mean(offset[..., 0] / RADIUS, chosen),
        mean(offset[..., 1] / RADIUS, chosen),
        torch.where(near.any(-1), nearest / RADIUS, 0.0),
        speed_mean,
        mean((speed - speed_mean[..., None]) ** 2, near).sqrt(),
        mean(away, near),
    ]
    return torch.stack(facts, -1)


class TestFacts:
    @pytest.mark.parametrize("num_fish", [1, 2, 16, 25, 63, 64, 96, 257, 600])
    @pytest.mark.parametrize("size", [1.0, 10.0, 50.0])
    def test_are_those_of_the_definition(self, num_fish, size):
        asked = schools(3, num_fish, size, seed=num_fish)
        for average_count in (1, 6, 1000):
            wanted = all_pairs(*asked, average_count)
            torch.testing.assert_close(ask(*asked, average_count).double(), wanted, rtol=1e-5, atol=1e-5)

    def test_of_the_dead_and_the_lonely_are_zero(self):
        positions, velocities, alive = schools(1, 80, size=2.0)
        assert not ask(positions, velocities, torch.zeros_like(alive)).any()
        facts = ask(positions + torch.eye(80)[None, :, :1] * 100, velocities, alive)
        assert not facts[0, 0].any() and not facts[0, ~alive[0]].any() and facts[0, 1:][alive[0, 1:]].any()

    def test_of_fish_in_one_place_have_no_direction(self):
        _, velocities, alive = schools(2, 70)
        facts = ask(torch.ones(2, 70, 2), velocities, alive)
        assert not facts[..., [1, 2, 3, 6]].any()
        assert (facts[..., 0] == (alive.sum(1, keepdim=True) - 1) * alive).all()

    def test_of_equally_near_neighbours_the_first_count(self):
        positions = torch.tensor([[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, -1.0]]])
        facts = ask(positions, torch.zeros(1, 4, 2), torch.ones(1, 4, dtype=torch.bool), average_count=2)
        torch.testing.assert_close(facts[0, 0, 1:3], torch.tensor([0.5, 0.5]) / RADIUS)

    def test_say_that_equal_speeds_do_not_deviate(self):
        positions, velocities, alive = schools(2, 96)
        facts = ask(positions, torch.full_like(velocities, 0.7), alive)
        assert not facts[..., 5].any()


class TestBytes:
    @pytest.mark.parametrize(("num_schools", "num_fish"), [(20, 25), (20, 96), (3, 600)])
    def test_depend_on_neither_threads_nor_path_nor_other_schools(self, num_schools, num_fish):
        asked = schools(num_schools, num_fish)
        first = ask(*asked)
        for path in _school.simd_paths():
            _school.set_simd_path(path)
            for threads in (1, 2, 3):
                assert torch.equal(ask(*asked, threads=threads), first), (path, threads)
        alone = [ask(*(part[i : i + 1] for part in asked)) for i in range(num_schools)]
        assert torch.equal(torch.cat(alone), first)

    def test_are_the_same_for_callers_at_the_same_time(self):
        asked = schools(50, 60)
        wanted, came = ask(*asked), []
        callers = [threading.Thread(target=lambda: came.append(ask(*asked, threads=2))) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert len(came) == 4 and all(torch.equal(facts, wanted) for facts in came)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_are_the_same_in_a_forked_child(self):
        positions, velocities, alive = (part.numpy() for part in schools(20, 60))
        out, again = np.empty((20, 60, 7), np.float32), np.empty((20, 60, 7), np.float32)
        _school.neighbours(positions, velocities, alive, RADIUS, 6, out, 2)
        child = os.fork()
        if child == 0:
            _school.neighbours(positions, velocities, alive, RADIUS, 6, again, 2)
            os._exit(0 if out.tobytes() == again.tobytes() else 1)
        assert os.waitpid(child, 0)[1] == 0


class TestArrays:
    def test_may_be_tensors_or_numpy_and_are_not_copied(self):
        asked = schools(4, 30)
        wanted = ask(*asked)
        out = np.zeros((5, 30, 7), np.float32)
        read_only = [part.numpy() for part in asked]
        for part in read_only:
            part.flags.writeable = False
        assert _school.neighbours(*read_only, radius=RADIUS, average_count=6, out=out[1:]) is None
        assert np.array_equal(out[1:], wanted.numpy()) and not out[0].any()

    def test_may_be_empty(self):
        assert ask(*schools(0, 30), threads=2).shape == (0, 30, 7)
        assert ask(*schools(3, 0), threads=2).shape == (3, 0, 7)

    @pytest.mark.parametrize(
        ("name", "wrong", "error", "sentence"),
        [
            ("positions", torch.zeros(4, 30, 2).double(), TypeError, "positions must be float32, but is torch.float64"),
            ("positions", np.zeros((4, 30, 2)), TypeError, "positions must be float32, but is float64"),
            ("positions", [[[0.0, 0.0]]], TypeError, "positions must be a CPU tensor or a NumPy array of float32"),
            ("positions", None, TypeError, "positions must be a CPU tensor or a NumPy array"),
            (
                "positions",
                torch.zeros(4, 30),
                ValueError,
                r"positions must have shape \(any, any, 2\), but has \(4, 30\)",
            ),
            ("positions", torch.zeros(4, 30, 3), ValueError, r"but has \(4, 30, 3\)"),
            ("positions", torch.zeros(4, 30, 4)[..., :2], ValueError, "positions must lie in memory without gaps"),
            ("positions", torch.zeros(2, 30, 4).permute(2, 1, 0), ValueError, "without gaps"),
            ("velocities", torch.zeros(4, 29, 2), ValueError, r"velocities must have shape \(4, 30, 2\)"),
            ("alive", torch.ones(4, 30, dtype=torch.uint8), TypeError, "alive must be bool, but is torch.uint8"),
            ("alive", torch.ones(4, 31, dtype=torch.bool), ValueError, r"alive must have shape \(4, 30\)"),
            ("out", torch.zeros(4, 30, 6), ValueError, r"out must have shape \(4, 30, 7\)"),
            ("out", np.broadcast_to(np.float32(0), (4, 30, 7)), ValueError, "out"),
            (
                "out",
                np.frombuffer(bytes(4 * 4 * 30 * 7), np.float32).reshape(4, 30, 7),
                ValueError,
                "out is written to",
            ),
            ("radius", 0.0, ValueError, "radius must be a number from"),
            ("radius", float("nan"), ValueError, "radius must be a number from"),
            ("radius", "far", TypeError, "radius"),
            ("average_count", 0, ValueError, "average_count must be 1 to"),
            ("threads", 0, ValueError, "threads must be 1 to"),
        ],
    )
    def test_that_do_not_fit_are_refused(self, name, wrong, error, sentence):
        positions, velocities, alive = schools(4, 30)
        asked = {"positions": positions, "velocities": velocities, "alive": alive, "out": torch.zeros(4, 30, 7)}
        asked |= {"radius": RADIUS, "average_count": 6, "threads": 1, name: wrong}
        with pytest.raises(error, match=sentence):
            _school.neighbours(**asked)
        assert name == "out" or not asked["out"].any()

    def test_refuse_an_unknown_path(self):
        with pytest.raises(ValueError, match="no SIMD path 'mmx'"):
            _school.set_simd_path("mmx")
