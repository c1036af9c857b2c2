"""Beginnings that schools are given: exactly as they were, as often as was asked for, and none twice."""

from dataclasses import replace

import pytest
import torch
from little_schools import begun, coast, reset, turn

from respawn.contracts.knobs import Start
from respawn.errors import WorldError
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.starts import describe_pre_roll, start_state
from respawn.worlds.start_queue import StartQueue

GENERATORS = pytest.mark.parametrize("generator", ["hash", "numpy"])
TANK = FishConfig(fish=4, limit_steps=6)
VELOCITY = (0.6, 1.2)


def velocities(count, velocity=VELOCITY, first=0):
    return tuple(Start(number, "main", {"predator_velocity": list(velocity)}) for number in range(first, first + count))


def whole(world, school, number=0, kind="main"):
    swarm = world.swarm
    return Start(number, kind, start_state(swarm.fish[:, school], swarm.predator[:, school]))


class TestWholeStates:
    @GENERATORS
    def test_begin_exactly_where_they_were_whatever_was_drawn(self, generator):
        config = replace(TANK, generator=generator)
        source, world = begun(config, 5, first_seed=100), begun(config, 5, first_seed=7)
        assert not torch.equal(world.swarm.fish, source.swarm.fish)
        turn(world, tuple(whole(source, school, school) for school in range(5)), hard_start_share=1.0)
        reset(world, first_seed=7)
        assert torch.equal(world.swarm.fish, source.swarm.fish)
        assert torch.equal(world.swarm.predator, source.swarm.predator)
        assert torch.equal(world.observe(), source.observe())
        for _ in range(5):
            assert torch.equal(coast(world).observation, coast(source).observation)

    def test_of_a_moment_in_the_middle_can_be_begun_from_too(self):
        source, world = begun(TANK, 1, first_seed=100), begun(TANK, 1)
        for _ in range(3):
            coast(source)
        turn(world, (whole(source, 0),), hard_start_share=1.0)
        reset(world)
        assert torch.equal(world.swarm.fish, source.swarm.fish) and world.swarm.steps.tolist() == [0]

    def test_with_fewer_fish_leave_the_others_to_the_dice_and_with_more_are_cut_short(self):
        two, six = begun(replace(TANK, fish=2), 1, 50), begun(replace(TANK, fish=6), 1, 60)
        drawn, world = begun(TANK, 2), begun(TANK, 2)
        turn(world, (whole(two, 0, 0), whole(six, 0, 1)), hard_start_share=1.0)
        reset(world)
        assert torch.equal(world.swarm.fish[:, 0, :2], two.swarm.fish[:, 0])
        assert torch.equal(world.swarm.fish[:, 0, 2:], drawn.swarm.fish[:, 0, 2:])
        assert torch.equal(world.swarm.fish[:, 1], six.swarm.fish[:, 0, :4])


class TestVelocities:
    def rolled(self, **changes):
        config = FishConfig(fish=1, generator="hash", **changes)
        world = begun(config, 400)
        turn(world, velocities(400), hard_start_share=1.0)
        reset(world)
        assert world.births.given.all()
        return world.births

    def test_keep_their_speed_but_for_gravity(self):
        births = self.rolled()
        speed, given = births.predator[2:].norm(dim=0), torch.tensor(VELOCITY).norm()
        assert (torch.tensor(VELOCITY) == births.first_velocity.T).all()
        fall = 0.05 * 16  # all that gravity can add or take; no wall is in reach
        assert (speed < given + fall + 1e-5).all() and (speed > given - fall - 1e-5).all()
        assert speed.std() < 0.25
        told = describe_pre_roll(births, 0)
        assert told["speed_target"] == [None] * 16 and told["speed_scale"] == [1.0] * 16
        assert told["velocity_override"] and told["heading_bias_angle"] is None

    def test_keep_it_exactly_where_nothing_turns_them(self):
        births = self.rolled(pre_roll_angle_jitter=0.0)
        wanted = torch.tensor([VELOCITY[0], VELOCITY[1] + 16 * 0.05])
        torch.testing.assert_close(births.predator[2:].T, wanted.expand(400, 2), rtol=0, atol=1e-5)

    def test_lose_it_as_in_the_reference_where_that_is_asked_for(self):
        births = self.rolled(keep_injected_speed=False)
        speed = births.predator[2:].norm(dim=0)
        assert 1.1 < speed.mean() < 1.5 and 0.5 < speed.std() < 0.85  # F8: 1.31 ± 0.68 for every seed
        assert (torch.tensor(VELOCITY) == births.first_velocity.T).all()

    def test_of_a_slow_predator_do_not_become_those_of_a_fast_one(self):
        world = begun(FishConfig(fish=1), 100)
        turn(world, velocities(100, velocity=(-0.054, 0.184)), hard_start_share=1.0)
        reset(world)
        assert world.births.predator[2:].norm(dim=0).max() < 0.192 + 0.8 + 1e-5


