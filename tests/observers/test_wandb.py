"""Weights & Biases is played: what it is told, and in which order."""

import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from respawn.contracts.records import EvaluationReport, Event, ResourceReport, Ruling, UpdateReport
from respawn.errors import ConfigError
from respawn.observers.build import ConsoleFacts, build_observers
from respawn.observers.config import ObserversConfig
from respawn.observers.wandb import WandB, import_wandb
from respawn.runs.layout import RunFolder, create
from respawn.runs.metadata import new_meta


class FakeRun:
    def __init__(self) -> None:
        self.metrics: list[tuple[tuple, dict]] = []
        self.rows: list[dict] = []
        self.finished = 0

    def define_metric(self, *names, **how) -> None:
        self.metrics.append((names, how))

    def log(self, row) -> None:
        assert not self.finished
        self.rows.append(row)

    def finish(self) -> None:
        self.finished += 1


class FakeWandB:
    """As much of the package as is used."""

    class Error(Exception):
        pass

    def __init__(self, fails: str | None = None) -> None:
        self.run, self.begun, self.fails = FakeRun(), [], fails

    def init(self, **how) -> FakeRun:
        if self.fails is not None:
            raise self.Error(self.fails)
        self.begun.append(how)
        return self.run


def report(update: int) -> UpdateReport:
    return UpdateReport(update, 10 * update, 0, 0, {"loss/policy": update / 7})


def a_run(place) -> RunFolder:
    return create(place, "one", {**asdict(new_meta("one", "cartpole-ppo", "CartPole-v1", 1)), "id": "a-uuid"}, {})


def mirror(fake: FakeWandB, folder, every_seconds: float = 0.0) -> WandB:
    return WandB(fake, folder, "games", "one", "a-uuid", every_seconds)


def test_a_run_is_known_by_its_id_so_that_resuming_goes_on_in_the_same_place(tmp_path):
    fake = FakeWandB()
    mirror(fake, tmp_path)
    assert fake.begun == [{"project": "games", "name": "one", "id": "a-uuid", "resume": "allow", "dir": str(tmp_path)}]
    assert fake.run.metrics == [(("decisions",), {}), (("*",), {"step_metric": "decisions"})]


def test_the_same_names_over_decisions(tmp_path):
    fake = FakeWandB()
    wandb = mirror(fake, tmp_path)
    for record in (
        report(1),
        EvaluationReport(1, 10, {"evaluation/return_mean": 5.0}),
        Event("k", "m"),
        ResourceReport(1, 10, {"resource/threads": 9.0}),
        Ruling(1, "gate", {"rate": 0.5, "label": "stage1"}),
    ):
        wandb.receive(record)
    assert fake.run.rows == [
        {"loss/policy": 1 / 7, "update": 1, "decisions": 10},
        {"evaluation/return_mean": 5.0, "update": 1, "decisions": 10},
        {"resource/threads": 9.0, "update": 1, "decisions": 10},
        {"gate/rate": 0.5, "update": 1, "decisions": 10},
    ]


def test_a_fast_run_tells_of_the_first_update_and_the_last(tmp_path):
    fake = FakeWandB()
    wandb = mirror(fake, tmp_path, every_seconds=3600)
    for update in range(1, 6):
        wandb.receive(report(update))
    wandb.close()
    wandb.close()
    assert [row["update"] for row in fake.run.rows] == [1, 5] and fake.run.finished == 1


def test_a_run_that_is_taken_up_knows_where_it_is(tmp_path):
    before, fake = mirror(FakeWandB(), tmp_path), FakeWandB()
    before.receive(report(3))
    wandb = mirror(fake, tmp_path)
    wandb.restore(before.state())
    wandb.receive(Ruling(3, "gate", {"rate": 0.5}))
    assert fake.run.rows == [{"gate/rate": 0.5, "update": 3, "decisions": 30}]


def test_where_it_does_not_begin_the_reason_is_given(tmp_path):
    with pytest.raises(ConfigError) as caught:
        mirror(FakeWandB(fails="No API key configured."), tmp_path)
    assert str(caught.value) == (
        "observers.wandb-project wants Weights & Biases, which does not begin (No API key configured); log in with "
        "'wandb login', or keep the curves on this machine with WANDB_MODE=offline, or leave the setting out"
    )


def test_where_it_is_not_installed_that_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match=r"wants the package wandb, .* pip install 'respawn\[wandb\]', or leave"):
        import_wandb()


def test_it_is_one_of_the_observers_where_a_project_is_named(tmp_path, monkeypatch):
    fake = FakeWandB()
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=fake.init, Error=fake.Error))
    folder = a_run(tmp_path)
    config = ObserversConfig(console=False, tensorboard=False, wandb_project="games", tensorboard_seconds=0)
    hub = build_observers(folder, config, ConsoleFacts(10, None))
    hub.receive(report(1))
    hub.close()
    assert fake.begun[0]["id"] == "a-uuid" and fake.begun[0]["name"] == "one"
    assert [row["update"] for row in fake.run.rows] == [1] and fake.run.finished == 1


def test_where_it_refuses_no_file_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    folder = a_run(tmp_path)
    before = sorted(folder.path.iterdir())
    with pytest.raises(ConfigError):
        build_observers(folder, ObserversConfig(wandb_project="games"), ConsoleFacts(10, None))
    assert sorted(folder.path.iterdir()) == before
