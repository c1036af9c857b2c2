from dataclasses import replace

import pytest
from gathering import make_collector, make_order

from respawn.collection.flow import RECENT_ROLLOUTS, Flow, bottleneck


@pytest.mark.parametrize(
    ("learner", "actors", "name"),
    [(0.6, 0.0, "the actors"), (0.0, 0.6, "the learner"), (0.2, 0.7, "the learner"), (0.05, 0.09, "neither")],
)
def test_who_holds_up_whom(learner, actors, name):
    assert bottleneck(learner, actors) == name


def test_a_bottleneck_is_told_by_name_once_and_again_when_it_is_another():
    events = []
    flow = Flow(events.append)
    collector = make_collector()
    collector.start(make_order())
    rollout = collector.finish()
    stood = replace(rollout, phase_seconds={"collect": 1.0, "hand_over": 0.0, "back_pressure": 1.0})
    worked = replace(rollout, phase_seconds={"collect": 1.0, "hand_over": 0.0, "back_pressure": 0.0})
    for _ in range(2 * RECENT_ROLLOUTS):
        told = flow.note(stood, 0.0, 2)
    assert told["actors_waiting_share"] == pytest.approx(0.5) and told["learner_waiting_share"] == 0.0
    assert [event.facts["bottleneck"] for event in events] == ["the learner"]
    for lag in range(RECENT_ROLLOUTS):
        told = flow.note(worked, 1.0, lag % 4)
    assert [event.facts["bottleneck"] for event in events] == ["the learner", "the actors"]
    assert "bottleneck: the actors" in events[-1].message
    assert told["lag_max"] == 3.0 and told["lag_mean"] == pytest.approx(1.46)
