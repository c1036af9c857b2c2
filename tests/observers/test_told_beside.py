import threading

from respawn.contracts.records import Event
from respawn.observers.told_beside import told_beside

EVENT = Event("stalled", "nothing has moved")


def test_tells_the_same_and_waits_until_it_is_told():
    told = []
    told_beside(told.append, patience_seconds=30)(EVENT)
    assert told == [EVENT]


def test_tells_in_a_thread_of_its_own():
    threads = []
    told_beside(lambda event: threads.append(threading.current_thread()), patience_seconds=30)(EVENT)
    assert threads[0] is not threading.current_thread()
    assert threads[0].name == "tells-event" and threads[0].daemon


def test_comes_back_where_those_who_are_told_hang():
    told, go_on = threading.Event(), threading.Event()

    def hang(event: Event) -> None:
        go_on.wait(30)
        told.set()

    tell = told_beside(hang, patience_seconds=0.01)
    tell(EVENT)
    assert not told.is_set()  # it came back first
    go_on.set()
    assert told.wait(30)  # and they are told in the end
