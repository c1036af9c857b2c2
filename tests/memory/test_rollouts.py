import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from respawn.checkpoints.codec import decode, encode
from respawn.contracts.records import Episode, Rollout
from respawn.memory.rollouts import ROW_FIELDS, rollout_from_state, rollout_state, some_lanes
from respawn.testing.suites.saveable import check_plain, freeze

CPU = torch.device("cpu")


def make_rollout(num_steps, num_lanes, seed, cut_share=0.3):
    """Random rows; each cut observation says which step and lane it is of."""
    dice = torch.Generator().manual_seed(seed)
    shape = (num_steps, num_lanes)
    truncated = torch.rand(shape, generator=dice) < cut_share
    cuts = truncated.nonzero()
    return Rollout(
        observations=torch.randn((num_steps + 1, num_lanes, 2), generator=dice),
        actions=torch.randint(0, 3, shape, generator=dice),
        behaviour_log_probs=-torch.rand(shape, generator=dice),
        rewards=torch.randn(shape, generator=dice),
        terminated=torch.rand(shape, generator=dice) < 0.1,
        truncated=truncated,
        cuts=cuts,
        cut_observations=cuts.float(),
        valid=torch.rand(shape, generator=dice) < 0.8,
        scripted=torch.rand(shape, generator=dice) < 0.2,
        memory={"h": torch.randn((num_lanes, 3), generator=dice), "age": torch.arange(num_lanes)},
        weights_version=seed,
        knobs_version=seed + 1,
        episodes=tuple(Episode(int(lane), 1.5, int(t), "time limit") for t, lane in cuts),
        phase_seconds={"collect": 0.25},
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 1000), st.data())
def test_some_lanes_keep_their_rows_and_their_cuts(num_steps, num_lanes, seed, data):
    rollout = make_rollout(num_steps, num_lanes, seed)
    first = data.draw(st.integers(0, num_lanes - 1))
    last = data.draw(st.integers(first + 1, num_lanes + 2))
    part = some_lanes(rollout, first, last)
    for name in ROW_FIELDS:
        assert torch.equal(getattr(part, name), getattr(rollout, name)[:, first:last])
    assert torch.equal(part.cuts, part.truncated.nonzero())  # sorted, and counted from the first lane of the part
    assert torch.equal(part.cut_observations, (part.cuts + torch.tensor([0, first])).float())
    assert torch.equal(part.memory["age"], torch.arange(num_lanes)[first:last])
    assert part.episodes == rollout.episodes


@pytest.mark.parametrize("cut_share", [0.0, 0.5, 1.0])
def test_a_rollout_survives_a_checkpoint(cut_share):
    rollout = make_rollout(4, 3, 5, cut_share)
    state = rollout_state(rollout)
    check_plain(state)
    again = rollout_from_state(decode(encode(state)), CPU)
    assert freeze(rollout_state(again)) == freeze(state)
    assert again.episodes == rollout.episodes and again.num_decisions == rollout.num_decisions


def test_a_state_and_a_rollout_share_no_memory():
    rollout = make_rollout(4, 3, 5)
    state = rollout_state(rollout)
    before = freeze(state)
    again = rollout_from_state(state, CPU)
    for some in (rollout, again):
        for tensor in (some.rewards, some.cuts, some.cut_observations, some.memory["h"]):
            tensor.zero_()
    assert freeze(state) == before
