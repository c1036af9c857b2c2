"""A GPU whose memory does not suffice, wherever it is noticed: the run goes on smaller, and nothing is lost."""

import json
import os
import signal
import threading
from dataclasses import replace
from functools import cache

import pytest
import torch
from operators import alarms, the_alarm, whole
from tiny_runs import event_kinds, saving_every, straight, timeless_rows, tiny, trace

from respawn.checkpoints.checkpointer import Checkpointer
from respawn.cli.main import main
from respawn.collection.config import CollectionConfig
from respawn.collection.sync import SyncCollector
from respawn.errors import MemoryLimitError, ObserverError, WorldError
from respawn.evaluation.evaluator import Evaluator
from respawn.learners.vtrace.learner import VTraceLearner
from respawn.observers.latest import Latest
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.schedules.config import SchedulesConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.training import assemble, launch
from respawn.training.faults_config import FaultsConfig
from respawn.training.launch import begin, take_up
from respawn.training.recorded import load_config

PLACES = {
    "assembling": (assemble, "build_learner"),
    "collecting": (SyncCollector, "finish"),
    "learning": (VTraceLearner, "learn"),
    "judging": (Evaluator, "evaluate"),
    "saving": (Checkpointer, "save"),
}
LAGS = {
    "lag0": CollectionConfig(num_lanes=4, horizon_steps=8),
    "lag1": CollectionConfig(num_lanes=4, horizon_steps=8, lag=1),
}
NEEDS_NO_MEMORY = FaultsConfig(ladder=("accumulation",))
"""The gradient of a batch that is learned in two parts is the same."""


def out_of_memory() -> torch.OutOfMemoryError:
    return torch.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 10 GiB"
    )


def small(**changes):
    return tiny("vtrace", updates=12, collection=LAGS["lag0"], checkpoints=saving_every(5), **changes)


class Shortages:
    """Lets calls fail, counted over all makings of a run."""

    def __init__(self, monkeypatch, place, *fails_at, error=out_of_memory):
        where, name = PLACES[place]
        self.real, self.fails_at, self.calls, self.error = getattr(where, name), fails_at, 0, error
        shortages = self

        def call(*arguments, **named):
            shortages.calls += 1
            if shortages.calls in shortages.fails_at:
                raise shortages.error()
            return shortages.real(*arguments, **named)

        monkeypatch.setattr(where, name, call)


def check_that_it_went_on(folder: RunFolder, config, rungs: int = 1) -> None:
    """Once told for each rung, with the rungs recorded; and every update is there once."""
    told = alarms(folder)
    assert [event.kind for event in told] == ["stepped_down"] * rungs
    assert [event.facts["rung"] for event in told] == list(config.faults.ladder[:rungs])
    assert load_config(folder).stepped_down == config.faults.ladder[:rungs]
    assert read_status(folder).status == "finished" and not folder.failure.exists()
    assert int(whole(folder)[-1][1:]) == len(timeless_rows(folder.updates)) == config.updates
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("collector")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """By lag: a run, and what it comes to."""

    @cache
    def made(lag):
        config = replace(small(faults=NEEDS_NO_MEMORY), collection=LAGS[lag])
        return config, straight(config, tmp_path_factory.mktemp("runs"))

    return made


CASES = {
    ("assembling", 1): 0,
    ("collecting", 1): 0,
    ("learning", 1): 0,
    ("saving", 1): 0,
    ("collecting", 8): 5,  # with lag 1 in a thread, while the seventh is learned from
    ("learning", 8): 5,
    ("judging", 1): 8,  # the update that was to be judged is whole, and saved first
    ("saving", 3): 8,  # and so is one that could not be saved, when that is tried again
    ("saving", 3, 4): 5,
}
"""Where memory does not suffice, and at which calls, by the update that the run goes on from."""
QUICK = {
    "lag0": [("assembling", 1), ("learning", 8), ("judging", 1)],
    "lag1": [("collecting", 8)],
}


