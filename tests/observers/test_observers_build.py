import io

import pytest

from respawn.contracts.records import Episode, EpisodeReport, EvaluationReport, Event, UpdateReport
from respawn.observers.build import ConsoleFacts, build_observers
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import create
from respawn.runs.reader import read_episodes, read_evaluations, read_events, read_updates

UPDATE = UpdateReport(1, 10, 10, 1, {"loss/policy": 0.5})
EPISODE = EpisodeReport(1, Episode(0, 1.0, 2, "terminated"))
EVALUATION = EvaluationReport(1, 10, {"evaluation/return_mean": 4.0})
EVENT = Event("k", "m")


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "one", {}, {})


def test_every_record_ends_up_in_its_stream(folder):
    told = io.StringIO()
    hub = build_observers(folder, ObserversConfig(), ConsoleFacts(10, None, stream=told))
    for record in (UPDATE, EPISODE, EVALUATION, EVENT):
        hub.receive(record)
    hub.close()
    assert list(read_updates(folder)) == [UPDATE]
    assert list(read_episodes(folder)) == [EPISODE]
    assert list(read_evaluations(folder)) == [EVALUATION]
    assert [timed.event for timed in read_events(folder)] == [EVENT]
    assert list(folder.tensorboard.iterdir())
    assert "update 1/10" in told.getvalue()
    assert hub.failures == ()


def test_what_is_not_wanted_is_not_built(folder, capsys):
    hub = build_observers(folder, ObserversConfig(console=False, tensorboard=False), ConsoleFacts(10, None))
    hub.receive(UPDATE)
    assert set(hub.state()) == {"events", "episodes", "updates", "evaluations", "probes", "rulings"}
    hub.close()
    assert capsys.readouterr().out == "" and not folder.tensorboard.exists()


def test_resuming_makes_the_files_of_a_run_never_interrupted(folder):
    def watch(first: int, last: int, state=None, save_at=None):
        facts = ConsoleFacts(10, None, first_update=first, stream=io.StringIO())
        hub = build_observers(folder, ObserversConfig(), facts)
        if state is not None:
            hub.restore(state)
        for update in range(first + 1, last + 1):
            hub.receive(UpdateReport(update, update, update, update, {"loss/policy": update / 3}))
            hub.receive(EpisodeReport(update, Episode(0, float(update), 2, "terminated")))
            hub.receive(EvaluationReport(update, update, {"evaluation/return_mean": update / 3}))
            if update == save_at:
                state = hub.state()
        hub.close()
        return state

    watch(5, 10, watch(0, 8, save_at=5))
    assert [row.update for row in read_updates(folder)] == list(range(1, 11))
    assert [row.update for row in read_episodes(folder)] == list(range(1, 11))
    assert [row.update for row in read_evaluations(folder)] == list(range(1, 11))
