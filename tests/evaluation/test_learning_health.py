import math

from respawn.contracts.records import UpdateReport
from respawn.evaluation.learning_health import entropy_limit, learning_health, told


def updates(entropies, explained):
    rows = zip(entropies, explained, strict=True)
    return [
        UpdateReport(n, n, n, n, {"policy/entropy": entropy, "value/explained_variance": value})
        for n, (entropy, value) in enumerate(rows, start=1)
    ]


def test_the_reference_run_did_not_learn():
    health = learning_health(updates([1.608] * 60, [-1.0] * 30 + [-0.004] * 30))
    assert health["learning"] is False and len(health["reasons"]) == 2
    assert health["entropy_min"] == 1.608 and health["explained_variance_best"] == -0.004
    assert told(health).startswith("Not learning: the entropy never fell below 1.550")


def test_a_run_that_learns_needs_both():
    falling = [1.6 - 0.01 * n for n in range(60)]
    rising = [n / 60 for n in range(60)]
    assert learning_health(updates(falling, rising))["learning"] is True
    assert learning_health(updates(falling, [0.1] * 60))["reasons"] == [
        "the value function never explained more than 0.3 of the variance for a quarter of the run (best 0.100)"
    ]
    assert learning_health(updates([1.6] * 60, rising))["learning"] is False


def test_one_lucky_update_is_not_learning():
    entropies, explained = [1.6] * 60, [0.0] * 60
    entropies[30], explained[30] = 0.2, 0.9
    health = learning_health(updates(entropies, explained))
    assert health["entropy_min"] == 0.2 and health["learning"] is False


def test_a_bad_end_does_not_undo_it():
    explained = [0.5] * 45 + [-1.0] * 15
    health = learning_health(updates([1.0] * 60, explained))
    assert health["learning"] is True and health["explained_variance_last_quarter"] == -1.0


def test_continuous_actions_are_judged_by_the_fall():
    assert entropy_limit({"world": {"kind": "fish", "steering": "continuous"}}) is None
    assert entropy_limit({"world": {"kind": "fish", "steering": "discrete"}}) == 1.55
    assert entropy_limit({"world": {"kind": "mario"}}) is None and entropy_limit({}) is None
    falling, flat = [-0.5 - 0.02 * n for n in range(20)], [-0.5] * 20
    assert learning_health(updates(falling, [0.5] * 20), None)["learning"] is True
    assert learning_health(updates(flat, [0.5] * 20), None)["learning"] is False


def test_of_a_run_whose_oldest_rows_were_let_go_of_nothing_bad_is_said():
    """A run that learned long ago ends with a low entropy and, in a solved game, values that explain nothing."""
    left = updates([0.3] * 60, [-0.5] * 60)[20:]
    for limit in (1.55, None):
        health = learning_health(left, limit)
        assert health["learning"] is None
        assert told(health).endswith("rows before update 21 were let go of, and it may have learned then.")
    assert learning_health(updates([0.3] * 60, [0.9] * 60)[20:])["learning"] is True


def test_too_early_to_say():
    assert learning_health([])["learning"] is None
    few = learning_health(updates([1.6, math.nan], [0.0, 0.0]))
    assert few["learning"] is None and "2 of the 8 updates" in told(few)
    silent = learning_health([UpdateReport(1, 1, 1, 1, {"policy/entropy": 1.0})])
    assert silent["reasons"] == ["its updates do not tell value/explained_variance"]
