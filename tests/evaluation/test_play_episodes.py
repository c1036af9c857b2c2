"""Playing whole episodes: each seed's is its own, in the order of the seeds."""

import itertools
import os
import signal
from dataclasses import replace

import pytest
import torch

from respawn.contracts.records import Episode
from respawn.evaluation.episodes import MAX_REPLAYS, UNFINISHED, play_episodes
from respawn.maths.seeding import make_generator
from respawn.models.build import build_model
from respawn.models.config import ModelConfig
from respawn.testing.fakes import FakeWorld
from respawn.worlds.episodes import WORKER_LOST
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig
from respawn.worlds.registry import make_world

CPU = torch.device("cpu")
MODELS = {
    "none": ModelConfig(hidden_sizes=(8,)),
    "gru": ModelConfig(hidden_sizes=(8,), core="gru", core_size=8),
    "transformer": ModelConfig(core="transformer", core_size=8, transformer_heads=2, transformer_window=4),
}
SEEDS = [3, 1, 4, 15, 9, 2, 6]


def make_fake(num_lanes):
    return FakeWorld(num_lanes)


def make_recall(num_lanes):
    return make_world(RecallConfig(num_cues=3, delay_steps=2), num_lanes, device=CPU, seed=0)


def make_cartpole(num_lanes):
    return make_world(ForeignConfig(env_id="CartPole-v1", max_episode_steps=60), num_lanes, device=CPU, seed=0)


def decided_model(world, core):
    model = build_model(world.spec, MODELS[core], seed=0)
    with torch.no_grad():
        model.policy_head.linear.weight.mul_(100.0)
    return model


def play(make, core, num_lanes, seeds, *, generator=None, limit_steps=200):
    world = make(num_lanes)
    episodes = play_episodes(world, decided_model(world, core), seeds, generator, limit_steps, CPU)
    world.close()
    return [(episode.lane, episode.length, round(episode.episode_return, 4), episode.end) for episode in episodes]


@pytest.mark.parametrize("core", MODELS)
@pytest.mark.parametrize("make", [make_fake, make_recall, make_cartpole])
def test_a_seeds_episode_is_its_own(make, core):
    """Alone, in batches that do not come out even, with lanes left over: always the same episodes, in order."""
    alone = play(make, core, 1, SEEDS)
    assert [lane for lane, *_ in alone] == list(range(7))
    for num_lanes in (2, 3, 7, 10):
        assert play(make, core, num_lanes, SEEDS) == alone
    backwards = play(make, core, 3, SEEDS[::-1])
    assert [outcome for _, *outcome in backwards] == [outcome for _, *outcome in alone[::-1]]
    assert len({tuple(outcome) for _, *outcome in alone}) > 1


def test_without_a_generator_the_likeliest_action_is_taken():
    class Watchful(FakeWorld):
        def step(self, actions):
            decision = model.act(self.observe(), {}, None)
            assert torch.equal(actions, decision.actions)
            return super().step(actions)

    world = Watchful(3)
    model = decided_model(world, "none")
    assert len(play_episodes(world, model, SEEDS, None, 100, CPU)) == 7


def test_with_a_generator_actions_are_drawn():
    drawn = [play(make_fake, "none", 3, SEEDS, generator=make_generator(seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert drawn[0] != play(make_fake, "none", 3, SEEDS)


def test_episodes_beyond_the_limit_are_unfinished():
    whole = play(make_fake, "none", 3, SEEDS)
    cut = play(make_fake, "none", 3, SEEDS, limit_steps=7)
    assert {end for *_, end in cut} > {UNFINISHED}
    for (_, length, total, end), (_, cut_length, cut_total, cut_end) in zip(whole, cut, strict=True):
        if length <= 7:
            assert (cut_length, cut_total, cut_end) == (length, total, end)
        else:
            assert (cut_length, cut_end) == (7, UNFINISHED)


def test_an_unfinished_episode_has_what_it_earned_so_far():
    """Every step of CartPole pays 1."""
    assert play(make_cartpole, "none", 2, [1, 2, 3], limit_steps=4) == [(lane, 4, 4.0, UNFINISHED) for lane in range(3)]


class LosesWorkers(FakeWorld):
    """Loses the lane that plays seed 4 in its third step, so many times."""

    times = 0

    def reset(self, seeds):
        self.lane, self.count = list(seeds).index(4) if 4 in seeds else -1, 0
        return super().reset(seeds)

    def step(self, actions):
        result = super().step(actions)
        self.count += 1
        if self.count == 3 and self.lane >= 0 and self.times > 0:
            self.times -= 1
            return replace(result, episodes=(Episode(self.lane, 0.5, 3, WORKER_LOST), *result.episodes))
        return result


@pytest.mark.parametrize("num_lanes", [1, 3, 10])
def test_an_episode_lost_with_its_worker_is_played_again(num_lanes):
    healthy = play(make_fake, "none", num_lanes, SEEDS)
    for times in (1, MAX_REPLAYS, MAX_REPLAYS + 1):
        world = LosesWorkers(num_lanes)
        world.times = times
        played = play(lambda _, world=world: world, "none", num_lanes, SEEDS)
        assert world.times == 0
        if times <= MAX_REPLAYS:
            assert played == healthy
        else:  # it stays as it is, and everybody can see it
            assert played[2] == (2, 3, 0.5, WORKER_LOST)
            assert played[:2] + played[3:] == healthy[:2] + healthy[3:]


def test_a_real_worker_lost_in_the_middle_changes_no_result():
    def losing(num_lanes):
        config = ForeignConfig(env_id="CartPole-v1", max_episode_steps=60, workers=2)
        world = make_world(config, num_lanes, device=CPU, seed=0)
        step, count = world.step, itertools.count(1)

        def step_and_kill(actions):
            if next(count) == 4:
                os.kill(world._lanes.pids[1], signal.SIGKILL)
            return step(actions)

        world.step = step_and_kill
        return world

    assert play(losing, "none", 3, SEEDS) == play(make_cartpole, "none", 3, SEEDS)


def test_only_the_first_episode_of_a_lane_counts():
    class Numbered(FakeWorld):
        def step(self, actions):
            result = super().step(actions)
            ends.extend(result.episodes)
            return result

    ends: list[Episode] = []
    world = Numbered(3)
    played = play_episodes(world, decided_model(world, "none"), [1, 2, 3], None, 200, CPU)
    first = {episode.lane: episode for episode in reversed(ends)}
    assert played == [first[lane] for lane in range(3)]