@pytest.mark.parametrize(
    ("lag", "where"),
    [
        pytest.param(lag, where, marks=[] if where in QUICK[lag] else pytest.mark.slow, id=f"{lag}-{where}")
        for lag in LAGS
        for where in CASES
    ],
)
def test_at_the_start_and_in_the_middle(lag, where, undisturbed, tmp_path, monkeypatch):
    config, expected = undisturbed(lag)
    goes_on_from = CASES[where]
    Shortages(monkeypatch, *where)
    folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert (outcome.status, outcome.exit_code, outcome.updates) == ("finished", 0, 12)
    check_that_it_went_on(folder, config)
    (event,) = alarms(folder)
    assert event.message == (
        "the memory did not suffice (CUDA out of memory. Tried to allocate 2.00 GiB): stepped down, "
        f"learner.optimizer.accumulation 1 → 2; the run goes on from update {goes_on_from}"
    )
    assert event.level == "warning" and event.facts["update"] == goes_on_from
    ours = trace(folder)
    assert ours.updates[:goes_on_from] == expected.updates[:goes_on_from]
    same = ("decisions", "episodes", "policy/entropy")  # to rounding: parts are added up
    for mine, theirs in zip(ours.updates, expected.updates, strict=True):
        assert [mine[name] for name in same] == pytest.approx([theirs[name] for name in same], rel=1e-4)
    assert [row["update"] for row in ours.evaluations] == [row["update"] for row in expected.evaluations]


def test_rung_by_rung_until_it_suffices(tmp_path, monkeypatch):
    config = small(faults=FaultsConfig(ladder=("accumulation", "horizon", "lanes", "lanes")))
    Shortages(monkeypatch, "assembling", 2, 3)  # and before that, in the eighth update
    shortages = Shortages(monkeypatch, "learning", 8)
    folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert outcome.updates == 12 and shortages.calls == 7 + 1 + 7
    (event,) = alarms(folder)  # told once it is known which rung suffices
    assert event.facts == {"rung": "lanes", "rungs_taken": 3, "update": 5}
    assert (
        "stepped down, learner.optimizer.accumulation 1 → 2, collection.horizon-steps 8 → 4, "
        "collection.num-lanes 4 → 2; the run goes on from update 5, its episodes begin anew"
    ) in event.message
    decisions = [row["decisions"] for row in timeless_rows(folder.updates)]
    assert decisions == [32 * update for update in range(1, 6)] + [160 + 8 * more for more in range(1, 8)]
    assert load_config(folder).stepped_down == ("accumulation", "horizon", "lanes")
    assert take_up(folder, updates=14).updates == 14  # on the rung that it came to
    assert "rung_changed" not in event_kinds(folder)
    assert timeless_rows(folder.updates)[-1]["decisions"] == 160 + 9 * 8
    settings = json.loads(folder.config.read_text())
    folder.config.write_text(json.dumps({**settings, "stepped_down": []}))  # and back up, where somebody made room
    assert take_up(folder, updates=15).updates == 15
    assert "rung_changed" in event_kinds(folder)
    assert timeless_rows(folder.updates)[-1]["decisions"] == 160 + 9 * 8 + 32


@pytest.mark.slow
@pytest.mark.parametrize("order", ["fixed", "free"])
def test_actors_begin_anew_one_rung_down(order, tmp_path, monkeypatch):
    """The rollout that waited to be learned from is no more: weights are as young again as from the start."""
    collection = replace(LAGS["lag0"], actors=2, order=order)
    config = replace(small(faults=FaultsConfig(ladder=("horizon",))), collection=collection)
    Shortages(monkeypatch, "learning", 8)
    folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert outcome.updates == 12 and load_config(folder).stepped_down == ("horizon",)
    rows = [json.loads(row) for row in folder.updates.read_text().splitlines()]
    lags = [row["weights/lag"] for row in rows]
    assert lags[0] == lags[5] == 0.0 and max(lags) <= collection.greatest_lag
    assert rows[-1]["time/lag_max"] == max(lags[5:])  # as the collector counts them
    if order == "fixed":
        assert lags == [0.0, 1.0, 2.0, 2.0, 2.0, *[0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]]


