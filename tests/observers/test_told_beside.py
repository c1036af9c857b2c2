import threading
import time

from respawn.contracts.records import Beat, Event
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


def wait_for(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_beats_are_let_go_while_one_is_still_being_told():
    told, go_on = [], threading.Event()

    def hang(record) -> None:
        go_on.wait(30)
        told.append(record)

    tell = told_beside(hang, patience_seconds=0.01)
    beats = [Beat(number, 0, {}, False, {}) for number in range(4)]
    for beat in beats[:3]:
        tell(beat)
    tell(EVENT)  # which comes once, and is kept
    go_on.set()
    wait_for(lambda: len(told) == 2)
    assert beats[0] in told and EVENT in told
    wait_for(lambda: not [one for one in threading.enumerate() if one.name.startswith("tells-")])
    tell(beats[3])
    wait_for(lambda: beats[3] in told)
