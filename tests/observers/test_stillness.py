from respawn.observers.stillness import Stillness


def test_the_time_since_the_last_move_at_even_intervals():
    now = [100.0]
    stillness = Stillness(1.0, lambda: now[0])
    seen = []
    for moment, moved in ((101.0, 100.8), (102.0, 100.8), (103.0, 100.8), (104.0, 103.5), (105.0, 103.5)):
        now[0] = moment
        seen.append(round(stillness.seconds(moved), 6))
    assert seen == [0.2, 1.2, 2.2, 0.5, 1.5]


def test_while_nobody_could_look_nothing_could_move():
    now = [0.0]
    stillness = Stillness(1.0, lambda: now[0])
    now[0] = 1.0
    assert stillness.seconds(0.5) == 0.5
    now[0] = 601.0  # the process was stopped for ten minutes
    assert stillness.seconds(0.5) == 2.5
    now[0] = 602.0
    assert stillness.seconds(0.5) == 3.5
    now[0] = 1202.0
    assert stillness.seconds(602.5) == 2.0  # it moved just before it was stopped again


def test_a_look_that_comes_a_little_late_counts_whole():
    now = [0.0]
    stillness = Stillness(1.0, lambda: now[0])
    for late in (1.5, 3.0, 4.9):
        now[0] = late
        idle = stillness.seconds(0.0)
    assert idle == 4.9
