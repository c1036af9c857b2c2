from functools import partial

import pyarrow.parquet

from respawn.contracts.records import EvaluationReport, ResourceReport, UpdateReport
from respawn.observers.latest import Latest
from respawn.observers.throttle import EverySeconds


def report(update: int) -> UpdateReport:
    return UpdateReport(update, 10 * update, 40 * update, update, {"loss/policy": update / 7})


def newest(path) -> int:
    (row,) = pyarrow.parquet.read_table(path).to_pylist()
    assert row == {
        "row": "update", "update": row["update"], "decisions": 10 * row["update"], "frames": 40 * row["update"],
        "episodes": row["update"], "loss/policy": row["update"] / 7,
    }  # fmt: skip
    return row["update"]


def test_the_first_update_is_there_at_once_and_the_last_one_at_the_end(tmp_path):
    path = tmp_path / "latest.parquet"
    latest = Latest(path, every_seconds=3600)
    assert not path.exists()
    latest.receive(report(1))
    assert newest(path) == 1
    latest.receive(report(2))
    latest.receive(report(3))
    latest.receive(EvaluationReport(3, 30, {}))
    assert newest(path) == 1
    latest.close()
    latest.close()
    assert newest(path) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["latest.parquet"]


def test_each_update_where_it_is_always_time(tmp_path):
    latest = Latest(tmp_path / "latest.parquet", every_seconds=0)
    for update in range(1, 4):
        latest.receive(report(update))
        assert newest(tmp_path / "latest.parquet") == update


def test_a_run_without_updates_leaves_no_file_and_state_is_nothing(tmp_path):
    latest = Latest(tmp_path / "latest.parquet", every_seconds=0)
    latest.restore(latest.state())
    latest.close()
    assert latest.state() == {} and list(tmp_path.iterdir()) == []


def test_an_update_before_something_long_is_there_once_it_is_time(tmp_path, monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr("respawn.observers.latest.EverySeconds", partial(EverySeconds, now=lambda: seconds[0]))
    latest = Latest(tmp_path / "latest.parquet", every_seconds=10)
    latest.receive(report(1))
    latest.receive(report(2))
    seconds[0] = 10.0
    latest.receive(ResourceReport(2, 20, {}))  # in the middle of a long evaluation
    assert newest(tmp_path / "latest.parquet") == 2
