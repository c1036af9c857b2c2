import pytest

from respawn.errors import ConfigError
from respawn.worlds.mario.buttons import ACTION_SETS, BUTTONS, action_names, button_byte, button_names


@pytest.mark.parametrize(("name", "count"), [("right", 5), ("simple", 7), ("complex", 12), ("extended", 8)])
def test_sets_have_as_many_different_actions_as_they_say(name, count):
    assert len({button_byte(action) for action in action_names(name)}) == count == len(ACTION_SETS[name])


def test_larger_sets_begin_with_the_smaller():
    assert ACTION_SETS["simple"][:5] == ACTION_SETS["right"]
    assert ACTION_SETS["complex"][:7] == ACTION_SETS["simple"]


@pytest.mark.parametrize(("name", "held"), [("NONE", 0), ("A", 1), ("right+b", 0x82), ("LEFT+A+B", 0x43)])
def test_a_combination_is_a_byte(name, held):
    assert button_byte(name) == held


def test_every_byte_has_a_name_that_leads_back():
    for held in range(256):
        assert button_byte(button_names(held)) == held
    assert button_names(0) == "NONE"
    assert len(BUTTONS) == 8


def test_a_list_of_ones_own():
    assert action_names(["right+b", "none"]) == ("RIGHT+B", "NONE")


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ("walk", "world.actions must be one of right, simple, complex, extended, not 'walk'"),
        (["A"], "at least two actions to choose from"),
        (["A", "JUMP"], "'JUMP' is none of A, B, SELECT"),
        (["A+B", "B+A"], "two press the same"),
        (["NONE", ""], "'' is none of"),
    ],
)
def test_others_are_refused(actions, sentence):
    with pytest.raises(ConfigError, match=sentence):
        action_names(actions)
