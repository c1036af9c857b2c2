"""Sums of late rows: exact, of one kind, and honest about what is not finite."""

import math
from pathlib import Path
from statistics import fmean, stdev

from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.runs.layout import RunFolder
from respawn.runs.rows import to_line, to_row
from respawn.runs.summary import in_order, summarise, summarise_rows, summarise_values


def updates(values: list[float]) -> list[UpdateReport]:
    return [UpdateReport(at, at * 10, at * 10, at, {"return/mean": value}) for at, value in enumerate(values, start=1)]


def test_only_the_tail_counts() -> None:
    summary = summarise_rows(updates([1.0, 2.0, 3.0, 5.0, 10.0]), 3, ["return/mean"])
    metric = summary.metrics["return/mean"]
    assert (summary.tail_rows, summary.first_update, summary.last_update) == (3, 3, 5)
    assert (metric.last, metric.mean, metric.min, metric.max) == (10.0, 6.0, 3.0, 10.0)
    assert metric.std == stdev([3.0, 5.0, 10.0]) and metric.count == 3


def test_no_tail_is_all_of_it() -> None:
    summary = summarise_rows(updates([1.0, 2.0, 6.0]), 0, ["return/*"])
    assert summary.metrics["return/mean"].mean == fmean([1.0, 2.0, 6.0]) and summary.tail_rows == 3


def test_what_is_not_finite_is_counted_and_spoils_nothing() -> None:
    metric = summarise_values([1.0, math.nan, 3.0, math.inf])
    assert (metric.last, metric.mean, metric.count, metric.not_finite) == (math.inf, 2.0, 2, 2)
    nothing = summarise_values([math.nan])
    assert math.isnan(nothing.last) and nothing.mean is None and nothing.std is None and nothing.max is None
    assert summarise_values([4.0]).std == 0.0


def test_a_metric_that_some_rows_lack_has_the_last_value_that_there_was() -> None:
    rows = [UpdateReport(1, 1, 1, 1, {"episode/x": 40.0}), UpdateReport(2, 2, 2, 1, {"loss/value": 1.0})]
    assert summarise_rows(rows, 0, ["*"]).metrics["episode/x"].last == 40.0


def test_metrics_come_in_the_order_in_which_they_are_asked_for() -> None:
    rows = [UpdateReport(1, 1, 1, 1, {"loss/value": 1.0, "time/a": 2.0, "return/mean": 3.0, "time/b": 4.0})]
    assert list(summarise_rows(rows, 0, ["time/*", "return/mean"]).metrics) == ["time/a", "time/b", "return/mean"]


def test_evaluations_never_count_among_updates(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    shared = {"return/mean": 7.0}
    folder.updates.write_bytes(to_line(to_row(UpdateReport(1, 1, 1, 1, shared))))
    folder.evaluations.write_bytes(to_line(to_row(EvaluationReport(1, 1, {"return/mean": 9.0}))))
    summary = summarise(folder, 0, ["return/mean"])
    assert summary["updates"].metrics["return/mean"].mean == 7.0
    assert summary["evaluations"].metrics["return/mean"].mean == 9.0


def test_a_run_without_rows_has_no_numbers(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path), 100)
    assert all(each.tail_rows == 0 and each.last_update is None and not each.metrics for each in summary.values())


def test_names_come_in_the_order_in_which_they_were_asked_for() -> None:
    names = ["time/b", "loss/value", "time/a", "loss/policy"]
    assert in_order(names, ["loss/policy", "time/*", "loss/*"]) == ["loss/policy", "time/b", "time/a", "loss/value"]
