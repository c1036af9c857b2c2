from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from respawn.errors import VideoError
from respawn.evaluation import video
from respawn.evaluation.plots.figure import new_figure, save_figure
from respawn.evaluation.video import check_film_path, write_film


def frames(count, height=48, width=64):
    """A red square that walks over green."""
    for number in range(count):
        frame = np.zeros((height, width, 3), np.uint8)
        frame[:, :] = (20, 160, 40)
        frame[8:24, number % (width - 16) : number % (width - 16) + 16] = (220, 30, 30)
        yield frame


def noise(count):
    random = np.random.default_rng(0)
    for _ in range(count):
        yield random.integers(0, 256, (48, 64, 3), np.uint8)


def test_an_mp4_holds_the_frames_in_colours_that_every_player_knows(tmp_path):
    path = tmp_path / "new" / "film.mp4"
    assert write_film(path, frames(30)) == 30
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt, stream.average_rate) == ("h264", "yuv420p", 60)
        decoded = [frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]
    assert len(decoded) == 30 and decoded[0].shape == (48, 64, 3)
    for seen, meant in zip(decoded, frames(30), strict=True):
        assert np.abs(seen.astype(int) - meant).mean() < 6
    # The index lies before the pictures, so that a browser need not load the whole film first.
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    assert list(path.parent.iterdir()) == [path]


def test_odd_sizes_lose_a_line(tmp_path):
    write_film(tmp_path / "odd.mp4", frames(3, height=49, width=65))
    with av.open(str(tmp_path / "odd.mp4")) as film:
        assert next(film.decode(video=0)).to_ndarray(format="rgb24").shape == (48, 64, 3)


def test_a_gif_lasts_as_long_as_the_film(tmp_path):
    path = tmp_path / "film.gif"
    assert write_film(path, frames(60)) == 60
    with Image.open(path) as gif:
        assert gif.n_frames == 25 and gif.size == (64, 48) and gif.info["loop"] == 0
        lasts = 0
        for number in range(gif.n_frames):
            gif.seek(number)
            lasts += gif.info["duration"]
        first = np.asarray(gif.convert("RGB"))
    assert lasts == pytest.approx(1000, abs=30)
    assert np.abs(first.astype(int) - (20, 160, 40)).sum(-1).min() < 12


def test_a_gif_gives_up_frames_and_pixels_to_stay_small(tmp_path):
    path = tmp_path / "small.gif"
    write_film(path, noise(60))
    full = path.stat().st_size
    write_film(path, noise(60), most_gif_bytes=full // 6)
    assert path.stat().st_size <= full // 6
    with Image.open(path) as gif:
        assert gif.n_frames < 25 and gif.size < (64, 48)


def test_the_last_gifs_have_fewer_colours(tmp_path):
    path = tmp_path / "small.gif"
    for budget, colours in ((1 << 20, 64), (5_000, 32), (1_000, 16)):
        write_film(path, noise(60), most_gif_bytes=budget)
        with Image.open(path) as gif:
            assert len(np.unique(np.asarray(gif.convert("RGB")).reshape(-1, 3), axis=0)) <= colours
            assert path.stat().st_size <= budget


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("here")
    for path in (tmp_path / "file" / "film.mp4", tmp_path / "file" / "new" / "film.gif", Path("/proc/film.mp4")):
        with pytest.raises(VideoError) as refused:
            write_film(path, frames(2))
        assert str(refused.value).startswith(f"{path} cannot be written (") and "--out" in str(refused.value)
    with pytest.raises(VideoError, match=r"figure.png cannot be written"):
        save_figure(new_figure(1, 1), tmp_path / "file" / "figure.png")


def test_a_gif_that_cannot_be_small_enough_leaves_the_old_one(tmp_path):
    path = tmp_path / "old.gif"
    path.write_bytes(b"old")
    with pytest.raises(
        VideoError, match=r"1 seconds do not fit into a GIF of 500 bytes.*--gif-kilobytes \d+, or write .mp4"
    ):
        write_film(path, noise(60), most_gif_bytes=500)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
def test_what_fails_on_the_way_leaves_nothing(tmp_path, name):
    def broken():
        yield from frames(5)
        raise RuntimeError("the world failed")

    with pytest.raises(RuntimeError):
        write_film(tmp_path / name, broken())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
def test_frames_must_be_pictures_of_one_size(tmp_path, name):
    with pytest.raises(VideoError, match="at least one frame"):
        write_film(tmp_path / name, [])
    with pytest.raises(VideoError, match=r"uint8 .height, width, 3., and float64"):
        write_film(tmp_path / name, [np.zeros((4, 4, 3))])
    with pytest.raises(VideoError, match=r"must be \[48, 64, 3\] as its first, and \[50, 64, 3\] came"):
        write_film(tmp_path / name, [*frames(1), *frames(1, height=50)])
    assert list(tmp_path.iterdir()) == []


def test_the_path_is_judged_before_anything_is_played(tmp_path, monkeypatch):
    with pytest.raises(VideoError, match=r"written as .mp4 or .gif, and 'film.avi' came"):
        check_film_path(tmp_path / "film.avi")
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(VideoError, match="is a folder"):
        check_film_path(tmp_path / "folder.mp4")
    monkeypatch.setattr(video, "_CODEC", "no-such-codec")
    with pytest.raises(VideoError, match=r"has no H.264 encoder"):
        check_film_path(tmp_path / "film.mp4")
    check_film_path(tmp_path / "film.gif")
