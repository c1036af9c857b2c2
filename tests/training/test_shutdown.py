import os
import signal

import pytest

from respawn.checkpoints.config import CheckpointsConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import Event
from respawn.evaluation.config import EvaluationConfig
from respawn.training.cadence import Cadence
from respawn.training.shutdown import Interrupted, Shutdown, stop_on_signals


@pytest.fixture
def cadence():
    return Cadence(EvaluationConfig(), CheckpointsConfig(), last_update=5, limit_seconds=None)


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_first_signal_asks_and_the_second_does_not_wait(asked, code, cadence):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    told: list[Event] = []
    shutdown = Shutdown()
    with stop_on_signals(shutdown, cadence, told.append):
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


def test_one_that_comes_while_handlers_are_put_back_is_not_lost(cadence, monkeypatch):
    """The run could go on after the error, but was asked to stop just when nobody looked any more."""
    real = signal.signal

    def late(number, handler):
        if number == signal.SIGINT and handler is signal.default_int_handler:
            os.kill(os.getpid(), signal.SIGTERM)  # whose handler is put back after that of SIGINT
        return real(number, handler)

    shutdown = Shutdown()
    with (
        pytest.raises(Interrupted) as caught,
        shutdown.goes_before(lambda error: True),
        stop_on_signals(shutdown, cadence, lambda event: None),
    ):
        monkeypatch.setattr(signal, "signal", late)
        raise MemoryError
    assert caught.value.exit_code == 143


def test_nohup_is_heard(cadence):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        shutdown = Shutdown()
        with stop_on_signals(shutdown, cadence, lambda event: None):
            os.kill(os.getpid(), signal.SIGHUP)
            assert shutdown.signal is None
    finally:
        signal.signal(signal.SIGHUP, before)
