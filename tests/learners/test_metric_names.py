import pytest
from practice import LEARNERS, practise, random_rollout

from respawn.learners.metric_names import GROUPS, metric_names


@pytest.mark.parametrize("learner", LEARNERS)
def test_they_are_what_a_learner_says_at_every_update(learner):
    practice = practise(LEARNERS[learner])
    for seed in range(3):
        assert set(practice.learn(random_rollout(practice.model, seed=seed))) == set(metric_names(LEARNERS[learner]))


def test_all_are_of_groups_that_only_learners_have():
    assert {name.split("/")[0] for config in LEARNERS.values() for name in metric_names(config)} == GROUPS
