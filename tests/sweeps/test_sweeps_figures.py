"""Figures of a study, read back from what was drawn."""

import pytest
from small_studies import definition_of, row

from respawn.evaluation.plots.figure import GOOD
from respawn.sweeps.figures import draw_curves, draw_history, draw_importances, draw_slices, short_name
from respawn.sweeps.finals import Final
from respawn.sweeps.space import Choice, Range

SPACE = {
    "learner.clip": Range(0.1, 0.4),
    "learner.entropy_cost": Range(1e-4, 1e-2, log=True),
    "model.hidden_sizes": Choice(([4], [8, 8])),
}
ROWS = [
    row(number, value, state, settings={"learner.clip": 0.2, "learner.entropy_cost": 1e-3, "model.hidden_sizes": [4]})
    for number, (value, state) in enumerate(
        [(2.0, "complete"), (0.5, "pruned"), (1.0, "complete"), (None, "failed"), (3.0, "complete"), (None, "running")]
    )
]
FINALS = [Final(4, "small-t0004", "u00000006", "abc", 2.5, 100, 5_000_000)]


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def points_of(axes, label):
    (found,) = [each for each in axes.collections if each.get_label() == label]
    return [tuple(point) for point in found.get_offsets().tolist()]


def test_the_history_has_every_trial_and_the_best_so_far():
    axes = draw_history("small", definition_of(), ROWS, FINALS).axes[0]
    assert points_of(axes, "complete") == [(0, 2.0), (2, 1.0), (4, 3.0)]
    assert points_of(axes, "pruned, where cut") == [(1, 0.5)]
    assert points_of(axes, "again, on fresh seeds") == [(4, 2.5)]
    assert [place for place, _ in points_of(axes, "failed")] == [3]
    (best,) = [line for line in axes.lines if line.get_label() == "best so far"]
    assert list(best.get_xdata()) == [0, 2, 4, 5] and list(best.get_ydata()) == [2.0, 2.0, 3.0, 3.0]
    assert axes.get_ylabel() == "evaluation/return_mean"


def test_of_a_minimum_the_best_is_the_lowest():
    axes = draw_history("small", definition_of(direction="minimise"), ROWS, []).axes[0]
    (best,) = [line for line in axes.lines if line.get_label() == "best so far"]
    assert list(best.get_ydata()) == [2.0, 1.0, 1.0, 1.0]


def test_a_legend_explains_what_is_there_and_nothing_else():
    only = [each for each in ROWS if each.state == "complete"]
    axes = draw_history("small", definition_of(), only, []).axes[0]
    assert legend_of(axes) == ["complete", "best so far"]
    assert legend_of(draw_curves("small", definition_of(), only).axes[0]) == ["trial 4, the best", "not pruned"]
    assert legend_of(draw_curves("small", definition_of(), ROWS).axes[0])[-1] == "pruned"


def test_curves_are_those_of_the_evaluations_and_the_best_stands_out():
    axes = draw_curves("small", definition_of(), ROWS).axes[0]
    thick = [line for line in axes.lines if line.get_color() == GOOD]
    assert len(thick) == 1 and list(thick[0].get_ydata()) == [1.0, 2.0, 3.0]
    assert list(thick[0].get_xdata()) == [16, 32, 48]


def test_slices_have_a_place_for_each_setting():
    figure = draw_slices("small", definition_of(space=SPACE), ROWS)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_xlabel() for axes in shown] == ["clip", "entropy cost", "hidden sizes"]
    assert [axes.get_xscale() for axes in shown] == ["linear", "log", "linear"]
    assert [text.get_text() for text in shown[2].get_xticklabels()] == ["4", "8x8"]
    assert [len(axes.collections) for axes in shown] == [4, 4, 4]
    for axes, span in zip(shown[:2], list(SPACE.values())[:2], strict=True):
        low, high = axes.get_xlim()
        assert low < span.low < span.high < high


def test_settings_of_the_same_last_name_are_told_apart():
    twins = {"learner.optimizer.beta1": 1, "schedules.clip.span_fraction": 2, "schedules.entropy_cost.span_fraction": 3}
    assert [short_name(name, twins) for name in twins] == [
        "beta1", "clip span fraction", "entropy cost span fraction",
    ]  # fmt: skip


def test_importances_are_bars_with_their_numbers():
    figure = draw_importances("small", {"learner.clip": 0.75, "model.hidden_sizes": 0.25}, 12)
    axes = figure.axes[0]
    assert [round(bar.get_width(), 2) for bar in axes.patches] == [0.25, 0.75]
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.75"]
    assert "12 trials" in figure.get_suptitle()


@pytest.mark.parametrize("state", ["pruned", "failed", "running"])
def test_a_study_without_a_complete_trial_can_be_drawn(state):
    rows = [row(0, 1.0 if state == "pruned" else None, state)]
    for draw in (draw_curves, draw_slices):
        draw("small", definition_of(), rows)
    draw_history("small", definition_of(), rows, [])
