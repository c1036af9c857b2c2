"""Schools that are played from their seeds, and what is written down of them."""

from dataclasses import replace

import pytest
import torch

from respawn.contracts.knobs import Knobs, Start
from respawn.evaluation.null_policies import FixedPolicy, RandomPolicy
from respawn.evaluation.schools import LARGEST_SEED, play_schools, reference_seeds
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld, school_seeds

CPU = torch.device("cpu")
COAST = 4
TANK = replace(FishConfig(limit_steps=40, neighbours=False).as_judged(12), spawn_radius=4.0)
"""Reference tanks in which more fish than there begin in danger."""


def played(seeds, at_a_time, config=TANK, policy=None, generator=None):
    world = FishWorld(config, at_a_time * config.fish)
    return play_schools(world, policy or FixedPolicy(COAST), seeds, generator, CPU)


def told(records):
    """All that is written down but for the lane; as text, for a first death may be NaN."""
    return [str(replace(record, episode=replace(record.episode, lane=0))) for record in records]


class TestReferenceSeeds:
    def test_are_the_ones_that_were_recorded(self):
        assert reference_seeds(411232, 80, 4) == [848573024, 999370333, 1157335068, 2083629807]

    def test_of_each_evaluation_are_fresh_and_follow_on(self):
        lists = [reference_seeds(411232, 20 * number, 20) for number in range(7)]
        one_after_another = [seed for seeds in lists for seed in seeds]
        assert one_after_another == reference_seeds(411232, 0, 140) and len(set(one_after_another)) == 140
        assert all(0 <= seed < LARGEST_SEED for seed in one_after_another)

    def test_of_another_base_are_others(self):
        assert not set(reference_seeds(411232, 0, 50)) & set(reference_seeds(411233, 0, 50))


class TestPlaying:
    def test_comes_in_the_order_of_the_seeds_and_does_not_depend_on_how_many_at_a_time(self):
        seeds = [30, 10, 20, 50, 40, 11, 12]
        records = played(seeds, 7)
        assert [record.seed for record in records] == seeds
        for at_a_time in (1, 3, 10):
            assert told(played(seeds, at_a_time)) == told(records)
        assert told(played(seeds[::-1], 7)[::-1]) == told(records)

    def test_is_the_same_whatever_was_played_before(self):
        world = FishWorld(TANK, 3 * 12)
        first = play_schools(world, FixedPolicy(COAST), [1, 2, 3], None, CPU)
        play_schools(world, FixedPolicy(0), [4, 5, 6, 7], None, CPU)
        assert told(play_schools(world, FixedPolicy(COAST), [1, 2, 3], None, CPU)) == told(first)

    def test_drawn_actions_follow_from_their_generator(self):
        def once(seed):
            return told(played([1, 2, 3], 3, policy=RandomPolicy(5), generator=torch.Generator().manual_seed(seed)))

        assert once(0) == once(0) and once(0) != once(1)

    def test_ends_with_the_last_step_of_an_episode(self):
        for record in played(range(6), 6):
            assert record.episode.length == (40 if record.alive else max(record.death_steps))
            assert record.survival == record.alive / 12 == record.episode.facts["survival"]
            assert all(step == -1 or 1 <= step <= 40 for step in record.death_steps)


@pytest.fixture(scope="module")
def records():
    return played(range(40), 40)


class TestRecords:
    def test_name_who_was_caught_in_the_first_step_and_where(self, records):
        assert any(record.step_one_deaths for record in records)
        for record in records:
            caught = [number for number, step in enumerate(record.death_steps) if step == 1]
            assert [death["fish_idx"] for death in record.step_one_deaths] == caught
            assert record.doomed <= len(caught) == record.episode.facts["step_one_deaths"]
            for death in record.step_one_deaths:
                apart = torch.tensor(death["fish_position"]) - torch.tensor(death["predator_position"])
                assert apart.norm() < 0.7 and death["timestep"] == 1 and death["predator_index"] == 0

    def test_count_who_was_born_within_reach(self, records):
        assert sum(record.born_inside for record in records) > sum(record.doomed for record in records) > 0
        for record in records:
            apart = torch.tensor(record.start["fish_positions"]) - torch.tensor(record.start["predator_position"])
            assert record.born_inside == int((apart.norm(dim=1) < 0.7).sum())

    def test_tell_of_a_school_that_is_gone_after_one_step(self):
        records = played(range(300), 300, config=replace(TANK, fish=1))
        gone = [record for record in records if record.episode.length == 1]
        assert gone and all(record.death_steps == (1,) for record in gone)
        assert all(len(record.step_one_deaths) == 1 and record.alive == 0 for record in gone)
        assert sum(len(record.step_one_deaths) for record in records) == len(gone)

    def test_hold_a_beginning_that_a_world_can_begin_from_again(self, records):
        world = FishWorld(replace(TANK, generator="hash", whole_circle=True), 40 * 12)
        values = {knob.name: knob.default for knob in world.spec.knobs} | {"hard_start_share": 1.0}
        world.apply(Knobs(0, values, tuple(Start(n, "main", record.start) for n, record in enumerate(records))))
        world.reset(school_seeds(range(900, 940), 12))
        original = FishWorld(TANK, 40 * 12)
        original.reset(school_seeds(range(40), 12))
        assert torch.equal(world.swarm.fish, original.swarm.fish)
        assert torch.equal(world.swarm.predator, original.swarm.predator)

    def test_tell_how_the_predator_came_to_be_there(self, records):
        for record in records:
            told = record.pre_roll
            assert told["final_velocity"] == record.start["predator_velocity"] and told["steps"] == 16
            assert told["initial_speed"] == pytest.approx(1.5) and 0 <= told["heading_bias_angle"] < 330
            assert 0 <= told["spawn_radius"] <= 1.6 and not told["velocity_override"]
