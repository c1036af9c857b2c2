"""What is kept comes back as it was."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from stored import numbered_rollout

from respawn.errors import ConfigError
from respawn.memory.replay_config import ReplayConfig
from respawn.memory.rollouts import ROW_FIELDS, some_lanes
from respawn.memory.segments import Segments, storage_device

CPU = torch.device("cpu")
EVERY_LANE = torch.arange(4)


def kept(capacity=18, **settings):
    events = []
    config = ReplayConfig(capacity_decisions=capacity, **{"segments": 2, **settings})
    segments = Segments(config, CPU, events.append)
    segments.allocate(numbered_rollout())
    return segments, events


def same(found, wanted):
    for name in (*ROW_FIELDS, "cuts", "cut_observations"):
        assert torch.equal(getattr(found, name), getattr(wanted, name)), name
        assert getattr(found, name).dtype == getattr(wanted, name).dtype, name
    assert torch.equal(found.memory["core"], wanted.memory["core"])


def test_lanes_come_back_with_all_that_learning_needs():
    segments, _ = kept()
    rollout = numbered_rollout(cuts=((0, 2), (2, 1), (2, 2)))
    slots = segments.push(rollout, EVERY_LANE)
    same(segments.gather(slots), rollout)
    same(segments.gather(slots[1:3]), some_lanes(rollout, 1, 3))


def test_a_segment_drawn_twice_is_there_twice():
    segments, _ = kept()
    slots = segments.push(numbered_rollout(cuts=((1, 3),)), EVERY_LANE)
    twice = segments.gather(slots[[3, 0, 3]])
    assert twice.cuts.tolist() == [[1, 0], [1, 2]]
    assert twice.rewards[:, 0].tolist() == twice.rewards[:, 2].tolist() == [30.0, 31.0, 32.0]


def test_the_oldest_make_room_with_their_cuts():
    segments, _ = kept(capacity=18)  # six segments of three steps
    segments.push(numbered_rollout(cuts=((1, 0),)), EVERY_LANE)
    slots = segments.push(numbered_rollout(100, version=5), EVERY_LANE)
    assert slots.tolist() == [4, 5, 0, 1]
    assert segments.stored == 6
    everything = segments.gather(np.arange(6))
    assert everything.rewards[0].tolist() == [120.0, 130.0, 20.0, 30.0, 100.0, 110.0]
    assert len(everything.cuts) == 0
    assert segments.mean_birth(np.array([0, 2])) == 2.5


def test_only_the_lanes_that_are_asked_for_are_kept():
    segments, _ = kept()
    slots = segments.push(numbered_rollout(cuts=((0, 0), (0, 3))), torch.tensor([1, 3]))
    found = segments.gather(slots)
    assert found.rewards[0].tolist() == [10.0, 30.0]
    assert found.cuts.tolist() == [[0, 1]]


def test_bytes_stay_bytes_and_scalars_are_halved_only_when_asked_to():
    whole, half = (kept(half_scalars=each)[0].state()["kept"] for each in (False, True))
    assert whole["observations"].dtype == half["observations"].dtype == torch.uint8
    assert whole["rewards"].dtype == whole["behaviour_log_probs"].dtype == torch.float32
    assert half["rewards"].dtype == half["behaviour_log_probs"].dtype == torch.float16


def test_halved_scalars_are_off_by_less_than_a_thousandth():
    segments, events = kept(half_scalars=True)
    dice = torch.Generator().manual_seed(2)
    rollout = replace(
        numbered_rollout(),
        rewards=10.0 ** (torch.rand((3, 4), generator=dice) * 7 - 3.5),
        behaviour_log_probs=-(10.0 ** (torch.rand((3, 4), generator=dice) * 4 - 3)),
    )
    found = segments.gather(segments.push(rollout, EVERY_LANE))
    for name in ("rewards", "behaviour_log_probs"):
        wanted = getattr(rollout, name)
        assert ((getattr(found, name) - wanted) / wanted).abs().max() < 1e-3
        assert not torch.equal(getattr(found, name), wanted)
    assert not events


def test_what_sixteen_bits_cannot_hold_is_clamped_and_told_once():
    segments, events = kept(half_scalars=True)
    large = replace(numbered_rollout(), rewards=torch.full((3, 4), 1e6))
    for _ in range(2):
        slots = segments.push(large, EVERY_LANE)
    assert segments.gather(slots).rewards.unique().tolist() == [65504.0]
    assert [event.kind for event in events] == ["replay_clamped"]


def test_the_memory_limit_makes_the_capacity_smaller_and_says_so():
    roomy, silence = kept(capacity=3_000)
    tight, events = kept(capacity=3_000, memory_gb=1e-6)
    assert roomy.capacity == 1_000 and not silence
    assert 4 <= tight.capacity < 20
    assert [event.kind for event in events] == ["replay_shrunk"]
    assert f"{tight.capacity * 3:,} decisions instead of 3,000" in events[0].message


def test_room_for_less_than_one_replay_is_refused():
    with pytest.raises(ConfigError, match=r"raise learner.replay.memory-gb"):
        kept(memory_gb=1e-8)
    with pytest.raises(ConfigError, match=r"raise learner.replay.capacity-decisions"):
        kept(capacity=9)


def test_storage_says_where_segments_rest():
    gpu = torch.device("cuda")
    assert storage_device(ReplayConfig(capacity_decisions=9), gpu) == gpu
    assert storage_device(ReplayConfig(capacity_decisions=9, storage="cpu"), gpu) == CPU


@pytest.mark.parametrize("pushes", [0, 1, 3])
@pytest.mark.parametrize("half_scalars", [False, True])
def test_saved_and_restored_they_are_the_same(pushes, half_scalars):
    segments, _ = kept(half_scalars=half_scalars)
    for number in range(pushes):
        segments.push(numbered_rollout(number, version=number, cuts=((number % 3, number), (2, 3))), EVERY_LANE)
    again, _ = kept(half_scalars=half_scalars)
    again.restore(segments.state())
    following = numbered_rollout(50, cuts=((1, 1),))
    slots, other_slots = (each.push(following, EVERY_LANE) for each in (segments, again))
    assert slots.tolist() == other_slots.tolist()
    everything = np.arange(segments.stored)
    same(again.gather(everything), segments.gather(everything))
    assert again.mean_birth(everything) == segments.mean_birth(everything)
