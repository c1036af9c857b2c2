"""respawn bench replay."""

import json

import pytest

from respawn.cli.bench_replay import main
from respawn.errors import ConfigError

SMALL = ["--sizes", "1000", "5000", "--draws", "16", "--rounds", "2", "--device", "cpu"]


def test_it_measures_every_way_at_every_size(capsys):
    assert main([*SMALL, "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert list(measured["sizes"]) == ["1000", "5000"] and measured["draws"] == 16
    for row in measured["sizes"].values():
        assert all(row[f"{name}_ms"] > 0 for name in ("numpy", "tree", "device", "tree_set", "device_set"))
        assert row["tree_times_numpy"] == pytest.approx(row["numpy_ms"] / row["tree_ms"])


def test_it_shows_a_table(capsys):
    assert main(SMALL) == 0
    shown = capsys.readouterr().out
    assert "numpy.random.choice" in shown and "5,000" in shown


def test_fewer_entries_than_draws_are_refused():
    with pytest.raises(ConfigError, match="--sizes wants numbers of entries, none under the 256"):
        main(["--sizes", "100"])
