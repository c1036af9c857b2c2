import pytest

from respawn.errors import ConfigError
from respawn.schedules.boost import AdaptiveBoostConfig, BoostConfig, BoostResolver, PenaltyCap, StageFloor
from respawn.schedules.phases import Phase
from respawn.testing.suites.saveable import check_saveable

METRIC = "episode/first_death_p10"
ADAPTIVE = AdaptiveBoostConfig(window=2, min_update=3)


def resolver(adaptive=None, **settings):
    return BoostResolver(BoostConfig(adaptive=adaptive, **settings))


def fed(boost, values, phase, *, index=0, first=3, stage=0):
    for update, value in enumerate(values, start=first):
        boost.observe({METRIC: value}, update, index, phase, stage)
    return boost


def test_phases_name_a_boost_and_a_floor_or_leave_them():
    boost = resolver(speed=0.7, floor=0.6)
    assert boost.effective(0, Phase(1), None) == 0.7
    assert boost.effective(0, Phase(1, boost=0.5), None) == 0.6
    assert boost.effective(0, Phase(1, boost=0.5, boost_floor=0.9), None) == 0.9


def test_all_caps_of_a_penalty_apply_and_come_after_floors():
    boost = resolver(caps=(PenaltyCap(0.05, 0.8), PenaltyCap(0.06, 0.7)))
    phase = Phase(1, boost=0.82, boost_floor=0.81)
    assert [boost.effective(0, phase, penalty) for penalty in (None, 0.049, 0.05, 0.07)] == [0.82, 0.82, 0.8, 0.7]


@pytest.mark.parametrize(
    ("values", "speed"),
    [([1, 1], 0.76), ([15, 15], 0.9), ([30, 30], 0.8), ([1], 0.9), ([1, 30], 0.9), ([12, 12], 0.9), ([18, 18], 0.9)],
)
def test_a_low_metric_slows_and_a_high_one_less(values, speed):
    phase = Phase(9, boost=0.9, boost_floor=0.7)
    assert fed(resolver(ADAPTIVE), values, phase).effective(0, phase, None) == speed


def test_it_waits_for_its_first_update_and_forgets_what_is_no_number():
    phase = Phase(9, boost=0.9, boost_floor=0.7)
    assert fed(resolver(ADAPTIVE), [1, 1], phase, first=1).base(0, phase) == 0.9
    boost = resolver(ADAPTIVE)
    for update, metrics in enumerate([{}, {METRIC: float("nan")}, {METRIC: 1.0}], start=3):
        boost.observe(metrics, update, 0, phase, 0)
    assert boost.base(0, phase) == 0.9


def test_median_or_mean():
    phase = Phase(9, boost=0.9, boost_floor=0.7)
    config = {"window": 3, "min_update": 0}
    assert fed(resolver(AdaptiveBoostConfig(**config)), [1, 1, 100], phase).base(0, phase) == 0.76
    mean = AdaptiveBoostConfig(**config, use_median=False)
    assert fed(resolver(mean), [1, 1, 100], phase).base(0, phase) == 0.8


def test_the_next_phase_begins_with_its_own():
    phase = Phase(9, boost=0.9, boost_floor=0.7)
    boost = fed(resolver(ADAPTIVE), [1, 1], phase)
    assert (boost.base(0, phase), boost.base(1, phase)) == (0.76, 0.9)


def test_a_boost_goes_no_higher_than_its_phase_and_no_lower_than_floors():
    phase = Phase(9, boost=0.75, boost_floor=0.5)
    assert fed(resolver(ADAPTIVE), [30, 30], phase).base(0, phase) == 0.75
    high = Phase(9, boost=0.82, boost_floor=0.80)
    assert fed(resolver(ADAPTIVE), [1, 1], high).base(0, high) == 0.80
    floors = AdaptiveBoostConfig(window=2, min_update=3, stage_floors=(StageFloor(1, 0.85),))
    assert fed(resolver(floors), [1, 1], high, stage=0).base(0, high) == 0.80
    assert fed(resolver(floors), [1, 1], high, stage=1).base(0, high) == 0.85


def test_it_can_be_saved():
    phase = Phase(9, boost=0.9, boost_floor=0.7)
    check_saveable(
        lambda: resolver(AdaptiveBoostConfig(window=3, min_update=0)),
        lambda boost: fed(boost, [1.0, 2.0], phase),
        lambda boost: boost.base(0, phase),
    )


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: BoostConfig(speed=-1.0), "the boost's speed must be at least 0"),
        (lambda: PenaltyCap(-0.1, 0.5), "a penalty cap's penalty must be at least 0"),
        (lambda: StageFloor(-1, 0.5), "a stage floor's stage must be at least 0"),
        (lambda: AdaptiveBoostConfig(window=0), "the adaptive boost's window must be at least 1"),
        (lambda: AdaptiveBoostConfig(lower=20.0), "lower must be finite and at most its upper, but they are 20.0 and"),
        (lambda: AdaptiveBoostConfig(stage_floors=(StageFloor(1, 0.1),) * 2), "stage-floors name a stage twice"),
    ],
)
def test_what_cannot_be_is_refused(make, complaint):
    with pytest.raises(ConfigError, match=complaint):
        make()
