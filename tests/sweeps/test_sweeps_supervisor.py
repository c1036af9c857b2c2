"""How workers are listened to, replaced and stopped, with workers that only say that they work."""

import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_studies import folder_in

from respawn.errors import ConfigError, StudyError
from respawn.processes.child import Family
from respawn.sweeps import supervisor
from respawn.sweeps.claims import MOST_TIMES_TAKEN_UP
from respawn.sweeps.supervisor import LOST, MOST_ALIKE, STOPPING, Supervisor
from respawn.sweeps.worker import BEGUN, BROKEN, DONE, ENDED, READY, REFUSED, WorkerPlan

PLAN = WorkerPlan(Family(0, 0), "", "small", Path(), Path(), 4, "tpe", "none", None, {}, ())
COMPLETE = (ENDED, {"state": "complete", "is_alarming": False, "cause": ""})
STOPPED = (ENDED, {"state": "stopped"})


@dataclass
class Script:
    """What one worker says, and how it goes."""

    messages: list = field(default_factory=list)
    how: str = "exit code 0"
    waits_for_signals: int = 0
    """says nothing more, and is there, until so many came"""


class Stage:
    """Workers in the order of their beginning; notes what is done to them."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.children = []
        self.told, self.facts = [], []
        self.hears = lambda kind: None

    def child(self, module, plan, *, output, threads, descriptors):
        script = self.scripts.pop(0)
        connection, theirs = multiprocessing.Pipe()
        for message in script.messages:
            theirs.send(message)
        if not script.waits_for_signals:
            theirs.close()
        made = SimpleNamespace(pid=1_000 + len(self.children), connection=connection, signals=[], ended=False)

        def end(grace_seconds=0.0):
            made.ended = True
            connection.close()
            return script.how

        made.end, made.theirs, made.script = end, theirs, script
        self.children.append(made)
        return made

    def kill(self, pid, number):
        (child,) = [one for one in self.children if one.pid == pid]
        child.signals.append(number)
        if len(child.signals) == child.script.waits_for_signals:
            child.theirs.close()

    def tell(self, worker, kind, facts):
        self.told.append((worker, kind))
        self.facts.append(facts)
        self.hears(kind)


@pytest.fixture
def work(tmp_path, monkeypatch):
    def go(stage, workers=1):
        monkeypatch.setattr(supervisor, "ChildProcess", stage.child)
        monkeypatch.setattr(supervisor, "os", SimpleNamespace(kill=stage.kill))
        monkeypatch.setattr(supervisor, "_LOOK_SECONDS", 0.01)
        return Supervisor(PLAN, folder_in(tmp_path), stage.tell).work(workers)

    return go


def test_it_ends_when_all_workers_are_done(work):
    stage = Stage(Script([(READY, {}), COMPLETE, (DONE, {})]), Script([(DONE, {})]))
    assert work(stage, 2) == 0
    assert sorted(stage.told) == sorted([(1, READY), (1, ENDED), (1, DONE), (2, DONE)])
    assert all(child.ended for child in stage.children)


def test_one_that_dies_is_replaced(work):
    stage = Stage(Script([(BEGUN, {})], "signal SIGKILL"), Script([COMPLETE, (DONE, {})]))
    assert work(stage) == 0
    assert stage.told == [(1, BEGUN), (1, LOST), (1, ENDED), (1, DONE)]


def test_one_that_somebody_else_stopped_is_replaced(work):
    stage = Stage(Script([STOPPED]), Script([(DONE, {})]))
    assert work(stage) == 0
    assert stage.told == [(1, ENDED), (1, LOST), (1, DONE)]


def test_one_in_which_cuda_failed_is_replaced_and_that_is_why(work):
    said = "CUDA error: device-side assert triggered"
    stage = Stage(Script([(BEGUN, {}), (BROKEN, {"cause": said})], "signal SIGABRT"), Script([(DONE, {})]))
    assert work(stage) == 0
    assert stage.told == [(1, BEGUN), (1, LOST), (1, DONE)] and stage.facts[1] == {"how": said}


def failed(number, cause, *, is_alarming=True):
    return ENDED, {"state": "failed", "number": number, "cause": cause, "is_alarming": is_alarming}


def full(number):
    return failed(number, f"the run folder runs/small-t000{number} cannot be made (No space left); pick another place")


def test_trials_that_fail_one_after_another_in_the_same_way_end_the_sweep(work):
    stage = Stage(Script([full(number) for number in range(MOST_ALIKE)], waits_for_signals=9))
    with pytest.raises(StudyError) as caught:
        work(stage)
    assert str(caught.value) == (
        "3 trials failed one after another in the same way (the run folder runs/small-t0002 cannot be made (No space "
        "left); pick another place), and the next ones would hardly do better; mend that, and the same command goes on "
        "with the trials that are left"
    )
    assert [kind for _, kind in stage.told] == [ENDED] * MOST_ALIKE and stage.children[0].ended
    assert stage.children[0].signals == [signal.SIGTERM]  # what it is at work on is saved


@pytest.mark.parametrize(
    "messages",
    [
        [full(0), full(1), COMPLETE, full(2), full(2)],
        [full(0), full(1), failed(2, "ValueError: the pole broke"), full(2)],
        [failed(0, "not finite", is_alarming=False)] * 9,
        [full(1), full(2), full(3)],  # that was the last: nothing is left to be spared
    ],
)
def test_others_do_not(work, messages):
    assert work(Stage(Script([*messages, (DONE, {})]))) == 0


def test_one_that_is_done_may_end_as_it_likes(work):
    assert work(Stage(Script([(DONE, {})], "signal SIGSEGV"))) == 0


def test_workers_that_do_nothing_but_die_are_not_replaced_for_ever(work):
    most = 2 * (MOST_TIMES_TAKEN_UP + 1)
    stage = Stage(*[Script([(READY, {})], "exit code 1")] * (most + 2))
    with pytest.raises(StudyError, match=rf"{most + 1} workers died in a row, the last with exit code 1; see .*\.log"):
        work(stage, 2)
    assert all(child.ended for child in stage.children) and len(stage.children) == most + 2


def test_a_trial_that_ends_is_a_new_beginning(work):
    dies = Script([COMPLETE], "signal SIGKILL")
    assert work(Stage(*[dies] * 9, Script([(DONE, {})]))) == 0


@pytest.mark.parametrize(("exit_code", "kind"), [(2, ConfigError), (1, StudyError)])
def test_a_worker_that_refuses_ends_all(work, exit_code, kind):
    refuses = Script([(REFUSED, {"cause": "there is no study", "exit_code": exit_code})])
    stage = Stage(refuses, Script([(READY, {})], waits_for_signals=9))
    with pytest.raises(kind, match="there is no study"):
        work(stage, 2)
    assert len(stage.children) == 2 and all(child.ended for child in stage.children)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_once_and_answered_by_its_code(work, number):
    before = signal.getsignal(number)
    waiting = [Script([(READY, {})], waits_for_signals=1) for _ in range(2)]
    stage = Stage(*waiting)
    stage.hears = lambda kind: os.kill(os.getpid(), number) if kind == READY and len(stage.told) == 2 else None
    assert work(stage, 2) == 128 + number
    assert [child.signals for child in stage.children] == [[signal.SIGTERM], [signal.SIGTERM]]
    assert (0, STOPPING) in stage.told and signal.getsignal(number) is before


def test_workers_have_the_signal_before_anybody_is_told_of_it(work):
    stage = Stage(Script([(READY, {})], waits_for_signals=1))
    sent = []

    def hears(kind):
        if kind == READY:
            os.kill(os.getpid(), signal.SIGHUP)
        elif kind == STOPPING:
            sent.extend(stage.children[0].signals)

    stage.hears = hears
    assert work(stage) == 129
    assert sent == [signal.SIGTERM]


def test_nobody_is_replaced_once_a_signal_came(work):
    stage = Stage(Script([(READY, {})], "signal SIGKILL", waits_for_signals=1))
    stage.hears = lambda kind: os.kill(os.getpid(), signal.SIGINT) if kind == READY else None
    assert work(stage) == 130
    assert len(stage.children) == 1


def test_what_does_not_heed_two_signals_is_killed_at_the_third(work):
    stage = Stage(Script([(READY, {})], "signal SIGKILL", waits_for_signals=3))

    def stop(kind):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)

    stage.hears = lambda kind: stop(kind) if kind == READY else None
    assert work(stage) == 130
    assert stage.children[0].signals == [signal.SIGTERM, signal.SIGTERM, signal.SIGKILL]
