"""One policy played several ways on the same seeds."""

from dataclasses import replace

import pytest
from small_trainings import train_tiny

from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.training.compare_ways import WaysOrder, compare_ways
from respawn.training.judge import judge
from respawn.training.judge_fish import SchoolTrials, judge_fish
from respawn.training.judge_levels import LevelTrials, judge_levels
from respawn.training.trained import load_run, with_world
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.recall.config import RecallConfig

OWN = ["greedy", "sampled", "temperature 0.5", "temperature 2"]


@pytest.fixture(scope="module")
def pole(tmp_path_factory):
    return train_tiny(ForeignConfig(max_episode_steps=20), tmp_path_factory.mktemp("pole"), "pole")


def test_returns_are_those_of_the_same_seeds(pole):
    trained = load_run(pole)
    order = WaysOrder(episodes=4)
    compared = compare_ways(trained, trained.config, order)
    assert compared.measure == "return" and list(compared.ways) == [*OWN, "random"]
    assert compared.seeds == {"": (4_000_000, 4_000_003)} and compared.levels == {}
    judged = judge(pole, EvaluationConfig(episodes=4, num_lanes=4, seed_base=4_000_000)).metrics
    for name, value in compared.ways["greedy"].items():
        assert value == pytest.approx(judged[f"evaluation/{name}"]), "as 'respawn evaluate' would find them"
    assert compare_ways(trained, trained.config, order) == compared
    drawn = compare_ways(trained, trained.config, replace(order, temperatures=(2.0,)))
    assert drawn.ways == {name: compared.ways[name] for name in drawn.ways}, "no way depends on what else is played"


def test_every_kind_of_action_has_a_random_policy_beside_it(tmp_path):
    worlds = (ForeignConfig(env_id="Pendulum-v1", max_episode_steps=10), RecallConfig(num_cues=3, delay_steps=2))
    for number, world in enumerate(worlds):
        trained = load_run(train_tiny(world, tmp_path, f"run{number}"))
        ways = compare_ways(trained, trained.config, WaysOrder(episodes=3)).ways
        assert ways["random"]["episodes"] == 3 and ways["random"]["length_mean"] == (10.0 if number == 0 else 4.0)


def test_mario_is_judged_level_by_level_and_summed_up(mario_run):
    trained = load_run(mario_run)
    config = replace(trained.config, world=replace(trained.config.world, levels=("1-1", "1-2")))
    compared = compare_ways(trained, config, WaysOrder(episodes=2, seed_base=500))
    assert compared.measure == "cleared" and list(compared.ways) == [*OWN, "always_right", "random"]
    assert compared.seeds == {"1-1": (500, 501), "1-2": (10_500, 10_501)}, "each level has seeds of its own"
    for way, numbers in compared.ways.items():
        parts = [level[way] for level in compared.levels.values()]
        assert numbers["episodes"] == 4 and [part["episodes"] for part in parts] == [2, 2]
        assert numbers["x_mean"] == pytest.approx(sum(part["x_mean"] for part in parts) / 2)
        assert numbers["interval"][0] <= numbers["clear_rate"] <= numbers["interval"][1]
        assert numbers["return_std"] > 0.0
    judged = judge_levels(trained, LevelTrials(levels=("1-1", "1-2"), episodes=2, seed_base=500)).levels
    for way in ("greedy", "sampled", "random"):
        assert compared.levels["1-2"][way]["return_mean"] == judged["1-2"].scores[way].return_mean


def test_another_beginning_is_played_where_one_is_asked_for(mario_run):
    trained = load_run(mario_run)
    config = with_world(trained.config, level="4-2", start_jitter=0)
    compared = compare_ways(trained, config, WaysOrder(episodes=2, temperatures=(1.0,)))
    assert list(compared.seeds) == ["4-2"] and compared.ways["greedy"]["courses"] == 1, "nothing is left to chance"
    assert list(compared.ways)[2] == "temperature 1"


def test_schools_are_those_that_fish_are_judged_in(fish_run):
    trained = load_run(fish_run)
    compared = compare_ways(trained, trained.config, WaysOrder(episodes=3, fish=12))
    judged = judge_fish(trained, SchoolTrials(episodes=3, fish=12, seed_base=4_000_000))
    assert compared.measure == "survival" and list(compared.ways)[:4] == OWN
    assert compared.ways["greedy"] == judged.greedy and compared.ways["sampled"] == judged.sampled
    assert compared.ways["random"] == judged.null_policies["random"]
    assert 0.0 <= compared.ways["temperature 2"]["survival_mean"] <= 1.0
    assert not judged.tempered, "'respawn evaluate' asks for no temperatures"


@pytest.mark.parametrize("kind", ["pole_run", "fish_run"])
def test_seeds_that_a_run_was_judged_by_are_refused(kind, pole, fish_run):
    trained = load_run(pole if kind == "pole_run" else fish_run)
    config = replace(trained.config, evaluation=EvaluationConfig(every_updates=1, episodes=5))
    with pytest.raises(ConfigError, match="fresh seeds are wanted, and of 1000004 to 1000006"):
        compare_ways(trained, config, WaysOrder(episodes=3, seed_base=1_000_004, fish=12))
    compare_ways(trained, config, WaysOrder(episodes=1, seed_base=1_000_005, fish=12, temperatures=(1.0,)))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"temperatures": (0.0,)}, "--temperatures must be above 0 and finite"),
        ({"episodes": 10_001}, "--episodes must be from 1 to 10,000"),
        ({"seed_base": -1}, "--seed-base must be at least 0"),
    ],
)
def test_orders_that_cannot_be_played_are_refused(wrong, sentence):
    with pytest.raises(ConfigError, match=sentence):
        WaysOrder(**wrong)
