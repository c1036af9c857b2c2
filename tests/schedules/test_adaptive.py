"""The channel by hand: what each of its settings does to the knob."""

from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import KnobSpec
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.errors import ConfigError
from respawn.schedules.adaptive import AdaptiveChannel
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.compose import Fixed
from respawn.schedules.config import CurveConfig
from respawn.schedules.curves import Curve
from respawn.schedules.windows import KnobWindow, Windows
from respawn.testing.suites.schedule import check_schedule

SIGNAL = "world/forward_share"
DISTANCE = AdaptiveConfig(SIGNAL, "reward_distance", low=0.05, high=0.3, lowest=0.005, highest=0.05, window=2, step=0.5)
FACTOR = AdaptiveConfig(
    SIGNAL, "learning_rate", low=0.05, high=0.3, lowest=0.5, highest=2.0, mode="scale", window=1, step=0.5
)

FALLING = CurveConfig("linear", final_fraction=0.5)


def update(number, signal):
    metrics = {} if signal is None else {SIGNAL: signal}
    return UpdateReport(number, number, number, 0, {"policy/entropy": 1.0, **metrics})


def evaluation(number, **metrics):
    return EvaluationReport(number, number, {f"evaluation/{name}": value for name, value in metrics.items()})


def hear(channel, signals, first=1):
    """The knob for the update after each report, and the events."""
    (knob,) = channel.owns
    values, events = [], []
    for number, signal in enumerate(signals, first):
        events += [ruling.facts["event"] for ruling in channel.observe(update(number, signal))]
        values.append(channel.decide(Clock(updates=number))[knob])
    return values, events


def over_setting(config=DISTANCE, setting=0.02, **changes):
    return AdaptiveChannel(replace(config, **changes), Fixed(config.knob, setting))


def over_curve(config=DISTANCE, setting=0.02, curve=FALLING, **changes):
    return AdaptiveChannel(replace(config, **changes), Curve(config.knob, setting, curve, 10))


class TestRule:
    def test_no_progress_raises_it_to_the_bound(self):
        values, events = hear(over_setting(), [0.0] * 40)
        assert values[:3] == pytest.approx([0.02, 0.035, 0.0425])  # half of what is left each time
        assert values == sorted(values) and values[-1] == pytest.approx(0.05)
        assert events[:3] == ["filling", "raise", "raise"]

    def test_much_progress_lowers_it_to_the_other(self):
        values, events = hear(over_setting(), [0.9] * 40)
        assert values[:3] == pytest.approx([0.02, 0.0125, 0.00875])
        assert values == sorted(values, reverse=True) and values[-1] == pytest.approx(0.005)
        assert set(events[1:40]) <= {"lower", "hold"}

    @pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
    def test_within_the_band_it_stays(self, share):
        values, events = hear(over_setting(), [share] * 10)
        assert set(values) == {0.02} and set(events[1:]) == {"hold"}

    def test_the_average_of_a_steady_signal_is_the_signal(self):
        channel = over_setting(window=5)
        facts = [channel.observe(update(number, 0.2))[0].facts for number in range(1, 10)][-1]
        assert facts["average"] == pytest.approx(0.2) and facts["ema"] == pytest.approx(0.2)

    def test_the_moving_average_weighs_the_newest(self):
        channel = over_setting(window=3)
        facts = [channel.observe(update(number, signal))[0].facts for number, signal in enumerate([0.1, 0.5], 1)][-1]
        assert facts["ema"] == pytest.approx(0.1 + 0.5 * 0.4)
        assert facts["average"] == pytest.approx(0.3)

    def test_the_learning_rates_scale_rises(self):
        values, _ = hear(over_setting(FACTOR, 1e-3), [0.0] * 3)
        assert values == pytest.approx([1.5e-3, 1.75e-3, 1.875e-3])

    def test_what_was_concluded_is_a_ruling(self):
        channel = over_setting(FACTOR, 1e-3)
        (ruling,) = channel.observe(update(7, 0.01))
        assert (ruling.update, ruling.schedule) == (7, "adaptive")
        assert ruling.facts == {
            "event": "raise",
            "knob": "learning_rate",
            "signal": SIGNAL,
            "newest": 0.01,
            "average": 0.01,
            "ema": 0.01,
            "factor": 1.5,
            "knob_value": pytest.approx(1.5e-3),
        }


