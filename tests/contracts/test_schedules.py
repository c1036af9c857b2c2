"""Every schedule against the suite for schedules."""

import pytest

from respawn.contracts.knobs import KnobSpec
from respawn.schedules.config import CurveConfig
from respawn.schedules.curves import Curve
from respawn.testing.suites.schedule import check_schedule

RATE = KnobSpec("learning_rate", 0.01, 0.0, 0.01)


@pytest.mark.parametrize("shape", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("warmup", [0.0, 0.1])
def test_curve(shape, warmup):
    config = CurveConfig(shape, warmup_fraction=warmup, final_fraction=0.05)
    check_schedule(lambda: Curve("learning_rate", 0.01, config, 40), [RATE], num_updates=50)


class Wrong(Curve):
    """A curve with a fault that the suite must find."""

    def __init__(self, fault: str) -> None:
        super().__init__("learning_rate", 0.01, CurveConfig(), 40)
        self.fault, self.asked, self.seen = fault, 0, 0

    def observe(self, report):
        self.seen += 1
        return ()

    def decide(self, clock):
        self.asked += 1
        if self.fault == "restless":
            return {"learning_rate": 0.01 / self.asked}
        if self.fault == "greedy":
            return {"learning_rate": 0.01, "entropy_cost": 0.01}
        if self.fault == "wild":
            return {"learning_rate": 0.02}
        return {"learning_rate": 0.01 / (1 + self.seen)}  # and says nothing of it in its state


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [("restless", "two answers"), ("greedy", "but owns"), ("wild", "out of its range"), ("forgetful", "otherwise")],
)
def test_the_suite_finds_faults(fault, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_schedule(lambda: Wrong(fault), [RATE])
