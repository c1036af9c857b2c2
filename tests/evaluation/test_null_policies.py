import pytest
import torch

from respawn.contracts.world import ContinuousActions, DiscreteActions, MultiDiscreteActions
from respawn.evaluation.null_policies import FixedPolicy, RandomPolicy, random_policy

SEEN = torch.zeros(4000, 3)


def test_the_fixed_one_never_changes():
    policy = FixedPolicy(2)
    decision = policy.act(SEEN, policy.initial_memory(4000), None)
    assert decision.actions.tolist() == [2] * 4000 and decision.actions.dtype == torch.int64
    assert decision.log_probs.tolist() == [0.0] * 4000


def test_the_random_one_takes_all_actions_equally_and_again_the_same():
    def draw() -> torch.Tensor:
        return RandomPolicy(5).act(SEEN, {}, torch.Generator().manual_seed(1)).actions

    counts = torch.bincount(draw(), minlength=5)
    assert len(counts) == 5 and counts.min() > 700 and counts.max() < 900
    assert torch.equal(draw(), draw())


def test_the_random_one_without_a_generator_leaves_nothing_to_chance():
    decision = RandomPolicy(4).act(SEEN, {}, None)
    assert decision.actions.unique().tolist() == [0]
    assert decision.log_probs.exp().unique().tolist() == [0.25]


def test_of_several_choices_each_is_taken_equally_and_apart_from_the_others():
    policy = random_policy(MultiDiscreteActions((2, 3)))
    decision = policy.act(SEEN, policy.initial_memory(4000), torch.Generator().manual_seed(1))
    counts = torch.bincount(decision.actions[:, 0] * 3 + decision.actions[:, 1], minlength=6)
    assert decision.actions.shape == (4000, 2) and counts.min() > 550 and counts.max() < 780
    assert decision.log_probs.exp().unique().tolist() == pytest.approx([1 / 6])


def test_numbers_come_from_all_of_their_ranges():
    policy = random_policy(ContinuousActions(2))
    actions = policy.act(SEEN, policy.initial_memory(4000), torch.Generator().manual_seed(1)).actions
    assert actions.shape == (4000, 2) and actions.dtype == torch.float32
    assert -1.0 <= actions.min() < -0.99 and 0.99 < actions.max() <= 1.0 and actions.mean().abs() < 0.03
    still = policy.act(SEEN, {}, None)
    assert still.actions.unique().tolist() == [0.0]
    assert still.log_probs.exp().unique().tolist() == [0.25], "a density: 1 over a square of side 2"


def test_one_choice_is_the_random_policy_of_old():
    assert isinstance(random_policy(DiscreteActions(3)), RandomPolicy)