def test_scripts_that_were_played_are_not_played_again(tmp_path, monkeypatch):
    schedules = SchedulesConfig(progression=ProgressionConfig(script="1:10"))
    config = small(faults=FaultsConfig(ladder=("horizon",)), schedules=schedules)
    Shortages(monkeypatch, "learning", 8)
    folder, _ = begin(config, preset="test", runs_dir=tmp_path, name="short")
    check_that_it_went_on(folder, config)
    forced = [row["collect/scripted_fraction"] for row in timeless_rows(folder.updates)]
    assert forced[:2] == [1.0, 0.25] and not any(forced[2:])


def test_what_failed_before_it_stepped_down_is_not_forgotten(tmp_path, monkeypatch):
    config = small(faults=NEEDS_NO_MEMORY)
    real, broken = Latest.receive, []

    def receive(self, record):
        if not broken:
            broken.append(True)
            raise OSError("no ink")
        real(self, record)

    monkeypatch.setattr(Latest, "receive", receive)
    Shortages(monkeypatch, "learning", 8)
    with pytest.raises(ObserverError, match="the training is whole and saved, but observer latest failed"):
        begin(config, preset="test", runs_dir=tmp_path, name="short")
    folder = RunFolder(tmp_path / "short")
    assert read_status(folder).status == "finished"
    assert [event.kind for event in alarms(folder)] == ["observer_failed", "stepped_down"]


def test_asked_to_stop_while_it_closes_it_does_not_go_on_smaller(tmp_path, monkeypatch):
    real, closed = SyncCollector.close, []

    def close(self):
        if not closed:
            os.kill(os.getpid(), signal.SIGTERM)
        closed.append(True)
        real(self)

    Shortages(monkeypatch, "learning", 8)
    monkeypatch.setattr(SyncCollector, "close", close)
    with pytest.raises(KeyboardInterrupt) as caught:
        begin(small(), preset="test", runs_dir=tmp_path, name="short")
    assert caught.value.exit_code == 143
    folder = RunFolder(tmp_path / "short")
    assert read_status(folder).status == "stopped" and load_config(folder).stepped_down == ()
    assert take_up(folder).updates == 12


@pytest.mark.slow
def test_replay_begins_empty_where_its_segments_are_of_another_length(tmp_path, monkeypatch):
    config = tiny("vtrace-replay", updates=9, collection=LAGS["lag0"], checkpoints=saving_every(5))
    config = replace(config, faults=FaultsConfig(ladder=("horizon",)))
    Shortages(monkeypatch, "learning", 7)
    folder, _ = begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert alarms(folder)[0].message.endswith("from update 5, its episodes begin anew and its replay is empty")
    fill = [row["replay/fill"] for row in timeless_rows(folder.updates)]
    assert 0 < fill[5] < fill[4]


@pytest.mark.parametrize(
    ("place", "call", "faults", "advice"),
    [
        ("assembling", 1, FaultsConfig(out_of_memory="stop"), "and faults.out-of-memory says stop; try step-down"),
        ("learning", 8, FaultsConfig(ladder=()), "has no rung below 4 lanes of 8 steps; use a smaller model, fewer"),
    ],
)
def test_where_there_is_no_rung_it_fails_and_can_be_resumed(place, call, faults, advice, tmp_path, monkeypatch):
    config = small(faults=faults)
    with monkeypatch.context() as patch:
        Shortages(patch, place, call)
        with pytest.raises(MemoryLimitError) as caught:
            begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert caught.value.exit_code == 1 and advice in str(caught.value)
    folder = RunFolder(tmp_path / "short")
    event = the_alarm(folder, "failed")
    assert "the GPU's memory did not suffice (CUDA out of memory. Tried to allocate 2.00 GiB)" in event.message
    assert advice in event.message and advice in read_status(folder).facts["cause"]
    assert "raise shortages.error()" in folder.failure.read_text()  # down to where it came from
    assert take_up(folder).updates == 12
    assert trace(folder) == straight(config, tmp_path)


