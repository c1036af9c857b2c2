import math

from respawn.contracts.records import Ruling
from respawn.observers.ruling_numbers import ruling_numbers


def test_finite_numbers_under_the_schedules_name():
    facts = {"rate": 0.5, "open": 3, "is_held": True, "label": "stage1", "since": None, "eta": math.inf, "no": math.nan}
    assert ruling_numbers(Ruling(3, "gate", facts)) == {"gate/rate": 0.5, "gate/open": 3.0, "gate/is_held": 1.0}
