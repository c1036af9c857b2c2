import pytest
import torch

from respawn.contracts.records import Episode
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.levels import held_by_always_right, level_seeds, null_policies, score_level
from respawn.worlds.mario.levels import ALL_LEVELS


def episode(end: str, *, x: float, seconds: float = 10.0, time_left: float = 300.0) -> Episode:
    facts = {"cleared": float(end == "flag"), "x": x, "seconds": seconds, "time_left": time_left, "score": 100.0}
    return Episode(lane=0, episode_return=x / 100, length=50, end=end, facts=facts)


def test_episodes_are_summed_up():
    score = score_level(
        [
            episode("flag", x=3000, seconds=30, time_left=350),
            episode("flag", x=3000, seconds=30, time_left=350),
            episode("pit", x=1000),
            episode("death", x=500),
        ]
    )
    assert (score.cleared, score.episodes, score.clear_rate) == (2, 4, 0.5)
    assert score.interval == pytest.approx((0.1500, 0.8500), abs=1e-4)
    assert score.courses == 3  # the first two are the same episode
    assert score.x_mean == 1875 and score.x_interval[0] < 1875 < score.x_interval[1]
    assert score.x_std == pytest.approx(1314.98, abs=0.01)
    assert (score.seconds_mean, score.cleared_seconds_mean) == (20, 30)
    assert (score.time_left_mean, score.cleared_time_left_mean) == (325, 350)
    assert (score.return_mean, score.length_mean, score.score_mean) == (18.75, 50, 100)
    assert list(score.ends.items()) == [("flag", 2), ("pit", 1), ("death", 1)]


def test_episodes_that_the_judge_cut_are_not_cleared_and_tell_nothing_else():
    cut = Episode(lane=0, episode_return=1.0, length=9, end=UNFINISHED)
    score = score_level([cut, cut])
    assert (score.cleared, score.clear_rate, score.ends) == (0, 0.0, {UNFINISHED: 2})
    assert score.x_mean is score.x_interval is score.x_std is score.cleared_seconds_mean is None
    alone = score_level([cut, episode("pit", x=400)])
    assert (alone.x_mean, alone.x_interval) == (400, None)


def test_no_two_levels_share_a_seed():
    seeds = [seed for level in ALL_LEVELS for seed in level_seeds(str(level), 3_000_000, 10_000)]
    assert len(set(seeds)) == len(seeds) == 320_000
    assert level_seeds("1-1", 5, 3) == range(5, 8) and level_seeds("1-2", 5, 3) == range(10_005, 10_008)


@pytest.mark.parametrize(
    ("names", "right"),
    [
        (("NONE", "RIGHT", "RIGHT+B"), 2),
        (("NONE", "RIGHT", "B+RIGHT"), 2),  # the same by another name
        (("NONE", "RIGHT", "A"), 1),
        (("NONE", "A"), None),
    ],
)
def test_always_right_runs_where_it_can(names, right):
    policies = null_policies(names)
    assert set(policies) == ({"random"} if right is None else {"always_right", "random"})
    assert held_by_always_right(names) == (None if right is None else names[right])
    if right is not None:
        assert policies["always_right"].act(torch.zeros(1, 1), {}, None).actions.tolist() == [right]
