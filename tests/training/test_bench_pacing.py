import pytest

from respawn.training.bench_pacing import UPDATE_SECONDS, CountedPacing, TimedPacing


@pytest.mark.parametrize(
    ("updates", "fraction", "lag", "dropped", "counted"),
    [
        (20, 0.3, 0, 6, 14),
        (20, 0.3, 4, 9, 11),  # nine were gathered before the turn, or beside those that were
        (20, 0.0, 0, 3, 17),
        (5, 0.9, 1, 5, 1),
        (1, 0.3, 0, 3, 1),  # one counts, whatever is dropped
    ],
)
def test_a_share_is_dropped_and_never_too_few(updates, fraction, lag, dropped, counted):
    pacing = CountedPacing(updates, fraction)
    assert pacing.dropped(lag) == dropped and pacing.counted(lag) == counted
    assert pacing.goes_on(counted - 1, 1e9, lag) and not pacing.goes_on(counted, 0.0, lag)


def test_time_is_measured_out_and_an_update_is_made_whatever_it_takes():
    pacing = TimedPacing(2.0)
    assert pacing.dropped(0) == 3 and pacing.dropped(2) == 5
    assert pacing.goes_on(0, 99.0, 0) and pacing.goes_on(5, 1.9, 0) and not pacing.goes_on(1, 2.0, 0)


def test_a_turn_may_take_as_long_as_its_updates_and_no_longer():
    assert CountedPacing(20, 0.3).longest_seconds(0) == 20 * UPDATE_SECONDS
    assert CountedPacing(1, 0.3).longest_seconds(0) == 4 * UPDATE_SECONDS  # three are dropped
    assert TimedPacing(2.0).longest_seconds(2) == 2 + 6 * UPDATE_SECONDS
