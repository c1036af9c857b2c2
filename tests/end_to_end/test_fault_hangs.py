"""A world that never comes back from a step: told with all stacks; the run ends itself if it is to."""

import threading
import time
from dataclasses import replace

import pytest
from operators import alarms, the_alarm, whole
from respawn_process import PATIENCE_SECONDS, start, words_for
from tiny_runs import event_kinds, saving_every, straight, tiny, trace

from respawn.collection.config import CollectionConfig
from respawn.collection.overlap import OverlapCollector
from respawn.errors import WorldError
from respawn.observers.config import ObserversConfig
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.testing.fakes import FakeWorld
from respawn.training import assemble, collecting, reopening
from respawn.training.faults_config import FaultsConfig
from respawn.training.launch import begin, take_up
from respawn.training.recorded import load_config

LAGS = {
    "lag0": CollectionConfig(num_lanes=3, horizon_steps=8),
    "lag1": CollectionConfig(num_lanes=3, horizon_steps=8, lag=1),
}
WATCHED = ObserversConfig(console=False, tensorboard=False, heartbeat_seconds=0.2, stall_seconds=4.0)
HANGS_AT = 60
"""The step of the training world, in the eighth rollout, that does not come back by itself."""


def small(lag, **changes):
    config = tiny("ppo", updates=12, collection=LAGS[lag], checkpoints=saving_every(5), observers=WATCHED)
    return replace(config, **changes)


class HangingWorld(FakeWorld):
    """Hangs once, until it is released."""

    released = threading.Event()

    def __init__(self, num_lanes, **others) -> None:
        super().__init__(num_lanes, **others)
        self.steps_left = HANGS_AT if num_lanes == 3 else -1

    def step(self, actions):
        self.steps_left -= 1
        if self.steps_left == 0:
            self.wait_for_the_console()
        return super().step(actions)

    def wait_for_the_console(self) -> None:
        assert self.released.wait(60), "nobody noticed"


@pytest.fixture
def released(monkeypatch):
    """Runs are in a world that hangs until this is set."""

    def make(config, num_lanes, *, device, seed, diagnostics, notify):
        world = HangingWorld(num_lanes, device=device)
        world.reset([seed + lane for lane in range(num_lanes)])
        return world

    for room in (assemble, collecting):
        monkeypatch.setattr(room, "make_world", make)
    monkeypatch.setattr(HangingWorld, "released", threading.Event())
    return HangingWorld.released


def release_when_told(folder: RunFolder, released: threading.Event) -> threading.Thread:
    def wait() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (folder.events.exists() and "stalled" in event_kinds(folder)):
            time.sleep(0.05)
        released.set()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize("lag", [pytest.param("lag0", marks=pytest.mark.slow), "lag1"])
def test_it_is_told_with_all_stacks_and_when_it_moves_again(lag, released, tmp_path):
    config = small(lag)
    folder = RunFolder(tmp_path / "hung")
    waiting = release_when_told(folder, released)
    _, outcome = begin(config, preset="test", runs_dir=tmp_path, name="hung")
    waiting.join()
    assert outcome.exit_code == 0
    event = the_alarm(folder, "stalled")
    who = "MainThread" if lag == "lag0" else "collector"
    assert event.level == "error" and event.facts[who] == "world"
    assert f"{who} is in 'world'" in event.message and "nothing has moved for 4 s: " in event.message
    (path,) = folder.traces.glob("stalled-*.txt")
    assert event.message.endswith(f"; the stacks of all threads are in traces/{path.name}")
    assert "in wait_for_the_console" in path.read_text()
    assert event_kinds(folder).count("moving_again") == 1
    assert trace(folder) == straight(config, tmp_path)  # which goes on, for the world was released


