import numpy as np
import pytest
from PIL import Image

from respawn.contracts.records import Episode
from respawn.errors import VideoError
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
