from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from respawn.contracts.records import Episode, EpisodeReport, EvaluationReport, UpdateReport
from respawn.errors import RunFolderError, VideoError
from respawn.evaluation.plots import curve
from respawn.evaluation.plots.curve import WINDOW, draw_learning_curve, evaluation_curves, training_curves
from respawn.runs.layout import create
from respawn.runs.rows import to_line, to_row


def updates(count):
    return [UpdateReport(n, 1000 * n, 4000 * n, 2 * n, {"time/unix": 1.0}) for n in range(1, count + 1)]


def episode(update, episode_return, **facts):
    return EpisodeReport(update, Episode(0, episode_return, 50, "flag", facts))


def evaluation(update, clear_rate, return_mean):
    metrics = {"evaluation/return_mean": return_mean, "evaluation/cleared": clear_rate, "evaluation/x": 900.0}
    return EvaluationReport(update, 1000 * update, metrics)


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path / "runs", "mario-s0", {}, {})


def fill(folder, last_clear_rate=1.0):
    def lines(records):
        return b"".join(to_line(to_row(record)) for record in records)

    folder.updates.write_bytes(lines(updates(40)))
    folder.episodes.write_bytes(lines([episode(n, n**0.5, cleared=0.0, x=40.0 * n) for n in range(1, 41)]))
    rates = [0.0, 0.1, 0.5, last_clear_rate]
    folder.evaluations.write_bytes(lines([evaluation(10 * n + 10, rate, n) for n, rate in enumerate(rates)]))


def test_episodes_count_from_the_update_they_ended_in():
    episodes = [episode(1, 2.0, cleared=0.0), episode(1, 4.0, cleared=1.0), episode(3, 6.0, cleared=1.0)]
    curves = training_curves(updates(4), episodes)
    assert (curves["return"].decisions, curves["return"].values) == ([1000, 3000], [3.0, 4.0])
    assert curves["cleared"].values == [0.5, pytest.approx(2 / 3)]
    assert curves["x"].values == []


def test_only_the_last_hundred_episodes_count():
    episodes = [episode(1, 0.0)] * WINDOW + [episode(2, 1.0)] * (WINDOW // 2)
    assert training_curves(updates(2), episodes)["return"].values == [0.0, 0.5]


def test_evaluations_have_curves_for_what_they_say():
    curves = evaluation_curves([EvaluationReport(1, 10, {"evaluation/return_mean": 2.0}), evaluation(2, 0.5, 3.0)])
    assert (curves["return"].decisions, curves["return"].values) == ([10, 2000], [2.0, 3.0])
    assert (curves["cleared"].decisions, curves["cleared"].values) == ([2000], [0.5])


def test_a_figure_with_a_panel_for_each_thing_known(folder, tmp_path):
    fill(folder)
    draw_learning_curve(folder, tmp_path / "new" / "curve.png")
    with Image.open(tmp_path / "new" / "curve.png") as picture:
        three_panels = picture.size
    assert three_panels[0] == 1350
    folder.evaluations.unlink()
    folder.episodes.write_bytes(to_line(to_row(episode(1, 3.0))))
    draw_learning_curve(folder, tmp_path / "returns.png")
    with Image.open(tmp_path / "returns.png") as picture:
        assert picture.height < three_panels[1] / 2
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["curve.png"]


def test_what_happened_decides_the_figure(folder, tmp_path):
    for name, rate in (("bad", 0.1), ("good", 1.0), ("again", 1.0)):
        fill(folder, rate)
        draw_learning_curve(folder, tmp_path / f"{name}.png")
    bad, good, again = (np.asarray(Image.open(tmp_path / f"{name}.png")) for name in ("bad", "good", "again"))
    assert (good == again).all() and (bad != good).any()


def test_no_words_lie_across_the_line(folder, tmp_path, monkeypatch):
    fill(folder)
    rise = [episode(n, 1.0, cleared=float(n > 5), x=40.0 * n) for n in range(1, 41)]
    folder.episodes.write_bytes(b"".join(to_line(to_row(one)) for one in rise))
    figures = []
    monkeypatch.setattr(curve, "save_figure", lambda figure, path: figures.append(figure))
    draw_learning_curve(folder, tmp_path / "curve.png")
    (figure,) = figures
    figure.canvas.draw()
    cleared = figure.axes[0]
    words = [*cleared.texts, cleared.get_legend()]
    assert "first clear: 6,000 decisions" in [text.get_text() for text in cleared.get_legend().get_texts()]
    points = cleared.transData.transform(np.column_stack(cleared.lines[0].get_data()))
    between = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(points)])
    assert not any(word.get_window_extent().contains(x, y) for word in words for x, y in between)


def test_nothing_to_draw_is_said(folder, tmp_path):
    with pytest.raises(RunFolderError, match="mario-s0 has finished no episode yet"):
        draw_learning_curve(folder, tmp_path / "curve.png")
    fill(folder)
    with pytest.raises(VideoError, match=r"a figure is written as .png or .svg, and 'curve.pdf' came"):
        draw_learning_curve(folder, tmp_path / "curve.pdf")
