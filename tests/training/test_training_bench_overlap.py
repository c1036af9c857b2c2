from bench_cases import Steady, measure_here
from respawn.presets import find_preset
from respawn.training import bench_case
from respawn.training.bench_case import Way
from respawn.training.bench_overlap import OverlapPlan, measure_overlap
from respawn.training.bench_pacing import CountedPacing


class Timed(Steady):
    """As fast as it has lanes, and twice as fast where it does not collect in turn; three lanes are too many."""

    def __init__(self, config, pacing, *, writes_rows):
        assert not writes_rows and config.model == find_preset("cartpole-ppo").model
        lanes = config.collection.num_lanes
        super().__init__(lanes * (2 if config.collection.greatest_lag else 1), begins="raise" if lanes == 3 else "")

    def turn(self):
        return {**super().turn(), "others_cores": 0.0, "updates": 1}


def test_every_size_is_a_cell_with_a_row_for_each_way(monkeypatch):
    measure_here(monkeypatch)
    monkeypatch.setattr(bench_case, "TrainingCase", Timed)
    kept = []
    ways = (Way(), Way(lag=1), Way(actors=2))
    plan = OverlapPlan(ways, lanes=(2, 3), horizons=(8, None), pacing=CountedPacing(10, 0.3), repeats=2)
    cells = measure_overlap("cartpole-ppo", find_preset("cartpole-ppo"), plan, keep=kept.append)
    assert [(cell["lanes"], cell["horizon_steps"]) for cell in cells] == [(2, 8), (2, 128), (3, 8), (3, 128)]
    assert cells[0]["updates_dropped"] == {"sync": 3, "overlap": 3, "actors 2": 5}
    assert cells[0]["updates_counted"] == {"sync": 7, "overlap": 7, "actors 2": 5}
    assert [(row["mode"], row["ratio"]) for row in cells[0]["rows"]] == [("sync", 1), ("overlap", 2), ("actors", 2)]
    assert [(row["lag"], row["actors"]) for row in cells[0]["rows"]] == [(0, 0), (1, 0), (2, 2)]
    assert [len(turns) for turns in cells[0]["turns"].values()] == [2, 2, 2]
    # Those that cannot be are rows as well.
    assert [row["error"] for row in cells[2]["rows"]] == ["two\nlines"] * 3 and cells[2]["turns"]["sync"] == []
    assert kept[-1] == cells and len(kept[1]) == 1


def test_ratios_are_to_sync_in_whichever_order_and_there_are_none_without_it(monkeypatch):
    measure_here(monkeypatch)
    monkeypatch.setattr(bench_case, "TrainingCase", Timed)
    pole = find_preset("cartpole-ppo")

    def ratios(*ways):
        (cell,) = measure_overlap("cartpole-ppo", pole, OverlapPlan(ways, lanes=(2,), repeats=1))
        return [(row["mode"], row["ratio"]) for row in cell["rows"]]

    assert ratios(Way(lag=1), Way(actors=2), Way()) == [("overlap", 2), ("actors", 2), ("sync", 1)]
    assert ratios(Way(lag=1), Way(actors=2)) == [("overlap", None), ("actors", None)]
