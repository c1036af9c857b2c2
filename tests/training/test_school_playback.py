import numpy as np
import pytest

from respawn.training.school_film import SchoolFilmOrder, film_schools
from respawn.training.school_playback import SchoolPlayback
from respawn.training.trained import load_run
from respawn.worlds.fish.painter import TankPainter


@pytest.fixture
def trained(fish_run):
    return load_run(fish_run)


def test_steps_tell_all_there_is_to_see(trained):
    playback = SchoolPlayback(trained, fish=12, painter=TankPainter(64, header=False))
    steps = list(playback.play(503))
    assert [step.number for step in steps] == list(range(30))
    assert all(step.frames.shape == (1, 64, 64, 3) for step in steps)
    assert [step.episode is None for step in steps] == [True] * 29 + [False]
    assert [step.aftermath is None for step in steps] == [True] * 29 + [False]
    assert (steps[-1].aftermath != steps[-1].frames).any() and (steps[0].frames != steps[1].frames).any()
    assert steps[-1].episode.end == "time limit"
    alive = [step.school.alive for step in steps]
    assert alive == sorted(alive, reverse=True) and alive[-1] == steps[-1].episode.facts["alive"]
    assert all((step.school.fish, step.school.seed) == (12, 503) for step in steps)
    playback.close()


@pytest.mark.parametrize("greedy", [True, False])
def test_the_same_schools_as_in_films_one_after_the_other(trained, tmp_path, greedy):
    playback = SchoolPlayback(trained, fish=12)
    for seed in (500, 501):
        order = SchoolFilmOrder(fish=12, seed=seed, greedy=greedy)
        (take,) = film_schools(trained, order, tmp_path / "film.mp4")
        steps = list(playback.play(seed, greedy=greedy))
        assert repr(steps[-1].episode) == repr(take.episode)  # as text, for a first death that never came is no number
        deaths = np.array(take.death_steps)
        assert [12 - step.school.alive for step in steps] == [
            int(((deaths > 0) & (deaths <= step.number + 1)).sum()) for step in steps
        ]
    assert not steps[0].frames.size and not steps[-1].aftermath.size


def test_long_episodes_are_cut(trained):
    assert len(list(SchoolPlayback(trained, fish=12, limit_steps=7).play(1))) == 7
