from functools import partial

import pytest

from bench_cases import Rising, Steady, measure_here
from respawn.training import bench_process
from respawn.training.bench_matrix import Entry, measure_matrix


def entry(mode, make):
    return Entry(make, {"mode": mode})


def test_cases_of_a_cell_take_turns(monkeypatch):
    measure_here(monkeypatch)
    told, kept = [], []
    cells = {
        "a": [entry("one", Steady), entry("two", partial(Steady, 20))],
        "b": [entry("one", Steady)],
    }
    results = measure_matrix(
        cells,
        2,
        lambda doing, part: told.append((doing, part)),
        lambda results: kept.append([len(result.turns) for found in results.values() for result in found]),
    )
    assert [doing for doing, _ in told] == [
        *("a: begin one", "a: begin two"),
        *("a: turn 1 of 2, one", "a: turn 1 of 2, two", "a: turn 2 of 2, one", "a: turn 2 of 2, two"),
        *("b: begin one", "b: turn 1 of 2, one", "b: turn 2 of 2, one"),
    ]
    parts = [part for _, part in told]
    assert parts == sorted(parts) and parts[0] == 0 and parts[-1] == 0.75
    # Whatever is known is given away at once.
    assert kept == [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [2, 2, 0], [2, 2, 1], [2, 2, 2]]
    assert [turn["decisions"] for turn in results["a"][1].turns] == [20, 20]
    assert results["a"][0].seconds == 1.5


def test_one_that_fails_has_its_error_and_the_others_go_on(monkeypatch):
    measure_here(monkeypatch)
    cells = {
        "a": [
            entry("never", partial(Steady, begins="raise")),
            entry("later", partial(Rising, 5, "sentence")),
            entry("absent", partial(Steady, begins="missing")),
            entry("well", Steady),
        ]
    }
    never, later, absent, well = measure_matrix(cells, 3)["a"]
    assert never.error == "two\nlines" and never.turns == [] and never.is_known and not never.goes_on
    assert later.error == "it cannot be, for a reason" and later.turns == []  # half a measurement is none
    assert absent.missing == "gold" and not absent.error and not absent.is_known
    assert len(well.turns) == 3 and well.goes_on


def test_one_that_hangs_is_a_failure_like_others(monkeypatch):
    monkeypatch.setattr(bench_process, "SPARE_SECONDS", 0.5)
    hanging = Entry(partial(Steady, turns="hang"), {"mode": "hanging"}, longest_turn=0.5)
    hung, well = measure_matrix({"a": [hanging, entry("well", Steady)]}, 2)["a"]
    assert hung.error == "it took more than 1 s for a turn, and was ended" and len(well.turns) == 2


def test_what_was_measured_before_an_interruption_was_given_away(monkeypatch):
    measure_here(monkeypatch)
    kept = []
    cells = {"a": [entry("well", Steady)], "b": [entry("stopped", partial(Steady, turns="interrupt"))]}
    with pytest.raises(KeyboardInterrupt):
        measure_matrix(cells, 1, keep=lambda results: kept.append(dict(results)))
    assert len(kept[-1]["a"][0].turns) == 1 and not kept[-1]["b"][0].is_known


def test_cells_are_measured_in_processes():
    results = measure_matrix({"a": [entry("dies", partial(Steady, turns="die")), entry("well", Steady)]}, 2)
    dies, well = results["a"]
    assert dies.error == "its process ended with exit code 3: last words"
    assert [turn["decisions"] for turn in well.turns] == [10, 10] and well.seconds > 0
