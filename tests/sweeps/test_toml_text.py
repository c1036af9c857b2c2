"""Settings as TOML."""

import tomllib
from math import inf

import pytest

from respawn.sweeps.space import nested
from respawn.sweeps.toml_text import toml_lines, toml_value


@pytest.mark.parametrize(
    "value",
    [True, False, 3, -1.5e-07, 1e30, inf, "a word", 'say "a\\b"\n', "żółw", [], [1, 2], [[1, 2], [3]], ["a", "b"]],
)
def test_a_value_comes_back_as_it_was(value):
    back = tomllib.loads(f"name = {toml_value(value)}")["name"]
    assert back == value and type(back) is type(value)


def test_lines_are_read_as_what_they_say():
    settings = {"preset": "mario", "learner.clip": 0.1, "schedules.windows": [{"knob": "clip", "first": 3}], "x.y": {}}
    assert tomllib.loads("\n".join(toml_lines(settings))) == nested(settings)


def test_what_is_none_has_no_line():
    assert toml_lines({"evaluation.stop_at": None, "seed": 1}) == ["seed = 1"]
    assert toml_value({"last": None, "first": 1}) == "{ first = 1 }"


def test_names_that_are_not_ours_are_quoted():
    lines = toml_lines({"world.env_kwargs.map name": "8x8", "world.env_kwargs.a.b": 1})
    assert tomllib.loads("\n".join(lines)) == {"world": {"env_kwargs": {"map name": "8x8", "a.b": 1}}}
