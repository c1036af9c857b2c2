import pytest

from respawn.cli.outcomes import outcome, told
from respawn.contracts.records import Episode

OF_MARIO = {"cleared": 1.0, "level": "1-1", "x": 3161.0, "seconds": 33.25}


def episode(facts):
    return Episode(lane=0, episode_return=1.5, length=1200, end="death", facts=facts)


def test_marios_levels_have_a_sentence_of_their_own():
    assert told(outcome(3, episode(OF_MARIO))) == "1-1 cleared, x 3161, 33.2 s, 1,200 steps"
    lost = outcome(3, episode({**OF_MARIO, "cleared": 0.0}))
    assert lost["cleared"] is False and told(lost) == "1-1 not cleared (death), x 3161, 33.2 s, 1,200 steps"


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"cleared": 1.0},
        {name: fact for name, fact in OF_MARIO.items() if name != "level"},
        {**OF_MARIO, "x": "far"},
        {**OF_MARIO, "cleared": "no"},
    ],
)
def test_other_worlds_may_call_their_facts_the_same(facts):
    assert told(outcome(3, episode(facts))) == "return 1.50 after 1,200 steps (death)"


def test_what_is_no_yes_or_no_is_not_known_to_be_cleared():
    assert outcome(3, episode({"cleared": 1.0}))["cleared"] is True
    assert outcome(3, episode({"cleared": "no"}))["cleared"] is None


def test_schools_are_counted():
    came_of = outcome(3, episode({"alive": 7.0}), fish=25)
    assert told(came_of) == "7 of 25 fish alive after 1,200 steps"
