import threading

from respawn.contracts.pulse import IDLE
from respawn.observers.thread_phases import Doing, ThreadPhases


def marked_by(phases: ThreadPhases, name: str, *marks: str) -> threading.Thread:
    """A thread of this name that marks, and has ended."""
    thread = threading.Thread(target=lambda: [phases.mark(phase) for phase in marks], name=name)
    thread.start()
    thread.join()
    return thread


def test_what_each_thread_does_and_for_how_long_the_newest_mark_last():
    now = [100.0]
    phases = ThreadPhases(lambda: now[0])
    held, go_on = threading.Event(), threading.Event()

    def collecting() -> None:
        phases.mark("act")
        now[0] = 103.0
        phases.mark("world")
        held.set()
        go_on.wait(30)

    phases.mark("learn")
    collector = threading.Thread(target=collecting, name="collector")
    collector.start()
    held.wait(30)
    now[0] = 110.0
    main = threading.current_thread().name
    assert phases.look() == [Doing(main, "learn", 10.0, 100.0), Doing("collector", "world", 7.0, 103.0)]
    assert phases.last_move() == 103.0 and phases.idle_seconds() == 7.0
    go_on.set()
    collector.join()
    assert [each.thread for each in phases.look()] == [main]  # one that has ended does nothing


def test_how_much_of_a_rollout_is_gathered_belongs_to_the_mark():
    phases = ThreadPhases(lambda: 0.0)
    phases.mark("world", 0.5)
    assert [each.share for each in phases.look()] == [0.5]
    phases.mark("learn")
    assert [each.share for each in phases.look()] == [0.0]


def test_marking_the_same_phase_again_is_a_move():
    now = [0.0]
    phases = ThreadPhases(lambda: now[0])
    phases.mark("world")
    now[0] = 50.0
    phases.mark("world")
    (doing,) = phases.look()
    assert doing.seconds == 0.0 and phases.idle_seconds() == 0.0


def test_a_thread_that_waits_for_orders_does_nothing_and_yet_has_moved():
    now = [0.0]
    phases = ThreadPhases(lambda: now[0])
    now[0] = 5.0
    phases.mark(IDLE)
    now[0] = 7.0
    assert phases.look() == [] and phases.idle_seconds() == 2.0


def test_nothing_marked_yet_counts_from_the_beginning():
    now = [10.0]
    phases = ThreadPhases(lambda: now[0])
    now[0] = 14.0
    assert phases.look() == [] and phases.idle_seconds() == 4.0


def test_a_new_thread_is_not_taken_for_one_that_ended_and_had_its_number():
    phases = ThreadPhases()
    number = marked_by(phases, "collector", "world").ident
    started, go_on = threading.Event(), threading.Event()

    def beginning() -> None:
        started.set()
        go_on.wait(30)

    threads = []
    for _ in range(50):  # the system gives the number to one of the next threads, mostly to the very next
        threads.append(threading.Thread(target=beginning, name="another"))
        threads[-1].start()
        started.wait(30)
        if threads[-1].ident == number:
            break
    assert phases.look() == []
    go_on.set()
    for thread in threads:
        thread.join()


def test_something_may_move_within_a_phase():
    now = [0.0]
    phases = ThreadPhases(lambda: now[0])
    phases.mark("checkpoint")
    now[0] = 50.0
    phases.moved()
    now[0] = 60.0
    (doing,) = phases.look()
    assert (doing.phase, doing.seconds) == ("checkpoint", 60.0) and phases.idle_seconds() == 10.0
