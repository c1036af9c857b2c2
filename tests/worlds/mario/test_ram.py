import numpy as np
import pytest
from memories import memory, place_mario, watched

from respawn.testing.suites.saveable import freeze
from respawn.worlds.mario import ram
from respawn.worlds.mario.ram import MarioFacts, read_facts, screen_left


def facts_of(**bytes_at):
    return read_facts(watched(memory(**bytes_at)))


def test_every_address_is_watched_once():
    assert len(set(ram.WATCHED)) == len(ram.WATCHED)
    assert max(ram.WATCHED) < 0x0800


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"x_page": 3, "x_low": 7}, "x", 775),
        ({"x_page": 255, "x_low": 250}, "x", -6),
        ({"y_page": 0, "y_low": 240}, "y", -16),
        ({"y_page": 2, "y_low": 3}, "y", 259),
        ({"x_speed": 0xD8}, "x_speed", -40),
        ({"y_speed": 0xFB}, "y_speed", -5),
        ({"task": 11}, "task", 11),
        ({"float_state": 2}, "float_state", 2),
        ({"level_world": 7}, "world", 8),
        ({"level_stage": 3}, "stage", 4),
        ({"lives": 255}, "lives", 0),
        ({"lives": 2}, "lives", 3),
        ({"coins": 33}, "coins", 33),
        ({"power": 2}, "power", 2),
        ({"mode": 3}, "mode", 3),
        ({"time_ran_out": 1}, "time_ran_out", 1),
        ({"clouds": 1}, "clouds", 1),
        ({"layout_high": 0xA6, "layout_low": 0x90}, "layout", 0xA690),
    ],
)
def test_facts_follow_their_bytes(changes, name, value):
    assert getattr(facts_of(**changes), name).tolist() == [value]


def test_digits():
    made = memory()
    made[ram.SCORE_DIGITS : ram.SCORE_DIGITS + 6] = 1, 2, 3, 4, 5, 6
    made[ram.TIME_DIGITS : ram.TIME_DIGITS + 3] = 3, 0, 9
    facts = read_facts(watched(made))
    assert (facts.score.tolist(), facts.time.tolist()) == ([1_234_560], [309])


def test_the_picture_begins_where_the_screen_does():
    made = memory(screen_page=255, screen_low=146)
    assert screen_left(watched(made, memory(screen_page=2, screen_low=1))).tolist() == [-110, 513]


def test_facts_can_be_taken_put_and_saved():
    places = [100, 200, 300]
    memories = [memory() for _ in places]
    for made, x in zip(memories, places, strict=True):
        place_mario(made, x, 176)
    facts = read_facts(watched(*memories))
    assert facts.take(np.array([2, 0])).x.tolist() == [300, 100]
    other = read_facts(watched(memory(power=2)))
    facts.put(np.array([1]), other)
    assert facts.x.tolist() == [100, 40, 300]
    assert facts.power.tolist() == [0, 2, 0]
    saved = facts.state()
    again = MarioFacts.from_state(saved)
    assert freeze(again.state()) == freeze(saved)
    again.x[0] = 5
    assert saved["x"][0] == 100
