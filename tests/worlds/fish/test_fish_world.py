"""Schools that grow and shrink, are caught, run out of time or are cut: who is there, and what is told of it."""

from dataclasses import replace

import pytest
import torch
from little_schools import COAST, begun, coast, reset, turn

from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld

BRIEF = FishConfig(fish=5, limit_steps=12)
DANGEROUS = FishConfig(fish=3, spawn_radius=3.0, escape_boost=False, pre_roll_steps=4, limit_steps=60)
"""Fish that begin around the predator and do not flee: many are caught, soon or later."""


class TestSchoolSize:
    def test_a_new_size_begins_all_schools_anew_in_place(self, way):
        world = begun(BRIEF, 4)
        for _ in range(3):
            coast(world)
        spec = world.spec
        turn(world, school_size=3)
        assert world.swarm.steps.tolist() == [0] * 4 and world.spec == spec
        present = world.present().view(4, 5)
        assert present[:, :3].all() and not present[:, 3:].any()
        assert not world.observe().view(4, 5, -1)[:, 3:].any() and world.observe().view(4, 5, -1)[:, :3].any(-1).all()

    def test_places_without_a_fish_stay_empty(self, way):
        world = begun(BRIEF, 4)
        turn(world, school_size=3)
        num_ended = 0
        for _ in range(30):
            result = coast(world)
            absent = torch.ones(4, 5, dtype=torch.bool)
            absent[:, :3] = False
            for told in (result.valid, result.reward, result.terminated, result.truncated, result.observation.any(-1)):
                assert not told.view(4, 5)[absent].any()
            num_ended += len(result.episodes)
            assert all(episode.facts["survival"] == episode.facts["alive"] / 3 for episode in result.episodes)
            assert len(result.cut_observations) == int(result.truncated.sum()) <= 4 * 3
        assert num_ended >= 8

    def test_the_same_size_again_disturbs_nobody(self):
        world = begun(BRIEF, 2)
        coast(world)
        before = world.swarm.state()
        turn(world, school_size=5, escape_boost=0.3)
        assert world.swarm.steps.tolist() == [1, 1] and torch.equal(world.swarm.fish, before["fish"])

    def test_small_schools_are_as_if_there_were_no_more_places(self):
        large, small = begun(BRIEF, 2), begun(replace(BRIEF, fish=3), 2)
        turn(large, school_size=3)
        reset(large)
        for _ in range(30):
            more, less = coast(large), coast(small)
            assert torch.equal(more.observation.view(2, 5, -1)[:, :3], less.observation.view(2, 3, -1))
            assert torch.equal(more.reward.view(2, 5)[:, :3], less.reward.view(2, 3))
            # as text, for a first death may be NaN
            assert [str(e.facts) for e in more.episodes] == [str(e.facts) for e in less.episodes]

    def test_a_school_grows_again(self):
        world = begun(BRIEF, 2)
        turn(world, school_size=1)
        turn(world, school_size=5)
        assert world.present().all() and world.swarm.sizes.tolist() == [5, 5]


