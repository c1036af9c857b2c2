"""Which schedules of single knobs are made, and which are refused before the run begins."""

from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.errors import ConfigError, KnobError
from respawn.evaluation.config import EvaluationConfig
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.director import Director
from respawn.schedules.windows import KnobWindow
from respawn.training.config import RunConfig, config_from_json, config_sha256, config_to_json
from respawn.training.knob_schedules import knob_schedules
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig

KNOBS = (
    KnobSpec("learning_rate", 0.01, 0.0, 1.0),
    KnobSpec("entropy_cost", 0.02, 0.0, 1.0),
    KnobSpec("ppo_clip", 0.2, 0.0, 1.0),
    KnobSpec("reward_distance", 0.1, -10.0, 10.0),
    KnobSpec("reward_death", -1.0, -10.0, 10.0),
    KnobSpec("reward_milestone", 0.0, -10.0, 10.0),
)
CHANNEL = AdaptiveConfig("policy/entropy", "ppo_clip", low=0.5, high=1.0, lowest=0.1, highest=0.4, window=1, step=0.5)
FALLING = CurveConfig("linear", final_fraction=0.5)


def made(world=None, evaluation=None, planned_updates=100, **schedules):
    config = RunConfig(
        planned_updates=planned_updates,
        world=world or MarioConfig(),
        evaluation=evaluation or EvaluationConfig(every_updates=10),
        schedules=SchedulesConfig(**schedules),
    )
    return Director(KNOBS, knob_schedules(config, KNOBS))


def channel(**changes):
    return (replace(CHANNEL, **changes),)


def test_curve_windows_and_channel_lie_over_each_other():
    director = made(
        planned_updates=4,
        reward_death=CurveConfig("linear", initial_fraction=0.5, final_fraction=2.5),
        windows=(KnobWindow("reward_death", first=2, last=2, value=-4.0),),
        adaptive=channel(knob="reward_death", mode="scale", lowest=0.5, highest=1.0, below="lowest", above="highest"),
    )
    values = [director.knobs(Clock(updates=updates))["reward_death"] for updates in range(5)]
    assert values == pytest.approx([-0.5, -4.0, -1.5, -2.0, -2.5])


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ({"signal": "episode/clered"}, r"'episode/clered' is no metric of this run; did you mean episode/cleared\?"),
        ({"signal": "evaluation/survival_mean"}, "is no metric of this run"),
        ({"signal": "policy/entrpy"}, r"did you mean policy/entropy\?"),
        ({"signal": "policy/rho_mean"}, "is no metric of this run"),  # of V-trace, and this is PPO
        ({"signal": "replay/age"}, "there are: none"),
        ({"signal": "knob/nothing"}, "is no metric of this run"),
        ({"window": 101}, "window is 101, and the whole plan has 100 updates, so it would never move"),
        ({"signal": "evaluation/cleared", "window": 11}, "the whole plan has 10 evaluations"),
        (
            {"signal": "evaluation/cleared", "cooldown_updates": 9},
            r"cooldown-updates \(9\) end before the next evaluation",
        ),
        ({"highest": 5.0}, "'ppo_clip' must lie from 0 to 1, and its schedules may take it from 0.1 to 5"),
        ({"knob": "reward_death"}, "what is a prize cannot become a penalty, nor a penalty a prize"),
        (
            {"knob": "reward_milestone", "mode": "scale", "highest": 2.0},
            "the knob's setting is 0, so there is nothing to scale",
        ),
        ({"anneal_lock": True}, "anneal_lock has no curve to lock"),
    ],
)
def test_channels_that_cannot_work_are_refused(setting, complaint):
    made(adaptive=channel())
    with pytest.raises(ConfigError, match=complaint):
        made(adaptive=channel(**setting))


def test_signals_of_evaluations_need_evaluations():
    with pytest.raises(ConfigError, match=r"comes with evaluations, and there are none; set evaluation\.every_updates"):
        made(evaluation=EvaluationConfig(every_updates=0), adaptive=channel(signal="evaluation/cleared"))


def test_signals_are_those_of_the_world():
    made(world=FishConfig(), adaptive=channel(signal="episode/first_death_p10"))
    made(world=FishConfig(), adaptive=channel(signal="evaluation/survival_mean"))
    with pytest.raises(ConfigError, match="is no metric of this run"):
        made(world=FishConfig(), adaptive=channel(signal="episode/cleared"))


