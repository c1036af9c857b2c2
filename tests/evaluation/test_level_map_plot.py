import numpy as np
import pytest
from PIL import Image

from respawn.contracts.records import Episode
from respawn.errors import VideoError
from respawn.evaluation.plots import level_map
from respawn.evaluation.plots.level_map import Ending, draw_level_map, endings_of

LEVEL = np.zeros((208, 2000, 3), np.uint8)
RED, GREEN, ORANGE = (214, 69, 69), (42, 157, 92), (224, 142, 43)


def drawn(tmp_path, endings, title="World 1-1"):
    path = tmp_path / "map.png"
    draw_level_map(title, LEVEL, 32, endings, path)
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


def centre(picture, colour, rows):
    """The mean column of a colour, as a share of the width."""
    near = np.abs(picture[rows] - colour).sum(-1) < 12
    assert near.any()
    return np.argwhere(near)[:, 1].mean() / picture.shape[1]


def test_deaths_stand_where_they_happened(tmp_path):
    left = drawn(tmp_path, [Ending("death", 400, 176, cleared=False)] * 3)
    right = drawn(tmp_path, [Ending("death", 1600, 176, cleared=False)] * 3)
    half = slice(left.shape[0] // 2, None)  # the bars, under the level
    moved = centre(right, RED, half) - centre(left, RED, half)
    axes_share = 1200 / 2000 * 0.9
    assert moved == pytest.approx(axes_share, abs=0.08)


def test_flags_are_no_failures(tmp_path):
    picture = drawn(tmp_path, [Ending("flag", 1800, 100, cleared=True)] * 5)
    level, bars = picture[: picture.shape[0] // 2], picture[picture.shape[0] // 2 :]
    assert (np.abs(level - GREEN).sum(-1) < 40).any() and not (np.abs(bars - GREEN).sum(-1) < 12).any()


def test_ends_in_other_areas_are_counted_and_not_drawn(tmp_path):
    shown = drawn(tmp_path, [Ending("stall", 1000, 100, cleared=False)])
    hidden = drawn(tmp_path, [Ending("stall", 1000, 100, cleared=False, on_map=False)])
    bars = slice(shown.shape[0] // 2, None)
    assert (np.abs(shown[bars] - ORANGE).sum(-1) < 12).any()
    assert not (np.abs(hidden[bars] - ORANGE).sum(-1) < 12).any()


@pytest.fixture
def figures(monkeypatch):
    """The figures that are drawn, instead of files."""
    kept = []
    monkeypatch.setattr(level_map, "save_figure", lambda figure, path: kept.append(figure))
    return kept


def test_who_came_further_than_the_picture_is_counted_at_its_edge(tmp_path, figures):
    endings = [Ending("stall", 3056, 100, cleared=False)] * 2 + [Ending("pit", 900, 240, cleared=False)]
    draw_level_map("World 1-2", LEVEL, 32, [*endings, Ending("flag", 3100, 90, cleared=True, on_map=False)], tmp_path)
    level, bars, past = figures[0].axes
    heights = {round(bar.get_x()): bar.get_height() for bar in bars.patches if bar.get_height() > 0}
    assert heights == {896: 1, 1984: 2}
    assert past.lines[0].get_ydata()[-1] == pytest.approx(1 / 4)
    assert sorted(x for marks in level.collections for x, _ in marks.get_offsets().tolist()) == [900, 1999, 1999]
    title = level.get_title(loc="left")
    assert title.endswith("; 1 ended in another area of the level, not shown; 2 beyond the picture's right edge")
    draw_level_map("World 1-2", LEVEL, 32, [Ending("stall", 1999, 100, cleared=False)], tmp_path)
    assert "beyond" not in figures[1].axes[0].get_title(loc="left")


def test_the_legend_has_what_is_drawn_and_nothing_else(tmp_path, figures):
    flag = Ending("flag", 300, 90, cleared=True, on_map=False)
    draw_level_map("World 1-2", LEVEL, 32, [flag, Ending("pit", 900, 240, cleared=False)], tmp_path)
    assert [text.get_text() for text in figures[0].axes[0].get_legend().get_texts()] == ["pit"]
    draw_level_map("World 1-2", LEVEL, 32, [flag], tmp_path)
    assert figures[1].axes[0].get_legend() is None


def test_endings_come_from_episodes():
    facts = {"level": "1-1", "cleared": 1.0, "end_x": 3161.0, "end_y": 90.0}
    there, elsewhere = endings_of(
        [Episode(0, 1.0, 9, "flag", facts), Episode(1, 1.0, 9, "pit", {**facts, "cleared": 0.0, "in_first_area": 0.0})]
    )
    assert there == Ending("flag", 3161.0, 90.0, cleared=True)
    assert elsewhere == Ending("pit", 3161.0, 90.0, cleared=False, on_map=False)


def test_no_episodes_no_figure(tmp_path):
    with pytest.raises(VideoError, match="at least one episode"):
        draw_level_map("World 1-1", LEVEL, 32, [], tmp_path / "map.png")
    assert list(tmp_path.iterdir()) == []
