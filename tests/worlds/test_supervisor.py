"""ForeignWorld in worker processes: watched, timed out, diagnosed, replaced."""

import itertools
import os
import re
import signal
import time

import pytest
import torch
from watching import bad, children, marks, no_process_is_left, run_until  # noqa: F401  the fixture works by being here

from respawn.errors import CheckpointError, ConfigError, WorkerError, WorldError
from respawn.testing.suites.world import walk
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.foreign.sharing import SharedArrays, local_buffers
from respawn.worlds.foreign.spaces import Layout
from respawn.worlds.foreign.world import ForeignWorld


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "bad/Walker-v0"])
def test_results_do_not_depend_on_the_number_of_workers(env_id):
    told = []
    for workers in (0, 1, 2, 5):
        world = ForeignWorld(
            ForeignConfig(env_id=env_id, imports=("bad_envs",), workers=workers, max_episode_steps=30), 5
        )
        told.append(walk(world, range(5), 100))
        world.close()
    assert told[1:] == told[:1] * 3


def test_a_state_moves_between_workers_and_this_process():
    local, remote = ForeignWorld(ForeignConfig(), 3), ForeignWorld(ForeignConfig(workers=2), 3)
    walk(remote, [1, 2, 3], 30)
    local.restore(remote.state())
    straight = walk(remote, None, 50)
    assert walk(local, None, 50) == straight
    remote.close()


def test_marks_tell_how_far_it_came(tmp_path):
    world = ForeignWorld(bad("Walker"), 4, diagnostics=tmp_path)
    world.reset(range(4))
    run_until(world, 3)
    world.close()
    told = marks(tmp_path, 1)
    assert [(mark["stage"], mark.get("lane")) for mark in told] == [
        ("start", None),
        ("import", None),
        ("make", 2),
        ("make", 3),
        ("reset", 2),
        ("reset", 3),
        ("first step", None),
    ]
    assert {mark["worker"] for mark in told} == {1} and len({mark["pid"] for mark in told}) == 1
    assert all(earlier["time"] <= later["time"] for earlier, later in itertools.pairwise(told))


@pytest.mark.parametrize(
    ("name", "cause", "clue"),
    [
        ("HangsInStep", "hung for more than 1 s", "spin_for_ever"),
        ("Exits", "died with exit code 3", None),
        ("Raises", "raised ValueError: the pole broke", "the pole broke"),
        ("WrongShape", r"raised WorldError: expected an observation of shape \(2,\)", "got shape (3,)"),
        ("WrongDtype", "raised WorldError: expected an observation", "<U1"),
    ],
)
def test_trouble_in_step_is_diagnosed(name, cause, clue, tmp_path):
    world = ForeignWorld(bad(name, max_replacements=0), 3, diagnostics=tmp_path)
    world.reset([0, 1, 2])
    run_until(world, 2)
    began = time.monotonic()
    with pytest.raises(WorkerError, match=rf"worker 0 \(lanes 0 to 0 of bad/{name}-v0\) {cause}") as caught:
        run_until(world, 1)
    assert time.monotonic() - began < 6.0
    message = str(caught.value)
    assert "in step of lane 0" in message and str(tmp_path / "worker-0.jsonl") in message
    assert "0 replacements that max_replacements allows" in message
    lost = marks(tmp_path, 0)[-1]
    assert lost["stage"] == "lost" and lost["where"] == "step of lane 0"
    if clue:
        assert clue in (tmp_path / "worker-0.jsonl").read_text()
    if name == "HangsInStep":
        assert "bad_envs.py" in lost["stack"]
    world.close()


