from dataclasses import replace

import pytest

from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Episode
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig, ScoutConfig
from respawn.evaluation.mario_evaluator import clear_rates, levels_not_judged
from respawn.evaluation.scouts import Course, worst_starts
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.hard_starts import read_start

LEVELS = ("1-1", "1-2", "1-3")
WORLD = MarioConfig(levels=LEVELS)


def episodes(*cleared):
    return [Episode(0, 0.0, 1, "flag", {"level": level, "cleared": value}) for level, value in cleared]


def course(seed, x, length=60, end="death", level="1-1"):
    return Course(seed, 0, tuple(range(length)), Episode(0, 0.0, length, end, {"level": level, "end_x": x}))


def test_each_level_has_its_rate_and_open_ones_have_theirs():
    played = episodes(("1-1", 1.0), ("1-1", 0.0), ("1-2", 1.0), ("1-3", 0.0))
    rates = clear_rates(played, LEVELS, Knobs(0, {"first_level": 1.0, "last_level": 2.0}))
    assert rates == {
        "evaluation/cleared_1_1": 0.5,
        "evaluation/cleared_1_2": 1.0,
        "evaluation/cleared_1_3": 0.0,
        "evaluation/cleared_open": 0.75,
        "evaluation/cleared_open_worst": 0.5,
    }
    assert clear_rates(played, LEVELS, Knobs(0, {}))["evaluation/cleared_open_worst"] == 0.0
    assert "evaluation/cleared_open" not in clear_rates(played[:3], LEVELS, Knobs(0, {}))
    assert clear_rates(played[:2], ("1-1",), Knobs(0, {})) == {}


def test_too_few_episodes_leave_levels_out():
    assert len(levels_not_judged(WORLD, EvaluationConfig(episodes=1))) == 2
    assert levels_not_judged(WORLD, EvaluationConfig(episodes=80)) == []


def test_starts_lie_shortly_before_deaths_from_each_place_in_turn():
    scout = ScoutConfig(episodes=8, nearest_steps=5, farthest_steps=5)
    courses = [course(1, 900), course(2, 100), course(3, 110), course(4, 100, end="flag"), course(5, 500, length=5)]
    found = worst_starts(courses, scout, WORLD)
    assert [entry["seed"] for entry in found] == [2, 1, 3]
    assert read_start(found[0]["state"], WORLD).held == tuple(range(55))
    assert found[0]["features"] == {"x": 100.0, "place": 11001, "difficulty": 0.4}


def test_how_far_before_lies_between_the_two_limits():
    scout = ScoutConfig(episodes=8, nearest_steps=5, farthest_steps=8)
    found = worst_starts([course(seed, 100) for seed in range(20)], scout, WORLD)
    assert {60 - len(entry["state"]["held"]) for entry in found} == {5, 6, 7, 8}


def test_scouts_never_play_what_the_run_is_judged_by():
    config = EvaluationConfig(every_updates=5, scout=ScoutConfig(episodes=8))
    judged = range(config.seed_base, config.seed_base + config.episodes)
    assert not set(judged) & {seed for number in range(1000) for seed in config.scout.seeds(number)}
    assert not set(config.scout.seeds(1)) & set(config.scout.seeds(2))
    with pytest.raises(ConfigError, match=r"scout\.seed-base"):
        replace(config, scout=ScoutConfig(episodes=8, seed_base=config.seed_base + 5))


@pytest.mark.parametrize("changes", [{"nearest_steps": 0}, {"nearest_steps": 50}, {"episodes": -1}])
def test_scouts_that_find_nothing_are_refused(changes):
    with pytest.raises(ConfigError, match=r"evaluation\.scout"):
        ScoutConfig(**changes)
