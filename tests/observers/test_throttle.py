from respawn.observers.throttle import EverySeconds


def test_due_at_once_and_then_after_the_wait():
    now = [100.0]
    throttle = EverySeconds(2.0, now=lambda: now[0])
    answers = []
    for moment in (100.0, 101.9, 102.0, 103.0, 110.0, 111.0, 112.0):
        now[0] = moment
        answers.append(throttle.due())
    assert answers == [True, False, True, False, True, False, True]


def test_zero_seconds_is_always_due():
    throttle = EverySeconds(0.0, now=lambda: 1.0)
    assert [throttle.due() for _ in range(3)] == [True, True, True]
