import numpy as np
import torch

from respawn.contracts.records import Episode
from respawn.testing.suites.saveable import check_saveable, freeze
from respawn.worlds.episodes import EpisodeTracker


def flags(*lanes: int) -> torch.Tensor:
    mask = torch.zeros(3, dtype=torch.bool)
    mask[list(lanes)] = True
    return mask


def test_adds_up_and_starts_again():
    tracker = EpisodeTracker(3)
    assert tracker.record(torch.tensor([1.0, 2.0, 3.0]), flags(), flags()) == ()
    ended = tracker.record(torch.tensor([1.0, 0.5, 0.0]), flags(1), flags(0))
    assert ended == (Episode(0, 2.0, 2, "time limit"), Episode(1, 2.5, 2, "terminated"))
    ended = tracker.record(torch.tensor([5.0, 6.0, 7.0]), flags(2), flags(0, 1), {1: "worker lost"})
    assert ended == (
        Episode(0, 5.0, 1, "time limit"),
        Episode(1, 6.0, 1, "worker lost"),
        Episode(2, 10.0, 3, "terminated"),
    )


def test_begin_forgets():
    tracker = EpisodeTracker(3)
    tracker.record(torch.ones(3), flags(), flags())
    tracker.begin()
    assert tracker.record(torch.ones(3), flags(0), flags()) == (Episode(0, 1.0, 1, "terminated"),)


def test_small_rewards_are_not_lost_in_a_long_episode():
    tracker = EpisodeTracker(1)
    reward, no = np.full(1, 0.1, np.float32), np.zeros(1, bool)
    for _ in range(99_999):
        tracker.record_arrays(reward, no, no)
    (episode,) = tracker.record_arrays(reward, ~no, no)
    assert abs(episode.episode_return - 100_000 * float(np.float32(0.1))) < 1e-6


def test_saveable():
    check_saveable(
        lambda: EpisodeTracker(3),
        lambda tracker: tracker.record(torch.tensor([0.1, 0.2, 0.3]), flags(), flags()),
        lambda tracker: freeze(tracker.state()),
    )
