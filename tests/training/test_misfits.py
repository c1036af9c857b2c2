import pytest

from respawn.errors import ConfigError
from respawn.presets import find_preset
from respawn.training.config import config_from_json, config_to_json
from respawn.training.config_file import merged

CHANNEL = {"signal": "policy/entropy", "knob": "entropy_cost", "low": 0.1, "high": 0.5, "lowest": 0.0, "highest": 1.0}


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"adaptive": [{**CHANNEL, "windw": 2}]}, r"there is no setting called windw; did you mean window\?"),
        ({"windows": [{"knob": "a", "frist": 1, "value": 1.0}]}, r"called frist; did you mean first\?"),
        ({"adaptive": [{**CHANNEL, "mode": "scal"}]}, r"adaptive\.mode must be replace or scale, not 'scal'"),
        ({"adaptive": [{**CHANNEL, "window": "two"}]}, r"adaptive\.window must be a whole number, not 'two'"),
        (
            {"entropy_cost": {"points": [[0.0, 1.0, 2.0]]}},
            r"points must be a list, each of it a list of 2: a number, a number, not",
        ),
        ({"windows": ["foo"]}, r"windows must be a list, each of it a table with knob, first, value, last, not"),
    ],
)
def test_what_does_not_fit_is_told_in_our_words(said, complaint):
    plain = config_to_json(find_preset("mario"))
    with pytest.raises(ConfigError, match=complaint):
        config_from_json(merged(plain, {"schedules": said}))


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"learner": {"clip": -1.0}}, r"learner\.clip must be above 0, not -1"),
        ({"learner": {"epochs": 1.5}}, r": learner\.epochs must be a whole number, not 1\.5$"),
        ({"learner": {"optimizer": {"learning_rate": -1.0}}}, r"optimizer\.learning-rate must be above 0, not -1"),
        ({"world": {"frame_skip": 0}}, r"world\.frame-skip must be from 1 to 60, not 0"),
        ({"learner": {"kind": "sarsa"}}, r"learner must be a table with kind, .* or a table with kind, "),
    ],
)
def test_of_several_kinds_of_tables_the_one_that_is_meant_is_spoken_of(said, complaint):
    plain = config_to_json(find_preset("mario"))
    with pytest.raises(ConfigError, match=complaint):
        config_from_json(merged(plain, said))
