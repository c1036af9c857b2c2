import torch

from respawn.evaluation.null_policies import FixedPolicy, RandomPolicy

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
