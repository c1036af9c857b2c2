import pytest
import torch

from respawn.contracts.policy import Decision
from respawn.contracts.records import Episode
from respawn.contracts.world import (
    ContinuousActions,
    DiscreteActions,
    MultiDiscreteActions,
    ObservationSpec,
    StepResult,
    WorldSpec,
)
from respawn.memory.rollout_buffer import RolloutBuffer

T, B = 4, 3
CPU = torch.device("cpu")


def spec(actions=DiscreteActions(2), observation=ObservationSpec((2,))):  # noqa: B008 - frozen
    return WorldSpec(name="test", observation=observation, actions=actions, num_lanes=B)


def decision(t, actions=None):
    actions = torch.tensor([t, t + 1, t + 2]) if actions is None else actions
    return Decision(actions=actions, log_probs=-torch.arange(3.0) - t, values=torch.zeros(B), memory={})


def result(t, truncated=(), terminated=()):
    lanes = sorted(truncated)
    return StepResult(
        observation=torch.full((B, 2), float(t + 1)),
        reward=torch.tensor([1.0, 2.0, 3.0]) * t,
        terminated=torch.tensor([lane in terminated for lane in range(B)]),
        truncated=torch.tensor([lane in truncated for lane in range(B)]),
        cut_observations=torch.tensor([[100.0 * t + lane] * 2 for lane in lanes]).reshape(len(lanes), 2),
        valid=torch.ones(B, dtype=torch.bool),
        episodes=tuple(Episode(lane, float(t), t, "time limit") for lane in lanes),
    )


def test_rows_are_written_where_they_belong():
    buffer = RolloutBuffer(spec(), T, CPU)
    memory = {"h": torch.ones(B, 5)}
    buffer.begin(torch.zeros(B, 2), memory)
    for t in range(T):
        assert torch.equal(buffer.observation(t), torch.full((B, 2), float(t)))
        valid = torch.tensor([True, t % 2 == 0, True])
        buffer.write(t, valid, decision(t), result(t, terminated=(2,) if t == 1 else ()))
    memory["h"].zero_()  # the buffer took a copy
    rollout = buffer.seal(7, 8, {"collect": 0.5})
    assert rollout.observations[:, 0, 0].tolist() == [0, 1, 2, 3, 4]
    assert rollout.actions.tolist() == [[t, t + 1, t + 2] for t in range(T)]
    assert rollout.actions.dtype == torch.int64
    assert rollout.behaviour_log_probs[2].tolist() == [-2, -3, -4]
    assert rollout.rewards[3].tolist() == [3, 6, 9]
    assert rollout.terminated.nonzero().tolist() == [[1, 2]]
    assert not rollout.truncated.any()
    assert rollout.valid[:, 1].tolist() == [True, False, True, False]
    assert rollout.num_decisions == 10
    assert torch.equal(rollout.memory["h"], torch.ones(B, 5))
    assert (rollout.weights_version, rollout.knobs_version, rollout.phase_seconds) == (7, 8, {"collect": 0.5})
    assert rollout.cuts.shape == (0, 2) and rollout.cut_observations.shape == (0, 2)


def test_cuts_are_sorted_by_step_then_lane_and_keep_what_was_seen():
    buffer = RolloutBuffer(spec(), T, CPU)
    buffer.begin(torch.zeros(B, 2), {})
    cut = {0: (2,), 1: (), 2: (0, 2), 3: (1,)}
    for t, lanes in cut.items():
        buffer.write(t, torch.ones(B, dtype=torch.bool), decision(t), result(t, truncated=lanes))
    rollout = buffer.seal(0, 0, {})
    assert rollout.cuts.tolist() == [[0, 2], [2, 0], [2, 2], [3, 1]] == rollout.truncated.nonzero().tolist()
    assert rollout.cut_observations[:, 0].tolist() == [2.0, 200.0, 202.0, 301.0]
    assert [episode.lane for episode in rollout.episodes] == [2, 0, 2, 1]


def test_what_the_world_overwrites_later_is_kept():
    buffer = RolloutBuffer(spec(), 1, CPU)
    seen = torch.zeros(B, 2)
    buffer.begin(seen, {})
    step = result(0, truncated=(1,))
    buffer.write(0, torch.ones(B, dtype=torch.bool), decision(0), step)
    for tensor in (seen, step.observation, step.cut_observations, step.reward):
        tensor.fill_(99.0)
    rollout = buffer.seal(0, 0, {})
    assert rollout.observations.max() == 1.0
    assert rollout.cut_observations.tolist() == [[1.0, 1.0]]


def test_beginning_again_forgets_the_last_rollout_but_not_the_sealed_one():
    buffer = RolloutBuffer(spec(), 1, CPU)
    buffer.begin(torch.zeros(B, 2), {"h": torch.ones(B, 1)})
    buffer.write(0, torch.ones(B, dtype=torch.bool), decision(0), result(0, truncated=(0, 1)))
    first = buffer.seal(0, 0, {})
    buffer.begin(torch.ones(B, 2), {})
    buffer.write(0, torch.ones(B, dtype=torch.bool), decision(0), result(0))
    second = buffer.seal(1, 1, {})
    assert len(second.cuts) == len(second.episodes) == len(second.memory) == 0
    assert len(first.cuts) == len(first.episodes) == 2 and "h" in first.memory


@pytest.mark.parametrize(
    ("actions", "shape", "kind"),
    [
        (DiscreteActions(3), (T, B), torch.int64),
        (MultiDiscreteActions((2, 3)), (T, B, 2), torch.int64),
        (ContinuousActions(4), (T, B, 4), torch.float32),
    ],
)
def test_every_kind_of_action_has_its_place(actions, shape, kind):
    buffer = RolloutBuffer(spec(actions), T, CPU)
    buffer.begin(torch.zeros(B, 2), {})
    chosen = torch.ones(shape[1:], dtype=kind)
    buffer.write(0, torch.ones(B, dtype=torch.bool), decision(0, chosen), result(0))
    rollout = buffer.seal(0, 0, {})
    assert rollout.actions.shape == shape and rollout.actions.dtype == kind
    assert torch.equal(rollout.actions[0], chosen)


def test_pictures_stay_bytes():
    buffer = RolloutBuffer(spec(observation=ObservationSpec((1, 4, 4), "uint8")), T, CPU)
    buffer.begin(torch.full((B, 1, 4, 4), 255, dtype=torch.uint8), {})
    assert buffer.observation(0).dtype == torch.uint8 and int(buffer.observation(0).min()) == 255
