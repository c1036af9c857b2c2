"""Segments are drawn by their errors, the same ones whoever draws and however often a run is resumed."""

import numpy as np
import pytest
import torch
from stored import numbered_rollout

from respawn.memory.replay import PrioritisedReplay
from respawn.memory.replay_config import ReplayConfig

CPU = torch.device("cpu")


def filled(pushes=3, errors=(0.1, 1.0, 2.0, 4.0), seed=1, **settings):
    config = ReplayConfig(capacity_decisions=60, **{"segments": 4, "epsilon": 1e-6, **settings})
    replay = PrioritisedReplay(config, CPU, torch.Generator().manual_seed(seed))
    for number in range(pushes):
        replay.push(numbered_rollout(100 * number % 200, version=number), torch.tensor(errors))
    return replay


def frequencies(replay, draws=2_000):
    counts = np.zeros(20)
    for _ in range(draws):
        np.add.at(counts, replay.draw(1.0, 0).slots, 1)
    return counts / counts.sum()


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_alpha_says_how_much_errors_decide(alpha):
    wanted = np.array([0.1, 1.0, 2.0, 4.0]) ** alpha
    np.testing.assert_allclose(frequencies(filled(1, alpha=alpha))[:4], wanted / wanted.sum(), atol=0.01)


def test_epsilon_keeps_what_has_no_error_in_the_draw():
    small, large = (frequencies(filled(1, (0.0, 1.0, 1.0, 1.0), epsilon=each))[0] for each in (1e-6, 1.0))
    assert small < 0.01 < 0.15 < large


def test_new_errors_change_what_is_drawn():
    replay = filled(1)
    before = frequencies(replay)[3]
    drawn = replay.draw(1.0, 0)
    replay.reprioritise(drawn, torch.where(torch.from_numpy(drawn.slots == 3), 0.0, 4.0))
    assert frequencies(replay)[3] < 0.1 < before


def test_weights_undo_the_choice_as_far_as_beta_says():
    replay = filled(1)
    assert replay.draw(0.0, 0).weights.unique().tolist() == [1.0]
    drawn = replay.draw(1.0, 0)
    priorities = torch.tensor([0.1, 1.0, 2.0, 4.0]).add(1e-6).pow(0.6)[torch.from_numpy(drawn.slots)]
    torch.testing.assert_close(drawn.weights, priorities.min() / priorities)
    halfway = replay.draw(0.5, 0)
    priorities = torch.tensor([0.1, 1.0, 2.0, 4.0]).add(1e-6).pow(0.6)[torch.from_numpy(halfway.slots)]
    torch.testing.assert_close(halfway.weights, (priorities.min() / priorities).sqrt())


def test_segments_says_how_many_are_drawn_and_how_many_are_needed_first():
    assert filled(1, segments=4).can_draw
    assert not filled(1, segments=5).can_draw
    assert filled(2, segments=5).draw(1.0, 0).segments.rewards.shape == (3, 5)


def test_lanes_in_which_nobody_decided_are_not_kept():
    replay = filled(0, segments=3)
    rollout = numbered_rollout()
    rollout.valid[:, 2] = False
    replay.push(rollout, torch.ones(4))
    assert replay.statistics(drawn=False)["replay/pushed"] == 9
    assert 20.0 not in replay.draw(1.0, 0).segments.rewards[0]


@pytest.mark.parametrize("other", ["device", "auto"])
def test_every_sampler_draws_the_same(other):
    tree, device = filled(sampler="tree"), filled(sampler=other)
    for version in range(20):
        here, there = tree.draw(0.7, version), device.draw(0.7, version)
        assert here.slots.tolist() == there.slots.tolist()
        assert torch.equal(here.weights, there.weights)
        for replay, drawn in ((tree, here), (device, there)):
            replay.reprioritise(drawn, torch.rand(4, generator=torch.Generator().manual_seed(version)))


def test_restored_it_goes_on_as_if_nothing_had_happened():
    straight, other = filled(), filled(0, seed=99)
    straight.draw(0.5, 3)
    other.restore(straight.state())
    for version in range(5):
        here, there = straight.draw(0.5, version), other.draw(0.5, version)
        assert here.slots.tolist() == there.slots.tolist()
        assert torch.equal(here.segments.observations, there.segments.observations)
        for replay, drawn in ((straight, here), (other, there)):
            replay.reprioritise(drawn, torch.tensor([0.3, 0.0, 5.0, 1.0]))
            replay.push(numbered_rollout(version, version=version), torch.ones(4))
    assert straight.statistics(drawn=True) == other.statistics(drawn=True)


def test_statistics_tell_of_fill_age_and_priorities():
    replay = filled(2, (1.0, 1.0, 1.0, 16.0), alpha=0.5)
    replay.draw(1.0, 7)
    told = replay.statistics(drawn=True)
    assert told["replay/fill"] == 8 / 20 and told["replay/capacity"] == 60 and told["replay/pushed"] == 24
    assert 6.0 <= told["replay/age"] <= 7.0
    assert told["replay/priority_p50"] == pytest.approx(1.0, abs=1e-4)
    assert told["replay/priority_p99"] == pytest.approx(4.0, rel=0.1)
    assert 0 < told["replay/unique"] <= 1 and told["replay/unique_mean"] == told["replay/unique"]
    taken = replay.taken_seconds()
    assert all(taken[f"time/replay_{stage}_seconds"] > 0 for stage in ("push", "draw", "gather", "priorities"))
    assert replay.taken_seconds()["time/replay_draw_seconds"] == 0.0