class TestEnds:
    def test_the_limit_cuts(self, way):
        world = begun(BRIEF, 6)
        for _ in range(11):
            assert not coast(world).truncated.any()
        living = world.present().clone()
        result = coast(world)
        assert (
            torch.equal(result.truncated | result.terminated, living)
            and not (result.truncated & result.terminated).any()
        )
        assert result.truncated.any() and {episode.end for episode in result.episodes} == {"time limit"}
        assert [episode.lane for episode in result.episodes] == [0, 5, 10, 15, 20, 25]

    def test_the_limit_ends_where_that_is_asked_for(self, way):
        world = begun(replace(BRIEF, limit_truncates=False), 6)
        for _ in range(11):
            coast(world)
        living = world.present().clone()
        result = coast(world)
        assert torch.equal(result.terminated, living) and not result.truncated.any()
        assert len(result.cut_observations) == 0 and {e.end for e in result.episodes} == {"time limit"}

    def test_a_death_is_told_once_and_the_dead_stay_away_until_their_school_begins_anew(self, way):
        world = begun(DANGEROUS, 20)
        gone = torch.zeros(20, 3, dtype=torch.bool)
        deaths, waited, ends = 0, 0, set()
        for _ in range(150):
            result = coast(world)
            ended = {episode.lane // 3: episode for episode in result.episodes}
            ends |= {episode.end for episode in ended.values()}
            terminated, valid = result.terminated.view(20, 3), result.valid.view(20, 3)
            assert not (terminated & gone).any()
            assert not result.reward.view(20, 3)[gone].any()
            deaths += int(terminated.sum())
            gone |= terminated
            for school in range(20):
                if school in ended:
                    assert valid[school].all()
                    gone[school] = False
                else:
                    assert torch.equal(valid[school], ~gone[school])
            assert not result.observation.view(20, 3, -1)[gone].any()
            waited += int(gone.sum())
        assert deaths > 20 and waited > 20 and ends == {"everyone caught", "time limit"}

    def test_who_is_caught_pays_and_nobody_pays_twice(self, way):
        world = begun(DANGEROUS, 20)
        for _ in range(40):
            result = coast(world)
            assert torch.equal(result.reward < -40, result.terminated)

    def test_records_add_up(self, way):
        world = begun(DANGEROUS, 6)
        returns, alive_sum = torch.zeros(6, dtype=torch.float64), torch.zeros(6, dtype=torch.float64)
        seen = 0
        for _ in range(130):
            steps = world.swarm.steps + 1
            result = coast(world)
            returns += result.reward.view(6, 3).double().mean(1)
            schools, swarm = world.ended or ([], world.swarm)
            now = world.swarm.alive.clone()
            now[schools] = swarm.alive if schools else now[schools]
            alive_sum += now.double().mean(1)
            for place, episode in enumerate(result.episodes):
                school, deaths = schools[place], [step for step in swarm.death_steps[place].tolist() if step > 0]
                assert (episode.lane, episode.length) == (3 * school, int(steps[school]))
                assert episode.episode_return == pytest.approx(float(returns[school]), abs=1e-4)
                facts = episode.facts
                assert facts["alive"] == 3 - len(deaths) and facts["survival"] == facts["alive"] / 3
                assert facts["mean_survival"] == pytest.approx(float(alive_sum[school]) / episode.length)
                assert facts["mean_alive"] == pytest.approx(3 * facts["mean_survival"])
                assert str(facts["first_death"]) == str(float(min(deaths)) if deaths else float("nan"))
                assert facts["step_one_deaths"] == deaths.count(1) and facts["hard_start"] == 0.0
                returns[school], alive_sum[school], seen = 0.0, 0.0, seen + 1
        assert seen >= 12


class TestForcedResets:
    def test_all_episodes_are_cut(self, way):
        world = begun(replace(BRIEF, forced_reset_steps=7), 4)
        told = 0.0
        for step in range(1, 22):
            living = world.present().clone()
            result = coast(world)
            cut = step % 7 == 0
            assert len(result.episodes) == (4 if cut else 0) and result.counts["forced_resets"] == (4.0 if cut else 0.0)
            assert torch.equal(result.truncated, living & ~result.terminated if cut else torch.zeros(20).bool())
            assert all((e.end, e.length) == ("forced reset", 7) for e in result.episodes)
            told += result.counts["forced_resets"]
        assert told == 12

    def test_they_cut_even_where_the_limit_ends(self):
        world = begun(replace(BRIEF, forced_reset_steps=7, limit_truncates=False), 4)
        results = [coast(world) for _ in range(7)]
        assert results[-1].truncated.any()

    @pytest.mark.parametrize("generator", ["hash", "numpy"])
    @pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.3, 0.2, 0.4), (1.0, 1, 1)])
    def test_of_a_share(self, generator, share, low, high):
        config = FishConfig(fish=1, limit_steps=5, forced_reset_steps=2, forced_reset_share=share, generator=generator)
        world, ends = begun(config, 100), []
        for _ in range(15):
            ends += [(e.end, e.length) for e in coast(world).episodes if e.end != "everyone caught"]
        assert len(ends) > 200
        forced = sum(end == "forced reset" for end, _ in ends)
        assert set(ends) <= {("forced reset", 2), ("time limit", 5)} and low <= forced / len(ends) <= high

    def test_staggered_schools_begin_out_of_step_and_stay_so(self):
        config = FishConfig(fish=2, forced_reset_steps=40, staggered=True)
        world = begun(config, 200)
        assert int(world.swarm.cut_steps.min()) > 0 and int(world.swarm.cut_steps.max()) <= 40
        firsts = world.swarm.cut_steps.tolist()
        assert len(set(firsts)) >= 4
        lengths = {}
        for _ in range(80):
            for episode in coast(world).episodes:
                if episode.end == "forced reset":
                    lengths.setdefault(episode.lane // 2, []).append(episode.length)
        whole = [school for school in lengths if len(lengths[school]) >= 2]
        assert len(whole) > 100
        assert all(lengths[school][0] == firsts[school] and lengths[school][1] == 40 for school in whole)
        again = begun(config, 200)
        assert again.swarm.cut_steps.tolist() == firsts

    @pytest.mark.parametrize("generator", ["hash", "numpy"])
    def test_cut_observations_are_what_the_truncated_saw_before_the_next_episode(self, way, generator):
        config = replace(DANGEROUS, forced_reset_steps=30, staggered=True, generator=generator)
        world, uncut = begun(config, 12), begun(replace(config, forced_reset_steps=0, staggered=False), 12)
        told = [0] * 12
        for _ in range(30):
            result, further = coast(world), coast(uncut)
            seen = further.observation.view(12, 3, -1)
            cuts = iter(result.cut_observations)
            for lane in result.truncated.nonzero().flatten().tolist():
                cut = next(cuts)
                if told[lane // 3] == 0:
                    assert torch.equal(cut, seen[lane // 3, lane % 3]) and cut.any()
                    assert not torch.equal(cut, result.observation[lane])
            assert next(cuts, None) is None
            for number in {episode.lane // 3 for episode in (*result.episodes, *further.episodes)}:
                told[number] += 1
        assert min(told) >= 1


class TestRefusals:
    def test_lanes_that_are_no_schools(self):
        with pytest.raises(ConfigError, match=r"multiple of world\.fish \(5\), not 12"):
            FishWorld(BRIEF, 12)

    def test_seeds_that_are_too_few(self):
        with pytest.raises(WorldError, match="one seed for each of 10 lanes, got 2"):
            FishWorld(BRIEF, 10).reset([1, 2])

    def test_the_state_of_another_number_of_schools(self):
        with pytest.raises(CheckpointError, match="expected the state of 3 schools of 5 fish, got 2 schools of 5"):
            begun(BRIEF, 3).restore(begun(BRIEF, 2).state())

    @pytest.mark.parametrize(
        "wrong",
        [
            {"fish": 0},
            {"escape_boost_speed": 1.5},
            {"neighbour_radius": 0.0},
            {"forced_reset_share": -0.1},
            {"limit_steps": 0},
            {"spawn_radius": float("nan")},
            {"headings": ((0.0, 90.0, 0.0),)},
            {"headings": ((0.0, float("inf"), 1.0),)},
            {"speeds": ((2.0, 1.0, 1.0),)},
            {"speeds": ((0.0, 1.0, -1.0),)},
        ],
    )
    def test_tanks_that_cannot_be(self, wrong):
        (name,) = wrong
        with pytest.raises(ConfigError, match=rf"world\.{name.replace('_', '.')}") as refusal:
            FishConfig(**wrong)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("steering", ["discrete", "continuous"])
def test_steering_freely_has_the_five_actions_in_it(way, steering):
    discrete, free = begun(FishConfig(fish=5), 3), begun(FishConfig(fish=5, steering="continuous"), 3)
    orders = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 0.0]])  # in the order of actions
    overshooting = torch.tensor([[0.0, 3.0], [7.0, 0.0], [-1.5, 0.0], [0.0, -9.0], [0.0, 0.0]])
    for step in range(20):
        actions = (torch.arange(15) + step) % 5
        one, other = discrete.step(actions), free.step((overshooting if steering == "continuous" else orders)[actions])
        torch.testing.assert_close(one.observation, other.observation, rtol=1e-4, atol=1e-4)


def test_nobody_moves_who_is_dead(way):
    world = begun(DANGEROUS, 10)
    while world.present().all():
        coast(world)
    dead = ~world.swarm.alive
    before = world.swarm.fish[:, dead].clone()
    world.step(torch.full((30,), COAST))
    assert torch.equal(world.swarm.fish[:, dead], before)
