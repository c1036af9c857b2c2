import json
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from respawn.checkpoints.json_text import object_place, place_of, with_member

NAMES = st.text(max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
LAYOUTS = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": 4, "ensure_ascii": False},
        {"indent": "\t"},
        {"indent": 0},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" ,", " : ")},
    ]
)


BLANKS = st.lists(st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "\n \n", "\r"]), min_size=1, max_size=6)


def by_hand(value, blanks):
    """As JSON, with the next of some blanks wherever one may be: commas may lead a line or stand alone in it."""
    if isinstance(value, dict):
        members = (
            f"{json.dumps(name)}{next(blanks)}:{next(blanks)}{by_hand(each, blanks)}" for name, each in value.items()
        )
        return "{" + (",".join(f"{next(blanks)}{each}{next(blanks)}" for each in members) or next(blanks)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(f"{next(blanks)}{by_hand(each, blanks)}{next(blanks)}" for each in value) + "]"
    return json.dumps(value)


@given(data=OBJECTS, name=NAMES, value=st.integers() | OBJECTS, layout=LAYOUTS)
def test_it_reads_as_if_the_member_had_been_set(data, name, value, layout):
    text = f"\n{json.dumps(data, **layout)} "
    changed = with_member(text, object_place(text), name, value)
    assert json.loads(changed) == {**data, name: value}
    assert list(json.loads(changed)) == list({**data, name: value})


@given(data=OBJECTS, inner=OBJECTS, name=NAMES, value=VALUES, blanks=BLANKS)
def test_so_it_does_however_it_is_laid_out(data, inner, name, value, blanks):
    data = {**data, "first": 0, "counts": inner}
    text = by_hand(data, cycle(blanks))
    changed = with_member(text, place_of(text, 0, "counts"), "step", 3)
    changed = with_member(changed, 0, name, {"value": value})
    assert json.loads(changed) == {**data, "counts": {**inner, "step": 3}, name: {"value": value}}


@given(data=OBJECTS, name=st.text("abc", max_size=3), value=st.integers(), layout=LAYOUTS)
def test_it_is_laid_out_as_if_it_had_been_written_so(data, name, value, layout):
    before = {"first": 0, "second": 1, **data}
    assert with_member(json.dumps(before, **layout), 0, name, value) == json.dumps({**before, name: value}, **layout)


@given(outer=OBJECTS, inner=OBJECTS, value=st.integers(), layout=LAYOUTS)
def test_members_of_an_inner_object_are_set_where_it_stands(outer, inner, value, layout):
    data = {**outer, "counts": inner}
    text = json.dumps(data, **layout)
    changed = with_member(text, place_of(text, 0, "counts"), "step", value)
    assert json.loads(changed) == {**data, "counts": {**inner, "step": value}}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('{"a": 1, "step": 0, "b": [1,2], "step": 3}', '{"a": 1, "step": 0, "b": [1,2], "step": 9}'),
        ('{"n": NaN, "step": -0.0}', '{"n": NaN, "step": 9}'),
        ('{"a": "step\\": 0}"}', '{"a": "step\\": 0}", "step": 9}'),
        ("{ }", '{"step": 9 }'),
        ('{"a":1}', '{"a":1,"step":9}'),
    ],
)
def test_all_else_stays_whatever_it_looks_like(text, changed):
    assert with_member(text, 0, "step", 9) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('{\n  "a": 1\n, "b": 2\n}', '{\n  "a": 1\n, "b": 2\n, "how": {"by": 1, "to": [2, 3]}\n}'),
        ('{\n "a":1\n ,"b":2}', '{\n "a":1\n ,"b":2\n ,"how":{"by":1, "to":[2, 3]}}'),
    ],
)
def test_below_commas_that_lead_lines_an_object_has_a_line_to_itself(text, changed):
    assert with_member(text, 0, "how", {"by": 1, "to": [2, 3]}) == changed