@pytest.mark.parametrize(
    "schedules",
    [
        {"adaptive": channel(knob="school_size")},
        {"windows": (KnobWindow("school_size", first=1, value=3.0),)},
        {"replay_beta": CurveConfig("linear", initial_fraction=0.6, final_fraction=1.0)},
    ],
)
def test_knobs_that_nothing_consumes_are_refused(schedules):
    with pytest.raises(KnobError, match="which nothing consumes; the knobs here are: entropy_cost, learning_rate"):
        made(**schedules)


def test_a_curve_and_a_channel_need_a_way_to_meet():
    both = {"knob": "entropy_cost", "lowest": 0.0, "highest": 0.1}
    with pytest.raises(ConfigError, match="both decide 'entropy_cost'"):
        made(entropy_cost=FALLING, adaptive=channel(**both))
    made(entropy_cost=FALLING, adaptive=channel(**both, anneal_lock=True))
    made(entropy_cost=FALLING, adaptive=channel(**both | {"mode": "scale", "highest": 2.0}))


def test_windows_after_the_end_are_refused():
    with pytest.raises(ConfigError, match="the window of ppo_clip begins at update 101, and the run ends at 100"):
        made(windows=(KnobWindow("ppo_clip", first=101, value=0.1),))
    with pytest.raises(ConfigError, match="what is a prize cannot become a penalty"):
        made(windows=(KnobWindow("reward_distance", first=1, value=-0.1),))


def test_a_curve_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="a fraction of reward_milestone's setting, which is 0, so it has no effect"):
        made(reward_milestone=CurveConfig("piecewise", points=((0.0, 1.0), (1.0, 0.0))))
    with pytest.raises(ConfigError, match="'entropy_cost' must lie from 0 to 1, and its schedules may take it from"):
        made(entropy_cost=CurveConfig("linear", final_fraction=99.0))


def test_each_is_part_of_what_a_run_is_recognised_by_and_none_of_what_older_runs_are():
    plain = RunConfig()
    changed = [
        SchedulesConfig(adaptive=channel()),
        SchedulesConfig(adaptive=channel(step=0.25)),
        SchedulesConfig(windows=(KnobWindow("ppo_clip", first=1, value=0.1),)),
        SchedulesConfig(entropy_cost=CurveConfig(initial_fraction=0.5)),
        SchedulesConfig(entropy_cost=CurveConfig("piecewise", points=((0.0, 1.0),))),
        SchedulesConfig(replay_beta=CurveConfig()),
    ]
    prints = {config_sha256(replace(plain, schedules=schedules)) for schedules in changed}
    assert len(prints | {config_sha256(plain)}) == len(changed) + 1
    for schedules in changed:
        config = replace(plain, schedules=schedules)
        assert config_from_json(config_to_json(config)) == config
    older = config_to_json(plain)
    for name in ("adaptive", "windows", "replay_beta"):
        del older["schedules"][name]
    for name in ("learning_rate", "entropy_cost", "reward_scale"):
        del older["schedules"][name]["initial_fraction"], older["schedules"][name]["points"]
    assert config_sha256(config_from_json(older)) == config_sha256(plain)


@pytest.mark.parametrize(
    ("schedules", "complaint"),
    [
        (
            {"adaptive": channel(knob="entropy_cots", mode="scale", lowest=0.5, highest=2.0)},
            r"an adaptive channel turns 'entropy_cots', which nothing consumes; did you mean entropy_cost\?",
        ),
        ({"adaptive": channel(knob="ppo_cilp", anneal_lock=True)}, r"did you mean ppo_clip\?"),
        ({"windows": (KnobWindow("nothing", first=2, value=1.0),)}, "a window sets 'nothing'.*the knobs here are"),
    ],
)
def test_an_unknown_knob_is_said_to_be_unknown(schedules, complaint):
    with pytest.raises(KnobError, match=complaint):
        made(**schedules)


def test_a_share_of_hard_starts_that_are_not_there_is_refused():
    knobs = (*KNOBS, KnobSpec("hard_start_share", 0.0, 0.0, 1.0))
    window = KnobWindow("hard_start_share", first=2, value=0.5)
    config = RunConfig(world=MarioConfig(), schedules=SchedulesConfig(windows=(window,)))
    with pytest.raises(KnobError, match="there are no hard starts"):
        knob_schedules(config, knobs)


def test_the_clear_rate_of_open_levels_is_a_signal():
    world = MarioConfig(levels=("1-1", "1-2"))
    for name in ("cleared_open", "cleared_open_worst", "cleared_1_2"):
        assert made(world, adaptive=channel(signal=f"evaluation/{name}"))
    with pytest.raises(ConfigError, match="is no metric of this run"):
        made(adaptive=channel(signal="evaluation/cleared_open"))
