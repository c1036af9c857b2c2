"""Several runs in one picture."""

import math
from pathlib import Path

import pytest

from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.errors import RunFolderError
from respawn.evaluation.plots.curve import Curve
from respawn.evaluation.plots.side_by_side import MOST_POINTS, draw_side_by_side, read_curves, thinned
from respawn.runs.layout import RunFolder
from respawn.runs.rows import to_line, to_row


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    rows = [
        UpdateReport(at, at * 8, at * 8, at, {"return/mean": float(at), "return/p10": 0.0, "return/p90": 9.0})
        for at in (1, 2, 3)
    ]
    rows.append(UpdateReport(4, 32, 32, 4, {"return/mean": math.nan}))
    run.updates.write_bytes(b"".join(to_line(to_row(row)) for row in rows))
    run.evaluations.write_bytes(to_line(to_row(EvaluationReport(2, 16, {"evaluation/cleared": 0.5}))))
    return run


def test_curves_hold_finite_values_and_what_lies_round_them(folder: RunFolder) -> None:
    curves = read_curves("run", folder, ["return/mean", "evaluation/cleared", "loss/value"]).curves
    assert curves["return/mean"].decisions == [8, 16, 24] and curves["return/mean"].values == [1.0, 2.0, 3.0]
    assert curves["return/p90"].values == [9.0, 9.0, 9.0] and curves["evaluation/cleared"].decisions == [16]
    assert "loss/value" not in curves


def test_thinning_averages_neighbours_and_keeps_the_end() -> None:
    curve = Curve(list(range(1, 2 * MOST_POINTS + 2)), [float(at) for at in range(2 * MOST_POINTS + 1)])
    thin = thinned(curve, MOST_POINTS)
    assert len(thin.values) <= MOST_POINTS
    assert thin.values[0] == 1.0 and thin.decisions[0] == 3 and thin.decisions[-1] == 2 * MOST_POINTS + 1
    assert thinned(Curve([1], [2.0]), MOST_POINTS).values == [2.0]


def test_pictures_are_drawn_of_what_there_is(folder: RunFolder, tmp_path: Path) -> None:
    for suffix in ("png", "svg"):
        path = tmp_path / f"both.{suffix}"
        draw_side_by_side({"one": folder, "two": folder}, ["return/mean", "evaluation/cleared"], path, "title")
        assert path.stat().st_size > 5000


def test_nothing_to_draw_is_said(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="nothing to draw yet of the run one; train longer"):
        draw_side_by_side({"one": folder}, ["loss/value"], tmp_path / "no.png", "title")
    assert not (tmp_path / "no.png").exists()
