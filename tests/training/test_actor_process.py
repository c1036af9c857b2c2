"""What an actor builds in its own process."""

from dataclasses import replace

import psutil
import pytest
import torch
from heard_runs import LANES, small_run

from respawn.errors import ConfigError
from respawn.processes.child import THREAD_VARIABLES
from respawn.runs.layout import RunFolder
from respawn.testing.fake_console import FakeGame
from respawn.training import actor_process
from respawn.training.actor_process import build_actor, make_actor_pool
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario import world as mario_world
from respawn.worlds.mario.config import MarioConfig


def with_threads(threads, world):
    collection = replace(LANES, num_lanes=4, horizon_steps=2, actors=1, actor_threads=threads)
    return small_run(1, collection, world=world)


@pytest.fixture
def as_many_threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Counted(FakeGame):
    """Remembers with how many threads its consoles run."""

    def __init__(self):
        self.threads = []

    def pool(self, config):
        self.threads.append(config.threads)
        return super().pool(config)


@pytest.mark.parametrize(
    ("actor_threads", "engine_threads", "of_consoles"), [(1, 0, {1}), (3, 0, {1, 3}), (3, 1, {1}), (1, 2, {1, 2})]
)
def test_threads_are_those_of_torch_and_of_an_engine_that_leaves_it_open(
    actor_threads, engine_threads, of_consoles, as_many_threads_as_before, tmp_path, monkeypatch
):
    game = Counted()
    monkeypatch.setattr(mario_world, "open_game", lambda *about: game)
    config = with_threads(actor_threads, MarioConfig(engine_threads=engine_threads))
    collector, _ = build_actor(config, RunFolder(tmp_path), 0, lambda event: None)
    collector.close()
    assert torch.get_num_threads() == actor_threads
    assert set(game.threads) | {1} == of_consoles  # cutscenes run on one of their own


def test_a_process_is_told_before_anything_is_imported(tmp_path):
    pool = make_actor_pool(
        with_threads(3, FishConfig(fish=4)), RunFolder(tmp_path), lambda event: None, torch.device("cpu")
    )
    try:
        (pid,) = pool.pids
        environment = psutil.Process(pid).environ()
    finally:
        pool.close()
    assert {environment[name] for name in THREAD_VARIABLES} == {"3"}


def test_more_actors_than_cores_are_warned_of_and_far_more_refused(monkeypatch):
    monkeypatch.setattr(actor_process, "usable_cores", lambda: 2)
    monkeypatch.setattr(actor_process, "allowed_cores", lambda: 2)
    events = []
    actor_process._check_cores(2, events.append)
    assert not events
    actor_process._check_cores(3, events.append)
    (event,) = events
    assert event.kind == "actors_take_turns" and event.level == "warning"
    with pytest.raises(ConfigError, match=r"collection\.actors is 17, and there are 2 cores here.*at most 16"):
        actor_process._check_cores(17, events.append)
    monkeypatch.setattr(actor_process, "allowed_cores", lambda: 8)  # more, for a part of the time
    actor_process._check_cores(17, events.append)
    assert len(events) == 2
