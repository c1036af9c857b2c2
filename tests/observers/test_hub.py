import errno
import os
import threading
import time

import pytest

from respawn.contracts.records import Event, UpdateReport
from respawn.errors import RunFolderError
from respawn.observers.hub import ObserverHub

REPORT = UpdateReport(1, 2, 3, 4, {})


class Recorder:
    def __init__(self, fails_at=(), error=None):
        self.received, self.closed, self.restored = [], 0, None
        self.fails_at = fails_at
        self.error = error or OSError("No space left on device")

    def _maybe_fail(self, doing):
        if doing in self.fails_at:
            raise self.error

    def receive(self, record):
        self._maybe_fail("receive")
        if isinstance(record, Event):
            self._maybe_fail("event")
        self.received.append(record)

    def state(self):
        self._maybe_fail("state")
        return {"count": len(self.received)}

    def restore(self, state):
        self._maybe_fail("restore")
        self.restored = state

    def close(self):
        self.closed += 1
        self._maybe_fail("close")


def test_everybody_sees_every_record():
    a, b = Recorder(), Recorder()
    hub = ObserverHub({"a": a, "b": b})
    hub.receive(REPORT)
    assert a.received == b.received == [REPORT]
    assert hub.failures == ()


def test_a_failing_observer_is_detached_closed_and_reported_to_the_others():
    before, bad, after = Recorder(), Recorder(fails_at=("receive",)), Recorder()
    hub = ObserverHub({"before": before, "bad": bad, "after": after})
    hub.receive(REPORT)
    hub.receive(REPORT)
    (failure,) = hub.failures
    assert failure.observer == "bad" and failure.doing == "receive"
    assert failure.error == "OSError: No space left on device"
    assert bad.closed == 1
    for observer in (before, after):
        events = [record for record in observer.received if isinstance(record, Event)]
        assert [(event.kind, event.level) for event in events] == [("observer_failed", "error")]
        assert events[0].facts["observer"] == "bad"
        assert observer.received.count(REPORT) == 2
    hub.close()
    assert bad.closed == 1 and before.closed == after.closed == 1


def test_failing_on_the_news_of_a_failure_is_a_failure_too():
    bad, touchy, good = Recorder(fails_at=("receive",)), Recorder(fails_at=("event",)), Recorder()
    hub = ObserverHub({"bad": bad, "touchy": touchy, "good": good})
    hub.receive(REPORT)
    assert [failure.observer for failure in hub.failures] == ["bad", "touchy"]
    assert [record for record in good.received if isinstance(record, UpdateReport)] == [REPORT]
    assert len(good.received) == 3


def test_an_observer_that_also_fails_to_close_is_reported_once():
    bad = Recorder(fails_at=("receive", "close"))
    hub = ObserverHub({"bad": bad})
    hub.receive(REPORT)
    (failure,) = hub.failures
    assert "and to close" in failure.error


def test_state_by_name_without_those_that_failed():
    good, bad = Recorder(), Recorder(fails_at=("state",))
    hub = ObserverHub({"good": good, "bad": bad})
    hub.receive(REPORT)
    assert hub.state() == {"good": {"count": 1}}
    assert [failure.doing for failure in hub.failures] == ["save"]


def test_restore_gives_each_its_own_and_passes_over_strangers():
    a, fresh = Recorder(), Recorder()
    ObserverHub({"a": a, "fresh": fresh}).restore({"a": {"count": 5}, "gone": {"count": 9}})
    assert a.restored == {"count": 5} and fresh.restored is None


def test_an_error_on_restore_is_the_callers():
    hub = ObserverHub({"a": Recorder(fails_at=("restore",), error=RunFolderError("shorter"))})
    with pytest.raises(RunFolderError):
        hub.restore({"a": {}})


def test_the_first_is_closed_last_and_hears_of_failing_closes():
    events, bad = Recorder(), Recorder(fails_at=("close",))
    hub = ObserverHub({"events": events, "bad": bad})
    hub.close()
    hub.close()
    assert [record.facts["doing"] for record in events.received] == ["close"]
    assert bad.closed == events.closed == 1


