"""Settings of the cold-start aids: what does nothing or contradicts itself is refused."""

import pytest

from respawn.errors import ConfigError
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.script_text import ScriptPart

STALL = {"bootstrap_after": 3, "bootstrap_frames": 4}


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"script": "A:x"}, "A wants a whole number of frames"),
        ({"plateau_script": "A,,B", "plateau_after": 3}, "names no action"),
        ({"script": "A", "sequence": (ScriptPart("A"),)}, "say the same thing twice"),
        ({"script": "A", "sequence_when": "always"}, "sequence-when must be run or episodes, not 'always'"),
        ({"script": "A", "sequence_when": "episodes"}, "needs a script and sequence-updates"),
        ({"sequence_when": "episodes", "sequence_updates": 3}, "needs a script and sequence-updates"),
        ({"script": "A", "sequence_updates": 3}, "sequence-updates matters only with sequence-when episodes"),
        ({"forward_frames": -1}, "forward-frames must be from 0 to"),
        ({"forward_frames": 10**9}, "forward-frames must be from 0 to"),
        ({"probe_decisions": 10_001, "forward_frames": 1}, "probe-decisions must be from 0 to 10,000"),
        ({"bootstrap_after": 3}, "bootstrap-after needs bootstrap-frames"),
        ({"bootstrap_frames": 3}, "bootstrap-frames says how long a bootstrap is, and bootstrap-after says when"),
        ({"bootstrap_action": "A"}, "bootstrap-action says what a bootstrap does"),
        ({"bootstrap_cooldown": 3}, "bootstrap-cooldown says when"),
        ({**STALL, "bootstrap_cooldown": 3}, "it comes once; set bootstrap-times"),
        ({"bootstrap_times": 2}, "bootstrap-times says how often"),
        ({**STALL, "bootstrap_times": 0}, "bootstrap-times must be from 1"),
        ({"plateau_after": 3}, "plateau-after needs a plateau-script or plateau-frames"),
        ({"plateau_frames": 3}, "plateau-frames says how long"),
        ({"plateau_script": "A"}, "plateau-script says what is done"),
        ({"plateau_gain": 1.0}, "plateau-gain says what is no plateau"),
        ({"plateau_gain": -1.0, "plateau_after": 3, "plateau_frames": 3}, "plateau-gain must be from"),
        ({"plateau_gain": float("nan"), "plateau_after": 3, "plateau_frames": 3}, "plateau-gain must be from"),
        ({"forward_action": "A"}, "say what forward is, and nothing goes there"),
        ({"probe_decisions": 3, "script": "A"}, "say what forward is, and nothing goes there"),
        ({**STALL, "bootstrap_action": "A", "forward_action": "B"}, "nothing goes there"),
        ({"forward_frames": 3, "forward_action": "A", "probe_decisions": 3}, "already names; leave one out"),
        ({"metric": "return/mean", "script": "A"}, "metric is watched by nothing"),
        ({"warn_after": -1}, "warn-after must be from 0"),
    ],
)
def test_refused(settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        ProgressionConfig(**settings)


def test_left_alone_it_does_nothing():
    config = ProgressionConfig()
    assert not (config.says_anything or config.forces_anything or config.goes_forward)


@pytest.mark.parametrize(
    ("settings", "forces", "forward"),
    [
        ({"script": "A"}, True, False),
        ({"forward_frames": 1}, True, True),
        (STALL, True, True),
        ({**STALL, "bootstrap_action": "A"}, True, False),
        ({"plateau_after": 1, "plateau_frames": 1}, True, True),
        ({"plateau_after": 1, "plateau_script": "A"}, True, False),
        ({"warn_after": 1}, False, False),
    ],
)
def test_what_is_asked_for_is_known(settings, forces, forward):
    config = ProgressionConfig(**settings)
    assert (config.says_anything, config.forces_anything, config.goes_forward) == (True, forces, forward)
