import pytest

from respawn.evaluation.inspection.spans import span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (99, "99 s"),
        (100, "2 min"),
        (5999, "100 min"),
        (6000, "1.7 h"),
        (172_799, "48.0 h"),
        (172_800, "2 days"),
    ],
)
def test_spans_are_told_as_people_say_them(seconds, words):
    assert span(seconds) == words