class TestSettings:
    def test_window(self):
        swings = [0.0, 0.6] * 4
        assert hear(over_setting(window=1), swings)[0] == pytest.approx([0.035, 0.02] * 4)
        assert set(hear(over_setting(window=2, high=0.35), swings)[0]) == {0.02}  # 0.3 on average
        assert set(hear(over_setting(window=9), swings)[1]) == {"filling"}

    def test_band(self):
        assert hear(over_setting(low=0.05), [0.1] * 3)[0][-1] == 0.02
        assert hear(over_setting(low=0.2), [0.1] * 3)[0][-1] > 0.02
        assert hear(over_setting(low=0.0, high=0.05), [0.1] * 3)[0][-1] < 0.02

    def test_step(self):
        assert hear(over_setting(step=1.0), [0.0] * 2)[0] == [0.02, 0.05]
        assert hear(over_setting(step=0.1), [0.0] * 2)[0] == pytest.approx([0.02, 0.023])

    def test_bounds(self):
        assert hear(over_setting(highest=0.04, step=1.0), [0.0] * 2)[0][-1] == 0.04
        assert hear(over_setting(lowest=0.01, step=1.0), [0.9] * 2)[0][-1] == 0.01
        # A setting out of the bounds is brought into them as soon as the channel takes over.
        assert hear(over_setting(setting=0.1), [0.1] * 2)[0] == [0.1, 0.05]

    def test_directions(self):
        other_way = {"below": "lowest", "above": "highest"}
        assert (
            hear(over_setting(**other_way), [0.0] * 2)[0][-1] < 0.02 < hear(over_setting(**other_way), [0.9] * 2)[0][-1]
        )
        assert hear(over_setting(above="stay"), [0.9] * 3)[0][-1] == 0.02

    def test_cooldown(self):
        _, events = hear(over_setting(window=1, cooldown_updates=2), [0.0] * 7)
        assert events == ["raise", "cooling", "cooling"] * 2 + ["raise"]
        assert "cooling" not in hear(over_setting(window=1), [0.0] * 7)[1]

    def test_mode(self):
        replaced = over_curve(anneal_lock=True, window=1, low=0.0, high=1.0)
        scaled = over_curve(mode="scale", lowest=0.5, highest=2.0, window=1, low=0.0, high=1.0)
        assert hear(replaced, [0.5] * 3)[0] == pytest.approx([0.019, 0.019, 0.019])
        assert hear(scaled, [0.5] * 3)[0] == pytest.approx([0.019, 0.018, 0.017])

    def test_anneal_lock(self):
        """The curve runs on beneath a factor, unless it is locked where it was when the window was full."""
        free = over_curve(mode="scale", lowest=0.5, highest=2.0)
        locked = over_curve(mode="scale", lowest=0.5, highest=2.0, anneal_lock=True)
        assert hear(free, [0.2] * 4)[0] == pytest.approx([0.019, 0.018, 0.017, 0.016])
        assert hear(locked, [0.2] * 4)[0] == pytest.approx([0.019, 0.018, 0.018, 0.018])

    def test_windows_may_lie_beneath_too(self):
        early = Windows("reward_distance", 0.02, [KnobWindow("reward_distance", first=2, last=3, value=0.04)])
        channel = AdaptiveChannel(replace(DISTANCE, mode="scale", lowest=0.5, highest=2.0), early)
        assert hear(channel, [0.2] * 4)[0] == [0.04, 0.04, 0.02, 0.02]

    def test_patience(self):
        channel = over_setting(signal="policy/entrpy", patience_updates=3)
        channel.observe(update(1, None))
        channel.observe(update(2, None))
        with pytest.raises(
            ConfigError, match=r"'policy/entrpy' has not appeared in 3 updates; did you mean policy/entropy"
        ):
            channel.observe(update(3, None))

    def test_a_signal_that_was_there_once_may_be_missing_for_a_while(self):
        _, events = hear(over_setting(patience_updates=2), [0.1, None, None, None, float("nan"), 0.1])
        assert events == ["filling", "missing", "missing", "missing", "missing", "hold"]

    def test_signals_of_episodes_are_waited_for(self):
        assert set(hear(over_setting(signal="return/mean"), [0.0] * 200)[1]) == {"missing"}


class TestEvaluations:
    CONFIG = replace(DISTANCE, signal="evaluation/cleared", window=1)

    def test_only_evaluations_move_it(self):
        channel = AdaptiveChannel(self.CONFIG, Fixed("reward_distance", 0.02))
        assert hear(channel, [0.0] * 5) == ([0.02] * 5, [])
        assert channel.observe(evaluation(5, cleared=0.0))[0].facts["event"] == "raise"

    def test_updates_alone_move_the_others(self):
        assert over_setting().observe(evaluation(5, cleared=0.0)) == ()


def test_curve_and_replacement_need_a_lock():
    with pytest.raises(ConfigError, match=r"both decide 'reward_distance'; set the channel's anneal_lock"):
        over_curve()
    over_curve(curve=CurveConfig())  # a constant is no curve


def test_a_lock_needs_a_curve():
    with pytest.raises(ConfigError, match="anneal_lock has no curve to lock"):
        over_setting(anneal_lock=True)


def test_nothing_cannot_be_scaled():
    with pytest.raises(ConfigError, match="setting is 0, so there is nothing to scale"):
        over_setting(FACTOR, 0.0)


@pytest.mark.parametrize("make", [over_setting, lambda: over_curve(anneal_lock=True, cooldown_updates=3)])
def test_it_is_a_schedule(make):
    reports = [update(number + 1, (number * 7 % 10) / 10) for number in range(50)]
    check_schedule(make, [KnobSpec("reward_distance", 0.02, -1.0, 1.0)], reports)


def test_its_reach_holds_whatever_it_hears():
    for channel in (over_setting(), over_curve(mode="scale", lowest=0.5, highest=2.0, window=1)):
        lowest, highest = channel.reach
        for signals in ([0.0] * 30, [0.9] * 60):
            values, _ = hear(channel, signals)
            assert lowest <= min(values) <= max(values) <= highest
