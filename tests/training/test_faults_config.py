import pytest

from respawn.errors import ConfigError
from respawn.training.config import RunConfig, config_from_json, config_sha256, config_to_json
from respawn.training.faults_config import RUNGS, FaultsConfig


def test_the_ladder_it_comes_with_takes_what_costs_least_first():
    ladder = FaultsConfig().ladder
    assert ladder[0] == "accumulation" and set(ladder) == set(RUNGS)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"not_finite": "hope"}, r"faults\.not-finite must be stop or go-on, not 'hope'"),
        ({"out_of_memory": "pray"}, r"faults\.out-of-memory must be step-down or stop, not 'pray'"),
        ({"stall": "wait"}, r"faults\.stall must be tell or stop, not 'wait'"),
        ({"most_dropped": -1}, r"faults\.most.dropped must be"),
        ({"ladder": ("horizon", "batch")}, r"faults\.ladder is made of accumulation, horizon, lanes, and 'batch' is"),
    ],
)
def test_what_is_no_answer_is_refused(settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        FaultsConfig(**settings)


def test_how_a_run_meets_faults_can_be_changed_when_it_is_resumed():
    asked = RunConfig()
    others = FaultsConfig(not_finite="go-on", most_dropped=0, out_of_memory="stop", ladder=(), stall="stop")
    changed = RunConfig(faults=others, stepped_down=("horizon",))
    assert config_sha256(changed) == config_sha256(asked)
    assert config_from_json(config_to_json(changed)) == changed
