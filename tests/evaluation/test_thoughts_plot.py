"""A policy's thoughts in one picture."""

import pytest
from matplotlib.colors import to_hex

from respawn.errors import VideoError
from respawn.evaluation.plots import thoughts as plots
from respawn.evaluation.plots.thoughts import draw_thoughts
from respawn.evaluation.thoughts.steps import Thought


def thought(step, probabilities=(), means=(), spreads=()):
    actions = tuple(max(choice, key=choice.get) for choice in probabilities) or tuple(str(mean) for mean in means)
    return Thought(step, actions, probabilities, means, spreads, 0.5, None, float(step), 2.0 * step, 1.0, {})


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved."""
    figures = []
    save = plots.save_figure
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: (figures.append(figure), save(figure, path)))
    return figures


def labels(axes):
    return [handle.get_label() for handle in axes.get_legend_handles_labels()[0]]


def test_one_choice(drawn, tmp_path):
    chances = [{"LEFT": 0.1 * step, "RIGHT": 1 - 0.1 * step} for step in range(4)]
    draw_thoughts("run", [thought(step, (chances[step],)) for step in range(4)], 0.69, tmp_path / "one.png")
    values, entropy, choice = drawn[0].axes
    assert labels(values) == ["value", "discounted return that really followed"]
    assert list(values.lines[1].get_ydata()) == [0.0, 2.0, 4.0, 6.0]
    assert labels(entropy) == ["entropy", "greatest possible"] and entropy.get_ylim()[1] > 0.69
    assert labels(choice) == ["RIGHT", "LEFT"], "the likeliest of all steps lies at the bottom"
    assert (tmp_path / "one.png").stat().st_size > 10_000


def test_many_actions_are_gathered_in_one_band(drawn, tmp_path):
    chances = {str(number): 1 / 30 for number in range(30)}
    draw_thoughts("run", [thought(step, (chances,)) for step in range(3)], 3.4, tmp_path / "many.svg")
    shown = labels(drawn[0].axes[2])
    assert shown[-1] == "others" and len(shown) == 8
    top = max(path.vertices[:, 1].max() for band in drawn[0].axes[2].collections for path in band.get_paths())
    assert top == pytest.approx(1.0), "all bands together are all there is"


def test_numbers_are_drawn_with_their_spreads_a_panel_each(drawn, tmp_path):
    steps = [thought(step, means=(0.1 * step, -0.5), spreads=(0.2, 0.3)) for step in range(3)]
    draw_thoughts("run", steps, None, tmp_path / "numbers.png")
    assert len(drawn[0].axes) == 4 and labels(drawn[0].axes[1]) == ["entropy"]
    assert labels(drawn[0].axes[2]) == ["one standard deviation", "mean", "taken"]


def test_an_action_called_others_keeps_its_own_colour(drawn, tmp_path):
    draw_thoughts("run", [thought(0, ({"others": 0.5, "rest": 0.5},))], 0.69, tmp_path / "others.png")
    bands = drawn[0].axes[2].collections
    assert [band.get_label() for band in bands] == ["others", "rest"]
    assert to_hex(bands[0].get_facecolor()[0]) == plots.COOL, "grey is for what is gathered"


def test_without_a_step_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(VideoError, match="needs at least one step"):
        draw_thoughts("run", [], None, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
