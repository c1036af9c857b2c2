import numpy as np
import pytest
from memories import memory, place_mario, watched

from respawn.worlds.mario import ram
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.limits import ENDS, Limits, is_cut, look
from respawn.worlds.mario.ram import read_facts

NO, YES = np.zeros(1, np.bool_), np.ones(1, np.bool_)


def seen_of(y=176, **bytes_at):
    made = memory(**bytes_at)
    place_mario(made, 400, y)
    return look(read_facts(watched(made)))


def end_of(seen, *, left_level=NO, looped=NO, stalled=0, steps=1, **settings):
    counts = np.array([stalled], np.int32), np.array([steps], np.int32)
    (end,) = Limits(MarioConfig(**settings)).ends(seen, left_level, looped, *counts)
    return ENDS[end] if end >= 0 else None


DYING, LIFE_LOST, FLAGPOLE, WALKING_OFF = ram.TASK_DYING, ram.TASK_LIFE_LOST, ram.TASK_FLAGPOLE, ram.TASK_WALKING_OFF


class TestEnds:
    @pytest.mark.parametrize(
        ("end", "memory_shows"),
        [
            (None, {}),
            (None, {"task": ram.TASK_PIPE}),
            (None, {"y": 255}),
            ("death", {"task": DYING}),
            ("death", {"task": LIFE_LOST}),
            ("pit", {"y": 256}),
            (None, {"y": 256, "clouds": 1}),
            ("time", {"task": DYING, "time_ran_out": 1}),
            ("flag", {"task": FLAGPOLE}),
            ("flag", {"task": WALKING_OFF}),
            ("flag", {"mode": ram.MODE_VICTORY, "level_world": 3}),
            ("won", {"mode": ram.MODE_VICTORY, "level_world": 7}),
            ("game over", {"mode": ram.MODE_GAME_OVER}),
        ],
    )
    def test_of_one_life(self, end, memory_shows):
        assert end_of(seen_of(**memory_shows)) == end

    @pytest.mark.parametrize(
        ("end", "memory_shows"),
        [
            (None, {"task": DYING}),
            (None, {"y": 300}),
            (None, {"task": FLAGPOLE}),
            (None, {"mode": ram.MODE_VICTORY, "level_world": 3}),
            ("won", {"mode": ram.MODE_VICTORY, "level_world": 7}),
            ("game over", {"mode": ram.MODE_GAME_OVER}),
        ],
    )
    def test_of_a_whole_game(self, end, memory_shows):
        assert end_of(seen_of(**memory_shows), left_level=YES, whole_game=True) == end

    def test_the_stronger_reason_counts(self):
        dead = seen_of(task=DYING)
        assert end_of(dead, stalled=999, steps=9_999) == "death"
        assert end_of(seen_of(), left_level=YES, stalled=999) == "warp"
        assert end_of(seen_of(), stalled=240, steps=4_000) == "stall"

    def test_limits_are_reached_not_passed_and_can_be_off(self):
        here = seen_of()
        assert [end_of(here, stalled=count, stall_steps=5) for count in (4, 5)] == [None, "stall"]
        assert [end_of(here, steps=count, limit_steps=5) for count in (4, 5)] == [None, "step limit"]
        assert end_of(here, stalled=10**6, steps=10**6, stall_steps=0, limit_steps=0) is None

    def test_a_loop_ends_only_where_that_was_asked_for(self):
        assert end_of(seen_of(), looped=YES) is None
        assert end_of(seen_of(), looped=YES, maze_ends=True) == "loop"


def test_only_what_could_have_gone_on_is_cut():
    cut = is_cut(np.arange(len(ENDS), dtype=np.int32))
    assert [end for end, is_one in zip(ENDS, cut, strict=True) if is_one] == ["stall", "step limit"]
    assert not is_cut(np.array([-1], np.int32)).any()