def test_asked_to_it_ends_the_process(released, tmp_path, monkeypatch, capsys):
    """All but the end of the process itself, which would be the tests' too: the world raises then."""
    config = small("lag1", faults=FaultsConfig(stall="stop"))
    codes: list[int] = []

    def ended(code: int) -> None:
        codes.append(code)
        seen.append(read_status(folder))
        released.set()

    def gone(self) -> None:
        released.wait(60)
        raise WorldError("the process is gone")

    folder, seen = RunFolder(tmp_path / "hung"), []
    with monkeypatch.context() as patch:
        patch.setattr(reopening.os, "_exit", ended)
        patch.setattr(HangingWorld, "wait_for_the_console", gone)
        with pytest.raises(WorldError, match="the process is gone"):
            begin(config, preset="test", runs_dir=tmp_path, name="hung")
    assert codes == [1]
    assert seen[0].status == "failed" and seen[0].facts["cause"].startswith("nothing has moved for ")
    said = capsys.readouterr().err
    assert said.startswith("respawn: run hung was ended because nothing has moved for ")
    assert said.endswith(f"; go on with: respawn resume {folder.path}\n") and said.count("\n") == 1
    assert [event.kind for event in alarms(folder)] == ["stalled", "failed"]
    assert whole(folder)[-1] == "u00000005"
    take_up(folder)
    assert trace(folder) == straight(config, tmp_path)


@pytest.mark.slow
def test_a_run_that_is_given_up_on_leaves_its_thread_behind_and_closes_the_world_later(released, tmp_path, monkeypatch):
    """Somebody asks twice for the end of a run whose world hangs: the process does not wait for it for ever."""
    monkeypatch.setattr(OverlapCollector.__init__, "__kwdefaults__", {"close_seconds": 0.2})
    interrupted: list[bool] = []

    def interrupt(self) -> None:
        interrupted.append(True)
        released.wait(60)

    def finish(self):
        while not interrupted:
            time.sleep(0.01)
        raise KeyboardInterrupt("a second signal came")

    monkeypatch.setattr(HangingWorld, "wait_for_the_console", interrupt)
    real = OverlapCollector.finish
    calls: list[int] = []
    monkeypatch.setattr(
        OverlapCollector, "finish", lambda self: (calls.append(1), (finish if len(calls) == 8 else real)(self))[1]
    )
    with pytest.raises(KeyboardInterrupt):
        begin(small("lag1"), preset="test", runs_dir=tmp_path, name="hung")
    (left,) = [thread for thread in threading.enumerate() if thread.name == "collector"]
    assert left.daemon
    released.set()
    left.join(30)
    assert not left.is_alive()
    assert read_status(RunFolder(tmp_path / "hung")).status == "stopped"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sleep", "hold"])
def test_the_process_ends_with_exit_code_1_and_resumes_where_it_was(how, tmp_path):
    """Also where native code holds the lock that every thread of Python needs, so that no thread could end it."""
    trouble = tmp_path / "trouble"
    trouble.touch()
    config = small("lag1")
    words = [
        *words_for(config),
        "--updates",
        "12",
        "--planned-updates",
        "12",
        "--runs",
        str(tmp_path),
        "--name",
        "hung",
    ]
    words += ["--world.imports", "troubled", "--world.env-id", "Troubled-v0"]
    words += ["--world.env-kwargs", "trouble", str(trouble), "how", how, "at", str(HANGS_AT)]
    words += ["--observers.stall-seconds", "8", "--observers.heartbeat-seconds", "0.5", "--faults.stall", "stop"]
    process = start("train", "cartpole-ppo", *words)
    _, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1, complaint
    folder = RunFolder(tmp_path / "hung")
    if how == "sleep":
        assert read_status(folder).status == "failed"
        the_alarm(folder, "stalled")
        (trace_file,) = folder.traces.glob("stalled-*.txt")
        assert "respawn: run hung was ended because nothing has moved" in complaint
    else:
        assert read_status(folder).status == "killed"
        assert alarms(folder) == []
        (trace_file,) = folder.traces.glob("hung-*.txt")
    assert "troubled.py" in trace_file.read_text()
    assert whole(folder)[-1] == "u00000005"
    take_up(folder)
    kinds = {"sleep": ["stalled"], "hold": ["hung"]}[how]
    assert [event.kind for event in alarms(folder)] == kinds
    undisturbed = replace(load_config(folder), observers=tiny().observers)
    assert trace(folder) == straight(undisturbed, tmp_path)
