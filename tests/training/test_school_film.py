import av
import pytest

from respawn.errors import CheckpointError, ConfigError, VideoError
from respawn.evaluation.school_recordings import record_schools
from respawn.training.judge_fish import SchoolTrials, judge_fish
from respawn.training.school_film import FINAL_FRAMES, SchoolFilmOrder, film_schools
from respawn.training.school_stage import SchoolStage
from respawn.training.trained import load_run

ORDER = {"fish": 12, "seed": 500}


@pytest.fixture
def trained(fish_run):
    return load_run(fish_run)


def frames_of(path):
    with av.open(str(path)) as film:
        rate = film.streams.video[0].average_rate
        return [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)], rate


def judged(trained, episodes, sampled=False):
    trials = SchoolTrials(episodes=episodes, fish=12, seed_base=500, sampled=sampled, nulls=False)
    return judge_fish(trained, trials)


def test_a_film_shows_every_moment_and_the_end(trained, tmp_path):
    told = []
    (take,) = film_schools(
        trained, SchoolFilmOrder(**ORDER), tmp_path / "film.mp4", tell=lambda *said: told.append(said)
    )
    frames, rate = frames_of(tmp_path / "film.mp4")
    assert len(frames) == 31 + FINAL_FRAMES and frames[0].shape == (544, 512, 3) and rate == 25
    assert (take.seed, take.fish, take.episode.length, take.as_played) == (500, 12, 30, True)
    shares = [part for _, part in told]
    assert shares == sorted(shares) and shares[-1] < 1


def test_the_schools_filmed_are_those_that_are_judged(trained, tmp_path):
    takes = film_schools(trained, SchoolFilmOrder(**ORDER, episodes=3), tmp_path / "film.mp4")
    records = judged(trained, 3).records
    assert [take.death_steps for take in takes] == [record.death_steps for record in records]
    assert repr([take.episode for take in takes]) == repr([record.episode for record in records])  # NaN is not itself
    assert len(frames_of(tmp_path / "film.mp4")[0]) == 3 * (31 + FINAL_FRAMES)


def test_drawn_actions_are_those_that_are_judged(trained, tmp_path):
    takes = film_schools(trained, SchoolFilmOrder(**ORDER, episodes=2, greedy=False), tmp_path / "film.mp4")
    survival = sum(take.episode.facts["survival"] for take in takes) / 2
    assert survival == pytest.approx(judged(trained, 2, sampled=True).sampled["survival_mean"])


@pytest.mark.parametrize("which", ["best_of", "worst_of"])
def test_the_best_and_the_worst_of_some_are_filmed_as_they_were_played(trained, tmp_path, monkeypatch, which):
    monkeypatch.setattr("respawn.training.school_stage.SCHOOLS_AT_A_TIME", 3)  # so that there are several batches
    records = judged(trained, 8).records
    alive = [record.alive for record in records]
    assert len(set(alive)) > 2, "else nothing is to choose"
    sign = -1 if which == "best_of" else 1
    order = sorted(range(8), key=lambda place: (sign * alive[place], place))[:2]
    takes = film_schools(trained, SchoolFilmOrder(**ORDER, episodes=2, **{which: 8}), tmp_path / "film.gif")
    assert [take.seed for take in takes] == [500 + place for place in order]
    assert [take.death_steps for take in takes] == [records[place].death_steps for place in order]
    assert all(take.as_played for take in takes) and (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")


def test_what_went_otherwise_is_said(trained, tmp_path, monkeypatch):
    def others(stage, seeds, wanted, dice):
        return record_schools(stage.world, stage.model, [900] * len(seeds), wanted, dice, stage.device)

    monkeypatch.setattr(SchoolStage, "record", others)
    (take,) = film_schools(trained, SchoolFilmOrder(**ORDER, worst_of=4), tmp_path / "film.mp4")
    assert not take.as_played


def test_a_film_may_be_cut_earlier_and_is_the_same_until_then(trained, tmp_path):
    (whole,) = film_schools(trained, SchoolFilmOrder(**ORDER), tmp_path / "whole.mp4")
    (cut,) = film_schools(trained, SchoolFilmOrder(**ORDER, limit_steps=10), tmp_path / "cut.mp4")
    assert cut.episode.length == 10
    assert cut.death_steps == tuple(step if step <= 10 else -1 for step in whole.death_steps)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ({"fish": 0}, "--fish must be from 1 to 4,096, not 0"),
        ({"episodes": 101}, "--episodes must be from 1 to 100, not 101"),
        ({"episodes": 3, "worst_of": 2}, "--worst-of must be at least --episodes, which is 3, and 2 came"),
        ({"best_of": 3, "worst_of": 3}, "leave out --best-of or --worst-of"),
    ],
)
def test_what_cannot_be_filmed_is_refused(order, sentence):
    with pytest.raises(ConfigError, match=sentence):
        SchoolFilmOrder(**order)


def test_other_files_and_other_worlds_are_refused(trained, mario_run, tmp_path):
    with pytest.raises(VideoError, match=r"written as .mp4 or .gif"):
        film_schools(trained, SchoolFilmOrder(), tmp_path / "film.avi")
    with pytest.raises((ConfigError, CheckpointError), match="fish"):
        film_schools(load_run(mario_run), SchoolFilmOrder(), tmp_path / "film.mp4")