@pytest.mark.parametrize("name", ["HangsInStep", "Exits", "Raises"])
def test_a_lost_worker_is_replaced_and_its_episodes_are_cut(name, tmp_path):
    events = []
    config = bad(name, env_kwargs={"flag": str(tmp_path / "flag")})
    world = ForeignWorld(config, 4, diagnostics=tmp_path, notify=events.append)
    healthy = ForeignWorld(bad("Walker", workers=0), 4)
    for each in (world, healthy):
        each.reset([0, 1, 2, 3])
    before = run_until(world, 2).observation.clone()
    run_until(healthy, 2)
    # Two workers step at the same time, so which of them first finds the flag missing is open; the other one is fine.
    result, expected = run_until(world, 1), run_until(healthy, 1)
    lost = [episode.lane for episode in result.episodes]
    assert lost in ([0, 1], [2, 3])
    others = [lane for lane in range(4) if lane not in lost]
    assert torch.equal(result.observation[others], expected.observation[others])
    assert torch.equal(result.reward[others], expected.reward[others])
    assert [episode.end for episode in result.episodes] == ["worker lost"] * 2
    assert [(episode.length, episode.episode_return) for episode in result.episodes] == [(3, 2.0)] * 2
    assert torch.equal(result.cut_observations, before[lost])
    assert result.truncated.tolist() == [lane in lost for lane in range(4)] and not result.terminated.any()
    assert result.reward[lost].tolist() == [0.0, 0.0]
    assert result.observation[lost, 1].tolist() == [0.0, 0.0]  # new episodes have begun
    assert not torch.equal(result.observation[lost, 0], before[lost, 0])  # from new seeds
    assert [event.kind for event in events] == ["worker_replaced"] and events[0].level == "warning"
    assert events[0].facts["worker"] == lost[0] // 2
    result = run_until(world, 2)
    assert result.terminated[others].all() and not result.terminated[lost].any()
    assert run_until(world, 3).terminated[lost].all()
    world.close()


def test_new_seeds_after_a_loss_are_the_same_every_time(tmp_path):
    told = []
    for attempt in range(2):
        world = ForeignWorld(bad("Exits", workers=1, env_kwargs={"flag": str(tmp_path / f"flag{attempt}")}), 2)
        told.append(walk(world, [3, 4], 20))
        world.close()
    assert told[0] == told[1]


def test_a_worker_lost_in_a_reset_begins_again_from_the_seeds_asked_for(tmp_path):
    events = []
    config = bad("ExitsInReset", env_kwargs={"flag": str(tmp_path / "flag")})
    world, healthy = ForeignWorld(config, 4, notify=events.append), ForeignWorld(bad("Walker", workers=0), 4)
    assert torch.equal(world.reset([5, 7, 9, 11]), healthy.reset([5, 7, 9, 11]))
    assert [event.kind for event in events] == ["worker_replaced"]
    world.close()


def test_hang_in_reset_within_a_step_has_the_limit_of_a_reset(tmp_path):
    config = bad("HangsInReset", workers=1, step_seconds=0.3, reset_seconds=1.2, max_replacements=0)
    world = ForeignWorld(config, 1, diagnostics=tmp_path)
    world.reset([0])
    run_until(world, 4)
    began = time.monotonic()
    with pytest.raises(WorkerError, match=r"hung for more than 1\.2 s in reset of lane 0"):
        run_until(world, 1)
    assert time.monotonic() - began > 1.1
    assert "in reset" in marks(tmp_path, 0)[-1]["stack"]


def test_hang_in_constructor_is_diagnosed(tmp_path):
    began = time.monotonic()
    with pytest.raises(WorkerError, match=r"hung for more than 2 s in make of lane 0.*worker-0.jsonl"):
        ForeignWorld(bad("HangsInConstructor", construct_seconds=2.0, max_replacements=0), 2, diagnostics=tmp_path)
    assert time.monotonic() - began < 8.0
    assert "sleep_in_constructor" in marks(tmp_path, 0)[-1]["stack"]


def test_hang_in_constructor_is_tried_again(tmp_path):
    config = bad("HangsInConstructor", construct_seconds=3.0, env_kwargs={"flag": str(tmp_path / "flag")})
    world = ForeignWorld(config, 2, diagnostics=tmp_path)
    world.reset([0, 1])
    assert run_until(world, 5).terminated.all()
    world.close()


def test_death_in_constructor_is_diagnosed(tmp_path):
    with pytest.raises(WorkerError, match=r"died with exit code 4 in make of lane 0"):
        ForeignWorld(bad("ExitsInConstructor", max_replacements=2), 2, diagnostics=tmp_path)
    assert sum(mark["stage"] == "lost" for worker in (0, 1) for mark in marks(tmp_path, worker)) >= 3


def test_a_worker_killed_between_steps_is_replaced():
    events = []
    world = ForeignWorld(bad("Walker"), 2, notify=events.append)
    world.reset([0, 1])
    run_until(world, 1)
    os.kill(world._lanes.pids[1], signal.SIGKILL)
    result = run_until(world, 1)
    assert [(episode.lane, episode.end) for episode in result.episodes] == [(1, "worker lost")]
    assert "died with signal SIGKILL in wait" in events[0].message
    world.close()