def test_an_interrupt_is_not_swallowed():
    hub = ObserverHub({"a": Recorder(fails_at=("receive",), error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        hub.receive(REPORT)


def test_records_from_two_threads_come_one_at_a_time():
    class Slow(Recorder):
        busy, overlapped = False, False

        def receive(self, record):
            self.overlapped |= self.busy
            self.busy = True
            time.sleep(0.001)
            self.busy = False

    slow = Slow()
    hub = ObserverHub({"slow": slow})
    threads = [threading.Thread(target=lambda: [hub.receive(REPORT) for _ in range(10)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not slow.overlapped


def test_one_that_is_added_hears_from_then_on_and_is_closed_first():
    order = []

    class Named(Recorder):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def close(self):
            order.append(self.name)

    first, added = Named("first"), Named("added")
    hub = ObserverHub({"first": first})
    hub.receive(REPORT)
    hub.add("added", added)
    hub.receive(Event("k", "m"))
    assert first.received == [REPORT, Event("k", "m")] and added.received == [Event("k", "m")]
    assert set(hub.state()) == {"first", "added"}
    hub.close()
    assert order == ["added", "first"]


def test_one_that_was_added_may_tell_the_others_something():
    class Talks(Recorder):
        def receive(self, record):
            if isinstance(record, UpdateReport):
                hub.receive(Event("hint", "look there"))

    events = Recorder()
    hub = ObserverHub({"events": events})
    hub.add("talks", Talks())
    hub.receive(REPORT)
    assert events.received == [REPORT, Event("hint", "look there")] and hub.failures == ()


def test_closing_waits_for_one_whose_thread_is_just_telling_the_others_something():
    began, others = threading.Event(), Recorder()

    class HasAThread(Recorder):
        def __init__(self):
            super().__init__()
            self.thread = threading.Thread(target=self.tell)

        def tell(self):
            began.wait(30)
            hub.receive(Event("sample", "m"))

        def close(self):
            began.set()
            self.thread.join(30)
            assert not self.thread.is_alive()  # it would be, if the hub held everybody up while it closes one

    threaded = HasAThread()
    hub = ObserverHub({"others": others, "threaded": threaded})
    threaded.thread.start()
    hub.close()
    assert others.received == [Event("sample", "m")] and hub.failures == ()


def test_nobody_is_told_anything_while_all_are_set_back():
    restoring, seen_inside = threading.Event(), []

    class Slow(Recorder):
        def restore(self, state):
            restoring.set()
            time.sleep(0.05)
            seen_inside.extend(self.received)

    slow = Slow()
    hub = ObserverHub({"slow": slow})
    teller = threading.Thread(target=lambda: restoring.wait(30) and hub.receive(REPORT))
    teller.start()
    hub.restore({"slow": {}})
    teller.join(30)
    assert seen_inside == [] and slow.received == [REPORT]


def disk_error(number):
    return OSError(number, os.strerror(number))


def test_a_full_disk_is_told_of_once_however_many_meet_it():
    full = [Recorder(fails_at=("receive",), error=disk_error(errno.ENOSPC)) for _ in range(3)]
    closing = Recorder(fails_at=("close",), error=disk_error(errno.ENOSPC))
    last = Recorder()
    hub = ObserverHub({"last": last, **{f"full{i}": each for i, each in enumerate(full)}, "closing": closing})
    hub.receive(REPORT)
    hub.close()
    events = [record for record in last.received if isinstance(record, Event)]
    assert [event.facts["observer"] for event in events] == ["full0"]
    assert events[0].message.endswith("; it is left out from now on, and so is whoever else meets the same")
    assert [failure.observer for failure in hub.failures] == ["full0", "full1", "full2", "closing"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_failure_that_an_observer_outlives_is_told_of_and_stays(number):
    living, last = Recorder(), Recorder()
    hub = ObserverHub({"last": last, "living": living})
    hub.note_failure("living", "write", disk_error(number))
    hub.receive(REPORT)
    assert [(failure.observer, failure.doing) for failure in hub.failures] == [("living", "write")]
    (event,) = [record for record in last.received if isinstance(record, Event)]
    assert event.kind == "observer_failed" and event.level == "error"
    assert event.message.startswith(f"{hub.failures[0]}; it goes on without that")
    assert ("is left out" in event.message) == (number == errno.ENOSPC)
    assert living.received == last.received and living.closed == 0


def test_other_failures_are_told_of_one_by_one():
    errors = [disk_error(errno.EROFS), disk_error(errno.ENOSPC), disk_error(errno.EIO), disk_error(errno.EIO)]
    failing = {f"o{i}": Recorder(fails_at=("receive",), error=error) for i, error in enumerate(errors)}
    last = Recorder()
    ObserverHub({"last": last, **failing}).receive(REPORT)
    told = [record.facts["observer"] for record in last.received if isinstance(record, Event)]
    assert told == ["o0", "o1", "o2", "o3"]
