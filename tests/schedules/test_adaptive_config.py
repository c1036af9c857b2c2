from dataclasses import replace

import pytest

from respawn.errors import ConfigError
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.windows import KnobWindow, ValueWindow

GOOD = AdaptiveConfig("policy/entropy", "entropy_cost", low=0.5, high=1.0, lowest=0.003, highest=0.02)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"window": 0}, "the adaptive channel of entropy_cost: its window must be at least 1, not 0"),
        ({"cooldown_updates": -1}, "its cooldown-updates must be at least 0"),
        ({"patience_updates": 0}, "its patience-updates must be at least 1"),
        ({"step": 0.0}, "its step must be above 0"),
        ({"step": 1.5}, "its step must be from 0.0 to 1.0"),
        ({"low": 2.0}, r"its low must be finite and at most its high, but they are 2.0 and 1.0; swap them"),
        ({"high": float("inf")}, "its low must be finite"),
        ({"lowest": 0.5}, "its lowest must be finite and at most its highest"),
        ({"lowest": 0.02}, "its lowest and highest are both 0.02, so nothing can move"),
        ({"below": "lowest"}, "its below and above are both 'lowest', so the signal makes no difference"),
        ({"mode": "scale"}, "its factor begins at 1, so lowest must be from 0 to 1 and highest at least 1"),
        ({"signal": "entropy"}, "its signal must be a metric's name, group/name, not 'entropy'"),
        ({"signal": "time/learn_seconds"}, "its signal must be the same for two equal runs"),
        ({"signal": "knob/entropy_cost"}, "its signal is the knob itself"),
        (
            {"signal": "return/mean", "patience_updates": 9},
            "its patience-updates has no effect, for 'return/mean' comes",
        ),
    ],
)
def test_what_cannot_adapt_is_refused(changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        replace(GOOD, **changes)


def test_a_knob_has_one_channel():
    with pytest.raises(ConfigError, match=r"schedules\.adaptive has two channels for entropy_cost; leave it to one"):
        SchedulesConfig(adaptive=(GOOD, replace(GOOD, signal="return/mean")))


def test_the_windows_of_entropy_are_kept_in_one_place():
    with pytest.raises(ConfigError, match="both speak of entropy_cost"):
        SchedulesConfig(
            entropy_windows=(ValueWindow(1, 2, 0.5),), windows=(KnobWindow("entropy_cost", first=3, value=0.5),)
        )
