import os
import signal

import pytest

from respawn.checkpoints.config import CheckpointsConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import Event
from respawn.evaluation.config import EvaluationConfig
from respawn.training.cadence import Cadence
from respawn.training.shutdown import stop_on_signals


@pytest.fixture
def cadence():
    return Cadence(EvaluationConfig(), CheckpointsConfig(), last_update=5, limit_seconds=None)


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_first_signal_asks_and_the_second_does_not_wait(asked, code, cadence):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    told: list[Event] = []
    with stop_on_signals(cadence, told.append) as shutdown:
        assert shutdown.exit_code == 0 and not cadence.finished(Clock())
        os.kill(os.getpid(), asked)
        assert shutdown.exit_code == code and shutdown.signal is asked
        assert cadence.finished(Clock())
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert shutdown.exit_code == code
        shutdown.wait_until_told()
    assert [event.kind for event in told] == ["stopping"] and "once more: at once, without" in told[0].message
    assert {number: signal.getsignal(number) for number in before} == before


def test_nohup_is_heard(cadence):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals(cadence, lambda event: None) as shutdown:
            os.kill(os.getpid(), signal.SIGHUP)
            assert shutdown.signal is None
    finally:
        signal.signal(signal.SIGHUP, before)
