"""What a run does where its rows are lost."""

import pytest

from respawn.contracts.records import Event
from respawn.errors import CheckpointWriteError
from respawn.observers.hub import ObserverHub
from respawn.runs.streams import ROW_STREAMS, STREAMS
from respawn.training.run import WholeRows


class Failing:
    """Receives nothing."""

    def receive(self, record):
        raise OSError(28, "No space left on device")

    def state(self):
        return {}

    def restore(self, state):
        """There is none."""

    def close(self):
        """Nothing is open."""


def hub_that_lost(name):
    hub = ObserverHub({name: Failing()})
    hub.receive(Event("k", "m"))
    return hub


@pytest.mark.parametrize("name", sorted(ROW_STREAMS))
def test_no_checkpoint_is_made_where_rows_of_any_stream_were_lost_that_is_continued(name):
    rows = WholeRows(hub_that_lost(name))
    for ask in (rows.check, rows.state):
        with pytest.raises(CheckpointWriteError, match=rf"missing \(observer {name} failed to receive"):
            ask()


@pytest.mark.parametrize("name", sorted({*STREAMS, "tensorboard", "heartbeat"} - ROW_STREAMS))
def test_what_else_fails_stops_no_checkpoint(name):
    rows = WholeRows(hub_that_lost(name))
    rows.check()
    assert rows.state() == {}
