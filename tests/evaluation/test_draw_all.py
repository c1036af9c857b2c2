import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from respawn.errors import ConfigError
from respawn.evaluation.plots import catalogue
from respawn.evaluation.plots.catalogue import FIGURES, draw_all
from respawn.evaluation.plots.figure import lighter
from respawn.evaluation.plots.shown_run import ShownRun
from respawn.evaluation.run_record import read_record
from respawn.runs.layout import RunFolder, create
from respawn.testing.fake_fish_run import make_fish_run


@pytest.fixture(scope="module")
def drawn(v40, tmp_path_factory):
    """Everything as PNG, once."""
    folder = RunFolder(shutil.copytree(v40.path, tmp_path_factory.mktemp("drawn") / "v40"))
    told = []
    made = draw_all(folder, svg=False, gif=False, tell=lambda doing, part: told.append((doing, part)))
    return SimpleNamespace(folder=folder, made=made, told=told)


def names(paths):
    return {path.name for path in paths}


def test_every_figure_is_drawn(drawn):
    assert drawn.made.left_out == {}
    histograms = {f"v40_iter{n:03d}_death_hist.png" for n in range(8, 57, 8)}
    assert names(drawn.made.paths) == {f"v40_{name}.png" for name in FIGURES} | histograms | {"index.md"}
    assert all(path.is_file() for path in drawn.made.paths)
    assert not [path for path in drawn.folder.path.rglob("*") if path.name.startswith(".")], "nothing is left aside"
    for path in drawn.made.paths:
        if path.suffix == ".png":
            with Image.open(path) as picture:
                assert 1100 <= picture.width <= 1350 and np.asarray(picture.convert("L")).std() > 5


def test_progress_is_told(drawn):
    parts = [part for _, part in drawn.told]
    assert parts == sorted(parts) and parts[0] >= 0 and parts[-1] < 1 and drawn.told[0][0] == "drawing survival"


def test_the_page_shows_them_by_paths_from_itself(drawn):
    page = drawn.folder.path / "plots" / "index.md"
    text = page.read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(FIGURES) + 7
    assert all(not link.startswith("/") and (page.parent / link).is_file() for link in links)
    assert "Not learning: the entropy never fell below 1.550 nats" in text
    assert "| probe after update | 56 |" in text and "20 episodes of 96 fish" in text
    assert "## Not drawn" not in text


def test_svgs_and_pngs_are_the_same_bytes_twice(fish):
    def contents():
        made = draw_all(fish, only=["survival", "learning_health"])
        return {path.name: path.read_bytes() for path in made.paths}

    first = contents()
    assert set(first) == {
        *("v40_survival.png", "v40_survival.svg", "v40_learning_health.png", "v40_learning_health.svg", "index.md")
    }
    assert first["v40_survival.svg"].startswith(b"<?xml") and contents() == first


def test_names_that_are_none_are_refused(fish):
    with pytest.raises(ConfigError, match=r"v40 has no figure called survial; choose from survival, first_death"):
        draw_all(fish, only=["survial"])
    assert not (fish.path / "plots").exists()


def test_without_probes_the_rest_is_drawn(tmp_path):
    made = draw_all(make_fish_run(tmp_path, "young", updates=3), svg=False, gif=False)
    assert made.left_out["multi_eval_timeline"] == made.left_out["multi_eval_hist"] == "no probe has been made yet"
    assert made.left_out["gate_timeline"] == "no penalty gate has ruled yet"
    assert {"young_survival.png", "young_tail_stage_warning.png", "young_learning_health.png"} <= names(made.paths)
    page = (tmp_path / "young" / "plots" / "index.md").read_text()
    assert "- Gate timeline: no penalty gate has ruled yet" in page and "last probe" not in page


def test_the_first_update_alone_is_drawn(tmp_path):
    made = draw_all(make_fish_run(tmp_path, "new", updates=1), svg=False)
    assert made.left_out["survival"] == "no update tells of finished episodes yet"
    assert made.left_out["curve_gif"] == "fewer than two updates tell of finished episodes"
    assert "new_learning_health.png" in names(made.paths)


def test_an_empty_folder_leaves_everything_out(fish):
    for path in (fish.updates, fish.probes, fish.rulings, fish.episodes):
        path.unlink()
    made = draw_all(fish)
    assert names(made.paths) == {"index.md"} and set(made.left_out) == set(catalogue.OF_FISH)
    assert "After 0 updates" in made.paths[0].read_text()


def test_a_figure_whose_data_are_gone_is_taken_away(fish):
    draw_all(fish, only=["gate_timeline"])
    fish.rulings.unlink()
    draw_all(fish, only=["gate_timeline"])
    assert names((fish.path / "plots").iterdir()) == {"index.md"}


def test_the_curve_grows_in_a_film(tmp_path):
    run = make_fish_run(tmp_path, "short", updates=6)
    made = draw_all(run, svg=False, only=["curve_gif"])
    film = run.path / "media" / "short_curve.gif"
    assert film in made.paths and "../media/short_curve.gif" in (run.path / "plots" / "index.md").read_text()
    with Image.open(film) as picture:
        assert picture.n_frames == 5 and picture.size[0] >= 700
        inks = []
        for number in range(picture.n_frames):
            picture.seek(number)
            inks.append(int((np.asarray(picture.convert("L")) < 200).sum()))
    assert inks == sorted(inks) and inks[-1] > inks[0]


def test_other_worlds_get_their_curve_and_their_health(tmp_path, v40):
    folder = create(tmp_path, "pole", {}, {"world": {"kind": "foreign"}})
    shutil.copy(v40.updates, folder.updates)
    shutil.copy(v40.episodes, folder.episodes)
    made = draw_all(folder, svg=False)
    assert names(made.paths) == {"pole_learning_curve.png", "pole_learning_health.png", "index.md"}
    folder.episodes.unlink()
    assert "finished no episode yet" in draw_all(folder, only=["learning_curve"]).left_out["learning_curve"]
    with pytest.raises(ConfigError, match="choose from learning_curve, learning_health"):
        draw_all(folder, only=["survival"])


@pytest.mark.parametrize("name", FIGURES)
def test_no_words_lie_on_others(v40, name):
    """Legends, titles and labels of all axes keep clear of each other and stay on the figure."""
    figure = FIGURES[name](ShownRun(read_record(v40)))
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    words = [figure._suptitle.get_window_extent(renderer)]
    for axes in figure.axes:
        words += [axes.get_legend().get_window_extent(renderer)] if axes.get_legend() else []
        words += [
            label.get_window_extent(renderer) for label in (axes.xaxis.label, axes.yaxis.label) if label.get_text()
        ]
        words += [axes.title.get_window_extent(renderer)] if axes.title.get_text() else []
    page = figure.bbox
    for place, word in enumerate(words):
        assert page.x0 - 1 <= word.x0 and word.x1 <= page.x1 + 1 and page.y0 - 1 <= word.y0 and word.y1 <= page.y1 + 1
        assert not [other for other in words[place + 1 :] if word.padded(-1).overlaps(other.padded(-1))]
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend:
            assert not legend.get_window_extent(renderer).overlaps(axes.bbox.padded(-1)), "a legend covers the data"


def test_lighter_colours_keep_their_hue():
    assert lighter("#000000", 0.5) in ("#808080", "#7f7f7f") and lighter("#3a6ea5", 1.0) == "#3a6ea5"
