import math

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.errors import KnobError
from respawn.schedules.config import CurveConfig
from respawn.schedules.curves import Curve
from respawn.schedules.director import Director
from respawn.testing.suites.saveable import check_saveable

RATE = KnobSpec("learning_rate", 0.01, 0.0, 1.0)
ENTROPY = KnobSpec("entropy_cost", 0.5, 0.0, 100.0)
REWARD = KnobSpec("reward_scale", 2.0, 0.0, 10.0)


class Counter:
    """Decides how many reports it has seen."""

    def __init__(self, *names):
        self.owns = frozenset(names)
        self.seen = []

    def observe(self, report):
        self.seen.append(report.update)
        return ()

    def decide(self, clock):
        return dict.fromkeys(self.owns, float(len(self.seen)))

    def state(self):
        return {"seen": list(self.seen)}

    def restore(self, state):
        self.seen = list(state["seen"])


def test_every_knob_has_a_value():
    director = Director(
        [RATE, ENTROPY, REWARD],
        [
            Curve("learning_rate", 0.01, CurveConfig("linear"), 10),
            Curve("entropy_cost", 0.5, CurveConfig("linear", final_fraction=0.5), 10),
        ],
    )
    knobs = director.knobs(Clock(updates=5))
    assert knobs.version == 5
    assert dict(knobs.values) == {
        "learning_rate": pytest.approx(0.005),
        "entropy_cost": pytest.approx(0.375),
        "reward_scale": 2.0,
    }


def test_two_owners_are_an_error():
    with pytest.raises(KnobError, match="two schedules decide 'learning_rate'"):
        Director([RATE, ENTROPY], [Counter("learning_rate"), Counter("entropy_cost", "learning_rate")])


def test_a_knob_without_a_consumer_is_an_error():
    with pytest.raises(KnobError, match=r"'learning_rat', which nothing consumes.*entropy_cost, learning_rate"):
        Director([RATE, ENTROPY], [Counter("learning_rat")])


def test_a_knob_declared_twice_is_an_error():
    with pytest.raises(KnobError, match=r"\['learning_rate'\] are declared twice"):
        Director([RATE, ENTROPY, KnobSpec("learning_rate", 0.0, 0.0, 1.0)], [])


@pytest.mark.parametrize("setting", [1.5, -0.1, math.nan, math.inf])
def test_a_value_out_of_range_is_an_error(setting):
    director = Director([RATE], [Curve("learning_rate", setting, CurveConfig(), 10)])
    with pytest.raises(KnobError, match="'learning_rate' must lie from 0 to 1"):
        director.knobs(Clock())


@pytest.mark.parametrize("setting", [1.5, -0.1, math.nan, math.inf])
def test_a_setting_out_of_range_is_an_error_before_the_first_update(setting):
    spec = KnobSpec("learning_rate", setting, 0.0, 1.0)
    with pytest.raises(KnobError, match=r"'learning_rate' must lie from 0 to 1, but is set to \S+; change the setting"):
        Director([spec], [Curve("learning_rate", setting, CurveConfig(), 10)])


def test_schedules_see_every_report():
    counters = Counter("entropy_cost"), Counter("reward_scale")
    director = Director([ENTROPY, REWARD], counters)
    director.observe(UpdateReport(1, 10, 10, 1, {}))
    director.observe(EvaluationReport(1, 10, {}))
    assert [counter.seen for counter in counters] == [[1, 1], [1, 1]]
    assert director.knobs(Clock(updates=1))["reward_scale"] == 2.0


def test_it_can_be_saved():
    def advance(director):
        director.observe(UpdateReport(1, 10, 10, 1, {}))

    check_saveable(
        lambda: Director([ENTROPY, REWARD], [Counter("entropy_cost"), Counter("reward_scale")]),
        advance,
        lambda director: dict(director.knobs(Clock()).values),
    )