def asked_to_stop_and_out_of_memory() -> torch.OutOfMemoryError:
    os.kill(os.getpid(), signal.SIGTERM)
    return out_of_memory()


def test_asked_to_stop_while_it_is_judged_it_keeps_the_update(tmp_path, monkeypatch):
    config = small()
    with monkeypatch.context() as patch:
        Shortages(patch, "judging", 1, error=asked_to_stop_and_out_of_memory)
        folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert (outcome.status, outcome.exit_code, outcome.updates) == ("stopped", 143, 8)
    assert whole(folder)[-1] == "u00000008" and load_config(folder).stepped_down == ()
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


@pytest.mark.slow
def test_asked_to_stop_it_does_not_go_on_smaller(tmp_path, monkeypatch):
    config = small()
    with monkeypatch.context() as patch:
        Shortages(patch, "learning", 8, error=asked_to_stop_and_out_of_memory)
        with pytest.raises(KeyboardInterrupt) as caught:
            begin(config, preset="test", runs_dir=tmp_path, name="short")
    assert caught.value.exit_code == 143
    folder = RunFolder(tmp_path / "short")
    assert read_status(folder).status == "stopped"
    assert "the update that it was to stop after failed (CUDA out of memory)" in read_status(folder).facts["cause"]
    assert load_config(folder).stepped_down == ()
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


def test_a_signal_while_it_steps_down(tmp_path, monkeypatch):
    """Nobody listens for signals but the command line: the run is neither running nor killed, but stopped."""
    config = small(faults=NEEDS_NO_MEMORY)
    Shortages(monkeypatch, "learning", 8)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(launch, "restore", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(config, preset="test", runs_dir=tmp_path, name="short")
    monkeypatch.undo()
    folder = RunFolder(tmp_path / "short")
    status = read_status(folder)
    assert status.status == "stopped" and "while it stepped down" in status.facts["cause"]
    assert status.facts["updates"] == 5
    assert take_up(folder).updates == 12


def test_what_fails_one_rung_down_is_a_failure_of_its_own(tmp_path, monkeypatch):
    Shortages(monkeypatch, "learning", 8)
    Shortages(monkeypatch, "assembling", 2, error=lambda: WorldError("the console is gone"))
    with pytest.raises(WorldError, match="the console is gone"):
        begin(small(), preset="test", runs_dir=tmp_path, name="short")
    monkeypatch.undo()
    folder = RunFolder(tmp_path / "short")
    assert the_alarm(folder, "failed").message == "failed before update 6: WorldError: the console is gone"
    assert read_status(folder).status == "failed"
    assert take_up(folder).updates == 12


@pytest.mark.slow
def test_a_resume_that_finds_less_memory_steps_down_too(tmp_path, monkeypatch):
    config = small(faults=NEEDS_NO_MEMORY)
    folder, _ = begin(replace(config, updates=6), preset="test", runs_dir=tmp_path, name="short")
    Shortages(monkeypatch, "assembling", 1)
    assert take_up(folder, updates=12).updates == 12
    check_that_it_went_on(folder, config)
    assert load_config(folder).updates == 12


def test_the_machines_own_memory_gets_one_sentence(tmp_path, monkeypatch, capsys):
    Shortages(monkeypatch, "learning", 3, error=MemoryError)
    words = ["--collection.num-lanes", "4", "--collection.horizon-steps", "8", "--runs", str(tmp_path)]
    assert main(["train", "cartpole-vtrace", *words, "--name", "short", "--observers.no-console"]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("respawn: run short failed: the machine's memory did not suffice (MemoryError); use")
    assert complaint.count("\n") == 1
    the_alarm(RunFolder(tmp_path / "short"), "failed")
