import numpy as np
import pytest

from respawn.worlds.foreign.endings import Ending, read_ending


def test_what_an_environment_says_of_an_end_is_read():
    info = {"end": "flag", "facts": {"x": 3161, "cleared": True, "level": "1-1", "time": np.float32(2.5)}, "lives": 2}
    ending = read_ending(info)
    assert ending == Ending("flag", {"x": 3161.0, "cleared": 1.0, "level": "1-1", "time": 2.5})
    assert {type(value) for value in ending.facts.values()} == {float, str}  # plain data, for a pipe


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"end": "flag"}, Ending("flag", {})),
        ({"facts": {"x": 1}}, Ending("", {"x": 1.0})),
        ({"end": 7, "facts": {"x": 1}}, Ending("", {"x": 1.0})),
        ({"end": "flag", "facts": [1, 2]}, Ending("flag", {})),
        ({"end": "flag", "facts": {"x": None, "y": [1], 3: 4.0, "z": 5}}, Ending("flag", {"z": 5.0})),
        (
            {"facts": {"$profit": 1, "Score": 2, "a/b": 3, "": 4, "1st": 5, "x\n": 6, "a_1": 7}},
            Ending("", {"a_1": 7.0}),
        ),
    ],
)
def test_what_is_no_word_and_no_number_is_passed_over(info, expected):
    assert read_ending(info) == expected


@pytest.mark.parametrize("info", [{}, {"end": ""}, {"end": None}, {"facts": {}}, {"facts": {"x": None}}, {"end": b"x"}])
def test_whoever_says_nothing_has_no_ending(info):
    assert read_ending(info) is None
