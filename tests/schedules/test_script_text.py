"""Scripts as people write them."""

import pytest

from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.schedules.script_text import ScriptPart, find_action, in_decisions, parse_script

PAD = WorldSpec(
    "pad", ObservationSpec((1,)), DiscreteActions(4), 1, frames_per_step=4,
    action_names=("NONE", "START", "RIGHT+B", "RIGHT+A+B"),
)  # fmt: skip


def test_names_and_frames():
    parts = parse_script("START:8, RIGHT+B:180,RIGHT+A+B")
    assert parts == (ScriptPart("START", 8), ScriptPart("RIGHT+B", 180), ScriptPart("RIGHT+A+B", 1))
    assert in_decisions(parts, PAD) == ((1, 2), (2, 45), (3, 1))


@pytest.mark.parametrize("name", ["RIGHT+B", "B+RIGHT", "right+b", "b + right"])
def test_buttons_in_any_order(name):
    assert find_action(name, PAD) == 2


def test_worlds_without_names_count():
    spec = WorldSpec("cart", ObservationSpec((1,)), DiscreteActions(2), 1)
    assert in_decisions(parse_script("1:3,0"), spec) == ((1, 3), (0, 1))
    with pytest.raises(ConfigError, match="'2' is none of this world's actions; they are 0, 1"):
        find_action("2", spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no script: '' names no action; write RIGHT+B:180, or several with commas between"),
        (
            "START:8,,RIGHT:3",
            "'START:8,,RIGHT:3' is no script: '' names no action; write RIGHT+B:180, or several with commas between",
        ),
        (":8", "':8' is no script: ':8' names no action; write RIGHT+B:180, or several with commas between"),
        ("A:", "'A:' is no script: A wants a whole number of frames, not ''"),
        ("A:x", "'A:x' is no script: A wants a whole number of frames, not 'x'"),
        ("A:1.5", "'A:1.5' is no script: A wants a whole number of frames, not '1.5'"),
        ("A:1:2", "'A:1:2' is no script: A wants a whole number of frames, not '1:2'"),
        ("A:0", "a script's frames must be from 1 to 10,000,000, not 0 (for A)"),
        ("A:-3", "a script's frames must be from 1 to 10,000,000, not -3 (for A)"),
        ("A:10000001", "a script's frames must be from 1 to 10,000,000, not 10000001 (for A)"),
        ("A:" + "9" * 25, f"'A:{'9' * 25}' is no script: A wants a whole number of frames, not '{'9' * 25}'"),
    ],
)
def test_what_is_no_script_is_refused_with_a_sentence(text, message):
    with pytest.raises(ConfigError) as refusal:
        parse_script(text)
    assert str(refusal.value) == message


def test_unknown_names_are_refused_with_those_there_are():
    with pytest.raises(ConfigError) as refusal:
        in_decisions(parse_script("RIGHT+B:8,JUMP:3"), PAD)
    assert str(refusal.value) == "'JUMP' is none of this world's actions; they are NONE, START, RIGHT+B, RIGHT+A+B"


def test_worlds_without_single_choices_are_refused():
    spec = WorldSpec("arm", ObservationSpec((1,)), ContinuousActions(2), 1)
    with pytest.raises(ConfigError, match="arm does not choose among such; leave it out"):
        find_action("0", spec)


def test_a_part_needs_a_name():
    with pytest.raises(ConfigError, match="must name its buttons"):
        ScriptPart("")
