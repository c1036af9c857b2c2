import os

import numpy as np
import pytest

from respawn.errors import RomError, WorldError
from respawn.worlds.mario import measure
from respawn.worlds.mario.engine import Console, PoolConfig, open_cartridge, simd_path, simd_paths
from respawn.worlds.mario.measure import RandomPlay, Snapshots, Timing, Workload, level_start, measuring_cores, pinned
from respawn.worlds.mario.rom import find_rom


@pytest.fixture(scope="module")
def cartridge():
    try:
        return open_cartridge(find_rom(expect="ntsc"), interpret=True)
    except RomError as error:
        pytest.skip(str(error))


def test_the_level_starts_where_the_player_can_move(cartridge):
    start = level_start(cartridge)
    play = RandomPlay(cartridge, PoolConfig(lanes=1, watch=(0x075F, 0x075C, 0x000E, 0x0086)), start, start)
    ram = play.pool.new_ram()
    play.pool.observe(ram=ram)
    assert ram[0].tolist() == [0, 0, 8, 40]
    for _ in range(10):
        play.pool.step(np.array([measure.RIGHT], np.uint8), ram=ram)
    assert ram[0, 3] > 40


def test_lanes_restart_one_after_the_other_and_each_once_an_episode(cartridge):
    start = level_start(cartridge)
    play = RandomPlay(cartridge, PoolConfig(lanes=4, kind="none"), start, np.repeat(start, 4, axis=0))
    assert play._restarts.shape == (400, 4) and (play._restarts.max(axis=0) == 0).all()
    assert np.flatnonzero((play._restarts >= 0).any(axis=1)).tolist() == [0, 100, 200, 300]


def test_only_simple_actions_are_played_and_all_of_them(cartridge):
    start = level_start(cartridge)
    play = RandomPlay(cartridge, PoolConfig(lanes=1, kind="none"), start, start)
    assert set(play._actions.ravel()) == {0, 0x80, 0x81, 0x82, 0x83, 0x01, 0x40}


def test_a_workload_measures_everything_and_leaves_the_path_as_it_was(cartridge):
    before = simd_path()
    workload = Workload(cartridge, 2)
    items = workload.on_one_core(simd_paths())
    assert {f"by_path.{path}" for path in simd_paths()} < set(items)
    for item in items.values():
        timing = item.run(1e-6)
        assert timing.count == 2 and timing.seconds > 0
    assert workload.on_two_cores(frozenset(measuring_cores())).run(1e-6).count == 2
    assert simd_path() == before


def test_many_lanes_begin_as_copies_of_those_that_played(cartridge, monkeypatch):
    few = Workload(cartridge, 2)
    monkeypatch.setattr(measure, "MOST_WARM_LANES", 2)
    many = Workload(cartridge, 5)
    assert not np.array_equal(*few._states)
    assert np.array_equal(many._states, few._states[[0, 0, 0, 1, 1]])


def test_snapshots_give_back_the_states(cartridge):
    start = level_start(cartridge)
    snapshots = Snapshots(cartridge, np.repeat(start, 3, axis=0))
    assert snapshots.run(1e-6).count == 3
    assert (snapshots._states == start).all()


def test_a_game_that_does_not_start_is_said(monkeypatch, cartridge):
    monkeypatch.setattr(measure, "_LONGEST_START_FRAMES", 5)
    with pytest.raises(WorldError, match=r"level 1-1 should play .* after 5 frames"):
        level_start(cartridge)


def test_the_pace_is_of_the_wall_clock():
    assert Timing(count=10, seconds=2.0, cpu_seconds=1.0).per_second == 5.0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not pin")
def test_pinning_ends():
    before = os.sched_getaffinity(0)
    cores = measuring_cores()
    assert 1 <= len(cores) <= 2 and set(cores) <= before and len(set(cores)) == len(cores)
    with pinned(frozenset(cores[:1])):
        assert os.sched_getaffinity(0) == {cores[0]}
    with pinned(frozenset()):
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before


def test_a_console_and_a_pool_agree_on_the_start(cartridge):
    """The start is made by a pool; a console that does the same is in the same state."""
    console = Console(cartridge)
    start = level_start(cartridge)
    for frame in range(1_000):
        console.frame(measure.START if console.read(0x0770) != 1 and frame % 8 < 4 else 0)
        if console.read(0x0770) == 1 and console.read(0x000E) == 8:
            break
    assert console.save().endswith(start.tobytes())
