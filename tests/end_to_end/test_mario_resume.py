"""Mario runs that are left in the middle of episodes go on exactly, on the game itself."""

from dataclasses import replace

import everything
import pytest
from tiny_runs import begin_and_abandon, saving_every, straight, tiny, trace

from respawn.checkpoints.store import find_newest
from respawn.errors import RomError
from respawn.models.config import ModelConfig
from respawn.presets.mario import PRESETS
from respawn.training.launch import take_up
from respawn.worlds.mario.starts import open_game
from the_game import needed_rom

SMALL = ModelConfig(hidden_sizes=(16,))
VARIANTS = {
    "mario": {"model": SMALL},
    "mario-vtrace": {"model": replace(SMALL, core="gru", core_size=8)},
    "mario-levels": {"model": SMALL},
}


@pytest.fixture(autouse=True)
def close_the_game():
    """Whatever is still open when Python ends is complained about."""
    yield
    open_game.cache_clear()


@pytest.mark.parametrize("name", VARIANTS)
def test_resumed_equals_straight(name, tmp_path, monkeypatch):
    needed_rom()
    preset = PRESETS[name]
    config = replace(
        preset,
        updates=12,
        world=replace(preset.world, sticky=0.25, limit_steps=60),
        collection=replace(preset.collection, num_lanes=8, horizon_steps=16),
        evaluation=replace(preset.evaluation, every_updates=5, episodes=2, num_lanes=2, limit_steps=40),
        checkpoints=saving_every(5),
        observers=tiny().observers,
        **VARIANTS[name],
    )
    expected = straight(config, tmp_path)
    assert len(expected.updates) == 12 and expected.episodes and expected.evaluations
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=7)
    assert find_newest(folder.checkpoints).manifest.updates < 7
    assert take_up(folder).updates == 12
    assert trace(folder) == expected


@pytest.mark.parametrize("lag", [0, 1], ids=["sync", "overlap"])
def test_with_levels_that_open_and_hard_starts(lag, tmp_path, monkeypatch):
    needed_rom()
    everything.open_levels_soon(monkeypatch)
    preset = PRESETS["mario-curriculum"]
    hard_starts = replace(preset.schedules.curriculum.hard_starts, share=1.0, final_fraction=0.5)
    config = replace(
        preset,
        updates=12,
        world=replace(preset.world, sticky=0.25, limit_steps=200),
        collection=replace(preset.collection, num_lanes=8, horizon_steps=32, lag=lag),
        schedules=replace(
            preset.schedules,
            curriculum=replace(preset.schedules.curriculum, hard_starts=hard_starts),
        ),
        evaluation=replace(
            preset.evaluation, every_updates=3, episodes=24, num_lanes=24, limit_steps=300, stop_at=None,
            scout=replace(preset.evaluation.scout, episodes=8),
        ),
        checkpoints=saving_every(5),
        observers=tiny().observers,
        model=SMALL,
    )  # fmt: skip
    expected = straight(config, tmp_path)
    assert any(row.get("world/hard_starts") for row in expected.updates)
    assert [row["knob/last_level"] for row in expected.updates] == [1.0] * 6 + [2.0] * 6
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=9)
    assert take_up(folder).updates == 12
    assert trace(folder) == expected


def test_the_game_may_have_moved_meanwhile(tmp_path, monkeypatch):
    rom = needed_rom()
    before, after = tmp_path / "before.nes", tmp_path / "after.nes"
    before.write_bytes(rom.data)
    preset = PRESETS["mario"]
    config = replace(
        preset,
        updates=4,
        world=replace(preset.world, rom=str(before)),
        collection=replace(preset.collection, num_lanes=4, horizon_steps=16),
        evaluation=replace(preset.evaluation, every_updates=0, stop_at=None),
        checkpoints=saving_every(1),
        observers=tiny().observers,
        model=SMALL,
    )
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=2)
    before.rename(after)
    open_game.cache_clear()
    with pytest.raises(RomError, match=r"before\.nes"):
        take_up(folder)
    assert take_up(folder, rom=after).updates == 4
