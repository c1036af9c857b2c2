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
from respawn.sweeps.supervisor import LOST, STOPPING, Supervisor
from respawn.sweeps.worker import BEGUN, DONE, ENDED, READY, REFUSED, WorkerPlan

PLAN = WorkerPlan(Family(0, 0), "", "small", Path(), Path(), 4, "tpe", "none", None, {}, ())
COMPLETE = (ENDED, {"state": "complete"})
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
        self.told = []
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
