import pytest

from respawn.errors import ConfigError
from respawn.worlds.mario.levels import ALL_LEVELS, MAZES, Level, find_level, find_levels


def test_there_are_32_with_names_that_lead_back():
    assert len(ALL_LEVELS) == 32
    assert all(find_level(str(level)) == level for level in ALL_LEVELS)
    assert str(ALL_LEVELS[0]) == "1-1" and str(ALL_LEVELS[-1]) == "8-4"
    assert all(find_level(name) for name in MAZES)


@pytest.mark.parametrize(
    ("name", "area"), [("1-1", 0), ("1-2", 1), ("1-3", 3), ("1-4", 4), ("3-3", 2), ("2-4", 4), ("8-4", 3), ("7-4", 4)]
)
def test_a_walk_into_a_pipe_is_an_area_of_its_own(name, area):
    assert find_level(name).area == area


def test_lists():
    assert find_levels(("all",)) == ALL_LEVELS
    assert find_levels(["2-1", "1-1"]) == (Level(2, 1), Level(1, 1))


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("9-1",), "a level is called 1-1 to 8-4, world and stage, and '9-1' is none"),
        (("1-5",), "'1-5' is none"),
        (("all", "1-1"), "'all' is none"),
        ((), "at least one level must be named"),
        (("1-1", "1-1"), "one is there twice"),
    ],
)
def test_others_are_refused(names, sentence):
    with pytest.raises(ConfigError, match=sentence):
        find_levels(names)


def test_a_span_stands_for_its_levels():
    assert [str(level) for level in find_levels(("1-3..2-2", "8-4"))] == ["1-3", "1-4", "2-1", "2-2", "8-4"]
    for wrong in ("2-1..1-4", "1-1..9-1", "1-1.."):
        with pytest.raises(ConfigError):
            find_levels((wrong,))
