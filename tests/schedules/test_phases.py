import pytest

from respawn.errors import ConfigError
from respawn.schedules.phases import PenaltyLock, Phase, PhasePlan, penalty_at


def penalties(phases, count, **options):
    return [penalty_at(PhasePlan(phases), update, **options) for update in range(1, count + 1)]


def test_updates_belong_to_phases_and_the_last_one_goes_on():
    plan = PhasePlan([Phase(2), Phase(1), Phase(3)])
    assert [plan.index_at(update) for update in range(1, 9)] == [0, 0, 1, 2, 2, 2, 2, 2]
    assert [plan.updates_of(index) for index in range(3)] == [(1, 2), (3, 3), (4, 6)]


def test_phases_fill_the_plan():
    PhasePlan([Phase(2), Phase(3)]).check_sum(5)
    with pytest.raises(ConfigError, match=r"last 5 updates together, but 6 are planned; lengthen"):
        PhasePlan([Phase(2), Phase(3)]).check_sum(6)


def test_without_a_ramp_the_penalty_is_there_at_once_and_plateaus_have_no_effect():
    assert penalties([Phase(2, penalty=0.1), Phase(3, penalty=0.3, plateau_updates=2)], 5) == [0.1, 0.1, 0.3, 0.3, 0.3]


def test_a_ramp_goes_from_the_phase_before_to_the_phases_last_update():
    phases = [Phase(2, penalty=0.1), Phase(5, penalty=0.5, ramp=True)]
    assert penalties(phases, 8) == pytest.approx([0.1, 0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5])


def test_a_plateau_holds_the_phase_before():
    phases = [Phase(2, penalty=0.1), Phase(5, penalty=0.5, ramp=True, plateau_updates=2)]
    assert penalties(phases, 7) == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.5])
    phases = [Phase(2, penalty=0.1), Phase(5, penalty=0.5, ramp=True, plateau_updates=4)]
    assert penalties(phases, 7) == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5])


def test_the_first_ramp_begins_at_the_base_and_a_phase_of_one_update_has_none():
    assert penalties([Phase(3, penalty=0.4, ramp=True)], 3, base=0.2) == pytest.approx([0.2, 0.3, 0.4])
    assert penalties([Phase(1, penalty=0.4, ramp=True)], 1, base=0.2) == [0.4]


def test_a_lock_is_a_lid():
    phases = [Phase(2, penalty=0.1), Phase(4, penalty=0.5)]
    assert penalties(phases, 6, lock=PenaltyLock(0.2, 4)) == [0.1, 0.1, 0.2, 0.2, 0.5, 0.5]


def test_later_phases_than_the_gates_get_the_end_of_its_last():
    phases = [Phase(2, penalty=0.1), Phase(3, penalty=0.3, ramp=True), Phase(2, penalty=0.9)]
    assert penalties(phases, 7, highest_phase=1) == pytest.approx([0.1, 0.1, 0.1, 0.2, 0.3, 0.3, 0.3])
    assert penalties(phases, 7, highest_phase=0) == [0.1] * 7


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"updates": 0}, "a phase's updates must be at least 1, not 0"),
        ({"size": 0}, "a phase's size must be at least 1, not 0"),
        ({"penalty": -0.1}, "a phase's penalty must be at least 0, not -0.1"),
        ({"boost": float("nan")}, "a phase's boost must be at least 0 and finite, not nan"),
        ({"plateau_updates": -1}, "a phase's plateau-updates must be at least 0"),
        ({"ramp": True}, "a phase's ramp needs a penalty to go to"),
        ({"ramp": True, "penalty": 0.1, "plateau_updates": 3}, "plateau-updates must be below its 3 updates"),
    ],
)
def test_what_no_phase_can_be_is_refused(settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        Phase(**{"updates": 3, **settings})


def test_a_lock_that_locks_nothing_is_refused():
    with pytest.raises(ConfigError, match="a penalty lock's until must be at least 1, not 0"):
        PenaltyLock(0.1, 0)