class TestShare:
    @pytest.mark.parametrize("share", [0.1, 0.25, 0.3, 0.5, 1.0])
    @GENERATORS
    def test_is_kept_exactly_over_many_resets(self, share, generator):
        world = begun(FishConfig(fish=1, limit_steps=1, generator=generator), 7)
        turn(world, velocities(300), hard_start_share=share)
        began = [coast(world).counts["hard_starts"] for _ in range(40)]
        assert sum(began) == pytest.approx(share * 280, abs=1)
        hard = [episode.facts["hard_start"] for episode in coast(world).episodes]
        assert sum(hard) == began[-1]

    def test_of_nothing_gives_nothing(self):
        world = begun(FishConfig(fish=1, limit_steps=1), 7)
        turn(world, velocities(100), hard_start_share=0.0)
        assert sum(coast(world).counts["hard_starts"] for _ in range(10)) == 0

    def test_that_could_not_be_had_is_not_made_up_for(self):
        queue = StartQueue()
        queue.offer(velocities(2), 0.5)
        assert sum(start is not None for start in queue.take(100)) == 2
        queue.offer(velocities(50, first=2), 0.5)
        assert sum(start is not None for start in queue.take(20)) <= 11


class TestNumbers:
    def test_none_is_taken_twice_however_often_it_is_offered(self):
        world = begun(FishConfig(fish=1, limit_steps=1, pre_roll_angle_jitter=0.0), 3)
        offered = tuple(Start(n, "main", {"predator_velocity": [0.1 * n, 0.0]}) for n in range(1, 11))
        taken = []
        for _ in range(6):
            turn(world, offered, hard_start_share=1.0)
            coast(world)
            births = world.births
            taken += [round(10 * float(births.first_velocity[0, k])) for k in range(3) if births.given[k]]
        assert taken == list(range(1, 11))

    def test_those_that_are_left_go_on_after_a_save(self):
        world, again = begun(FishConfig(fish=2, limit_steps=1), 3), begun(FishConfig(fish=2, limit_steps=1), 3)
        turn(world, velocities(20), hard_start_share=0.4)
        for _ in range(3):
            coast(world)
        again.restore(world.state())
        turn(again, velocities(20), hard_start_share=0.4)
        for _ in range(6):
            one, other = coast(world), coast(again)
            assert one.counts == other.counts and torch.equal(one.observation, other.observation)

    def test_a_size_that_changes_takes_starts_at_once_and_counts_them(self):
        world = begun(TANK, 3)
        turn(world, velocities(10), hard_start_share=1.0, school_size=2)
        assert world.births.given.all()
        assert coast(world).counts["hard_starts"] == 3.0 and coast(world).counts["hard_starts"] == 0.0


class TestRefusals:
    @pytest.mark.parametrize(
        ("state", "sentence"),
        [
            ({"predator_velocity": [float("nan"), 1.0]}, "pairs of finite numbers"),
            ({"predator_velocity": [1.0, float("inf")]}, "pairs of finite numbers"),
            ({"predator_velocity": [1.0]}, "pairs of finite numbers"),
            ({"predator_velocity": "fast"}, "pairs of finite numbers"),
            ({"predator_position": [1.0, 1.0]}, "should say predator_velocity"),
            (
                {
                    "predator_position": [0.0, 0.0],
                    "predator_velocity": [1.0, 0.0],
                    "fish_positions": [[1.0, 1.0], [2.0, 2.0]],
                    "fish_velocities": [[0.0, 0.0]],
                },
                "2 places and 1 velocities",
            ),
            (
                {
                    "predator_position": [0.0, 0.0],
                    "predator_velocity": [1.0, 0.0],
                    "fish_positions": [[1.0, float("nan")]],
                    "fish_velocities": [[0.0, 0.0]],
                },
                "pairs of finite numbers",
            ),
        ],
    )
    def test_what_is_no_beginning_is_named_by_its_number(self, state, sentence):
        world = begun(TANK, 1)
        turn(world, (Start(17, "ne", state),), hard_start_share=1.0)
        with pytest.raises(WorldError, match=rf"start 17 \(ne\).*{sentence}"):
            reset(world)
