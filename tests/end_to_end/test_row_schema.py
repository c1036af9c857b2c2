"""Every row of every stream of real runs: of its kind, its columns of their types, back into its record, explained."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import everything
import pytest
from tiny_runs import saving_every, tiny

from respawn.collection.config import CollectionConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.reader import read_rows
from respawn.runs.rows import from_row, to_row
from respawn.runs.streams import STREAMS
from respawn.training.launch import begin
from respawn.worlds.mario.starts import open_game
from the_game import needed_rom

UPDATES = 16
OBSERVERS = ObserversConfig(
    console=False,
    tensorboard=False,
    heartbeat_seconds=0.05,
    resource_seconds=0.05,
    latest_seconds=0.05,
    slow_step_seconds=0.01,
    rotate_mib=0.01,
)
COUNTERS = {"update": int, "decisions": int}
COLUMNS = {
    "update": {**COUNTERS, "frames": int, "episodes": int},
    "episode": {"update": int, "lane": int, "episode_return": float, "length": int, "end": str, "facts": dict},
    "evaluation": COUNTERS,
    "probe": {**COUNTERS, "facts": dict},
    "ruling": {"update": int, "schedule": str, "facts": dict},
    "event": {"time": str, "kind": str, "level": str, "message": str, "facts": dict},
    "beat": {"time": str, **COUNTERS, "phases": dict, "is_stalled": bool},
    "resources": {"time": str, **COUNTERS},
}
"""What rows of each kind hold besides metrics; episodes of a world that has nothing to say of them lack facts."""
WORDS = ("nan", "inf", "-inf")


@pytest.fixture(autouse=True)
def close_the_game():
    """Whatever is still open when Python ends is complained about."""
    yield
    open_game.cache_clear()


def load_check_metrics():
    path = Path(__file__).parents[2] / "tools" / "check_metrics.py"
    spec = importlib.util.spec_from_file_location("check_metrics", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_metrics"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def short(config, **changes):
    changes = {"updates": UPDATES, "observers": OBSERVERS, "checkpoints": saving_every(6), **changes}
    return replace(config, **changes)


def of_ppo():
    return short(tiny("ppo"))


def of_fish():
    return short(everything.fish())


def of_mario():
    needed_rom()
    return short(everything.mario())


def of_actors():
    needed_rom()
    return short(everything.mario(CollectionConfig(num_lanes=4, horizon_steps=16, actors=2)))


@pytest.mark.parametrize("make", [of_ppo, of_fish, of_mario, pytest.param(of_actors, marks=pytest.mark.slow)])
def test_every_row_is_of_its_kind_and_every_column_of_its_type(tmp_path, make):
    folder, _ = begin(make(), preset="tiny", runs_dir=tmp_path, name="run")
    seen = {name: [row for _, row in read_rows(stream.path_in(folder))] for name, stream in STREAMS.items()}
    for name, rows in seen.items():
        for row in rows:
            check_row(STREAMS[name], row)
    assert len(seen["updates"]) == UPDATES and seen["heartbeats"] and seen["resources"] and seen["events"]
    wanted = {of_fish: ("episodes", "evaluations", "probes", "rulings"), of_ppo: ("episodes", "evaluations")}
    for name in wanted.get(make, ("episodes", "evaluations", "rulings")):
        assert seen[name], f"there are no {name}, so nothing was tested"
    assert list(folder.path.glob("updates.jsonl.*.gz")), "no archive was made, so none was read"
    columns = {column for rows in seen.values() for row in rows for column in row if "/" in column}
    assert load_check_metrics().unexplained(columns) == []


def check_row(stream, row):
    """Check one row against the schema, and that its record says the same."""
    assert row["row"] == stream.kind, row
    fixed = COLUMNS[stream.kind]
    for column, value in row.items():
        if column == "row":
            continue
        if "/" in column:
            assert type(value) is float or value in WORDS, (column, value)
        elif column == "episode_return":
            assert type(value) is float or value in WORDS
        else:
            assert type(value) is fixed[column], (stream.kind, column, value)
    assert fixed.keys() - row.keys() <= {"facts"}, (stream.kind, row)
    record = from_row(stream.record, row)
    assert type(record) is stream.record
    again = {"time": row["time"]} if "time" in row else {}
    assert json.loads(json.dumps({**again, **to_row(record)})) == row
