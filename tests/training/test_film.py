from dataclasses import replace

import av
import numpy as np
import pytest

from respawn.contracts.records import Episode
from respawn.errors import MovieError, VideoError
from respawn.training.film import FINAL_FRAMES, FilmOrder, Take, make_film
from respawn.training.movies import check_movie, write_take
from respawn.training.playback import LOST_FRAMES
from respawn.training.trained import load_run, with_world
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.recall.config import RecallConfig


@pytest.fixture
def trained(mario_run):
    return load_run(mario_run)


def frames_of(path):
    with av.open(str(path)) as film:
        return [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]


def test_a_film_shows_every_frame_the_aftermath_and_the_end(trained, tmp_path):
    told = []
    takes = make_film(
        trained, trained.config, FilmOrder(seed=7), tmp_path / "film.mp4", tell=lambda *said: told.append(said)
    )
    frames = frames_of(tmp_path / "film.mp4")
    assert len(frames) == 12 * 4 + LOST_FRAMES + FINAL_FRAMES and frames[0].shape == (480, 768, 3)
    assert [take.seed for take in takes] == [7] and takes[0].episode.end == "step limit"
    assert len(takes[0].held) == 12 * 4 and takes[0].cleared is False
    shares = [part for _, part in told]
    assert shares == sorted(shares) and len(shares) == 12 and shares[-1] < 1


def test_episodes_follow_each_other_and_the_panel_can_be_left_out(trained, tmp_path):
    takes = make_film(trained, trained.config, FilmOrder(seed=7, episodes=2, panel=False), tmp_path / "film.mp4")
    frames = frames_of(tmp_path / "film.mp4")
    assert len(frames) == 2 * (12 * 4 + LOST_FRAMES + FINAL_FRAMES) and frames[0].shape == (240, 256, 3)
    assert [take.seed for take in takes] == [7, 8]


def test_the_best_of_some_is_filmed(trained, tmp_path):
    order = FilmOrder(seed=1, greedy=False, panel=False)
    everyone = [
        make_film(trained, trained.config, replace(order, seed=seed), tmp_path / "one.mp4")[0] for seed in range(1, 6)
    ]
    furthest = max(everyone, key=lambda take: take.episode.facts["x"])
    (best,) = make_film(trained, trained.config, replace(order, best_of=5), tmp_path / "best.mp4")
    assert best.episode.facts["x"] == furthest.episode.facts["x"] > min(t.episode.facts["x"] for t in everyone)


def test_clearing_comes_before_getting_far_and_quick_before_slow():
    def take(cleared, length, x):
        return Take(0, Episode(0, 1.0, length, "", {"cleared": cleared, "x": x}))

    slow, quick, far, near = take(1.0, 400, 3161.0), take(1.0, 300, 3161.0), take(0.0, 500, 3000.0), take(0.0, 9, 50.0)
    ranked = sorted([slow, far, Take(0), near, quick], key=lambda each: each.merit, reverse=True)
    assert ranked[:4] == [quick, slow, far, near]
    poor, rich = Take(0, Episode(0, 1.0, 9, "")), Take(0, Episode(0, 2.0, 9, ""))
    assert rich.merit > poor.merit and rich.cleared is None
    worded = Take(0, Episode(0, 3.0, 9, "", {"x": "far"}))  # what an environment calls so need not be a place
    assert worded.merit > rich.merit


def test_a_film_that_cannot_be_written_is_not_played(trained, tmp_path):
    def must_not_play(doing, part):
        raise AssertionError("it was played")

    with pytest.raises(VideoError, match=r"written as .mp4 or .gif"):
        make_film(trained, trained.config, FilmOrder(), tmp_path / "film.avi", tell=must_not_play)


def test_a_take_becomes_a_movie(trained, tmp_path):
    (take,) = make_film(trained, trained.config, FilmOrder(seed=3, panel=False), tmp_path / "film.mp4")
    played = write_take(tmp_path / "take.fm2", trained.config, take, "respawn a test")
    assert (played.world, played.stage) == (1, 1)
    assert played.frames > 12 * 4 + take.waited_frames


def test_movies_are_of_the_first_level_of_ntsc_mario(trained, tmp_path):
    path = tmp_path / "take.fm2"
    assert isinstance(check_movie(path, trained.config), MarioConfig)
    with pytest.raises(MovieError, match="Start leads to 1-1 only"):
        check_movie(path, with_world(trained.config, level="2-1"))
    with pytest.raises(MovieError, match="Mario only"):
        check_movie(path, replace(trained.config, world=RecallConfig()))
    with pytest.raises(MovieError, match=r"--world.region ntsc"):
        check_movie(path, replace(trained.config, world=MarioConfig(region="pal")))


def test_the_panel_moves_with_the_steps(trained, tmp_path):
    make_film(trained, trained.config, FilmOrder(seed=7), tmp_path / "film.mp4")
    panels = [frame[:, 512:].astype(int) for frame in frames_of(tmp_path / "film.mp4")]
    assert np.abs(panels[0] - panels[2]).mean() < 1 < np.abs(panels[0] - panels[40]).max()