def test_lost_while_saving_is_an_error():
    world = ForeignWorld(ForeignConfig(workers=2), 2)
    world.reset([0, 1])
    os.kill(world._lanes.pids[0], signal.SIGKILL)
    with pytest.raises(WorkerError, match="worker 0 died with signal SIGKILL"):
        world.state()
    with pytest.raises(WorkerError, match="was lost and not replaced"):
        run_until(world, 1)
    world.close()


def test_refusals_are_not_tried_again():
    for config, message in (
        (ForeignConfig(env_id="CartPole-v11", workers=2), "close to it are CartPole-v1"),
        (bad("SpeaksText"), "observation space Sequence"),
        (ForeignConfig(imports=("no_such_module",), workers=2), "cannot import 'no_such_module'"),
    ):
        with pytest.raises(ConfigError, match=message):
            ForeignWorld(config, 2)


def test_answers_that_are_no_failures_leave_the_workers_alive():
    world = ForeignWorld(ForeignConfig(workers=2), 2)
    world.reset([0, 1])
    with pytest.raises(ConfigError, match="set `render`"):
        world.render(1)
    other = ForeignWorld(ForeignConfig(env_id="Acrobot-v1"), 2)
    other.reset([0, 1])
    with pytest.raises(CheckpointError, match="AcrobotEnv"):
        world.restore(other.state())
    run_until(world, 1)
    world.close()
    world = ForeignWorld(bad("Draws", render=True), 2)
    world.reset([0, 1])
    run_until(world, 2)
    assert (world.render(1) == 2).all()
    world.close()
    blank = ForeignWorld(bad("Walker", env_kwargs={"render_mode": "rgb_array"}, render=True), 1)
    blank.reset([0])
    with pytest.raises(WorldError, match="raised NotImplementedError"):
        blank.render(0)
    blank.close()


def test_threads_are_limited():
    world = ForeignWorld(bad("ImportsTorch", worker_threads=1, workers=1), 1)
    assert world.reset([0]).tolist() == [[1.0, 1.0]]
    world.close()


def test_more_workers_than_lanes_are_not_started():
    world = ForeignWorld(bad("Walker", workers=5), 2)
    assert len(world._lanes.pids) == 2
    world.close()


def test_temporary_diagnostics_are_kept_only_when_needed():
    world = ForeignWorld(bad("Walker"), 2)
    folder = world._lanes._folder
    assert folder.exists()
    world.close()
    world.close()
    assert not folder.exists()
    world = ForeignWorld(bad("Raises", max_replacements=0), 2)
    world.reset([0, 1])
    with pytest.raises(WorkerError) as caught:
        run_until(world, 3)
    world.close()
    log = world._lanes._folder / "worker-0.jsonl"
    assert str(log) in str(caught.value) and log.exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("RaisesInClose", r"close of lane 0 raised OSError: the display is gone, and 2 more like it"),
        ("HangsInClose", r"worker 0 was ended in close of lane 0 after 3 s, and 1 more"),
        ("ExitsInClose", r"worker 0 died in close of lane 0, and 1 more"),
    ],
)
def test_trouble_in_close_is_reported_and_harms_nobody(name, problem, tmp_path):
    events = []
    world = ForeignWorld(bad(name, env_kwargs={"flag": str(tmp_path / "flag")}), 3, notify=events.append)
    world.reset([0, 1, 2])
    began = time.monotonic()
    world.close()
    world.close()
    assert time.monotonic() - began < 6.0
    assert [(event.kind, event.level) for event in events] == [("close_failed", "warning")]
    assert re.search(problem, events[0].message)
    if name == "RaisesInClose":
        assert (tmp_path / "flag").read_text() == "closed\n" * 3


def test_an_answer_that_nobody_awaits_does_not_keep_a_worker_from_closing():
    """As after an interrupt in the middle of a step."""
    events = []
    world = ForeignWorld(bad("Walker"), 2, notify=events.append)
    world.reset([0, 1])
    world._lanes._send_all("step", 0)
    world.close()
    assert events == []


def test_more_memory_than_there_is_is_refused():
    shared = SharedArrays(1)
    layout = Layout((2**46,), "float32", "discrete", (2,))
    with pytest.raises(ConfigError, match=r"3 lanes .*GiB of memory.*use fewer lanes"):
        shared.grow(layout, 3)
        shared.buffers(layout, 3)
    shared.close()
    with pytest.raises(ConfigError, match=r"3 lanes .*GiB of memory.*use fewer lanes"):
        local_buffers(layout, 3)
