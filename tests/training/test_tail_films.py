from dataclasses import replace

import av
import pytest
import torch
from small_schools import FISH, train_school

from respawn.checkpoints.store import find_newest
from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.records import Probe
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.runs.reader import read_events, read_probes
from respawn.training import tail_films
from respawn.training.collecting import fresh_model
from respawn.training.config import config_sha256
from respawn.training.tail_films import film_worst_schools
from respawn.training.trained import load_run
from respawn.worlds.fish.world import FishWorld
from respawn.worlds.recall.config import RecallConfig

CPU = torch.device("cpu")


def events(folder, kind):
    return [timed.event for timed in read_events(folder) if timed.event.kind == kind]


def test_the_worst_schools_of_each_evaluation_are_filmed_exactly(tmp_path):
    folder = train_school(tmp_path, "school", worst_films=2)
    told = events(folder, "filmed")
    assert all(event.facts["exact"] is True for event in told) and not events(folder, "film_failed")
    expected = []
    for probe in read_probes(folder):
        worst = sorted(probe.facts["records"], key=lambda record: (record["final_num_alive"], record["episode"]))
        for rank, record in enumerate(worst[:2], start=1):
            expected.append(f"school_iter{probe.update:03}_tail_rank{rank}_ep{record['episode']}.mp4")
    assert len(expected) == 4 and expected[0].startswith("school_iter001_tail_rank1_ep")
    assert [event.facts["path"] for event in told] == [str(folder.media / name) for name in expected]
    assert sorted(path.name for path in folder.media.iterdir()) == sorted(expected)
    with av.open(told[0].facts["path"]) as film:
        assert film.streams.video[0].average_rate == 20 and len(list(film.decode(video=0))) == 31


def test_films_change_no_number_of_the_run(tmp_path):
    filmed = train_school(tmp_path, "filmed", worst_films=1, video_every=2)
    plain = train_school(tmp_path, "plain")
    assert config_sha256(load_run(filmed).config) == config_sha256(load_run(plain).config)
    weights = [find_newest(folder.checkpoints).manifest.weights_sha256 for folder in (filmed, plain)]
    assert weights[0] == weights[1]
    assert [path.name for path in filmed.videos.iterdir()] == ["update-000002.mp4"] and not plain.media.exists()
    (told,) = [event for event in events(filmed, "filmed") if "rank" not in event.facts]
    assert told.message.startswith("update 2 is filmed (time limit): ")


@pytest.mark.parametrize(("greedy", "boost"), [(True, 0.0), (False, 0.5)])
def test_a_film_goes_by_the_knobs_and_dice_of_its_evaluation(fish_run, tmp_path, monkeypatch, greedy, boost):
    """Also where several batches are played, the actions are drawn and schedules have changed their mind since."""
    for module in ("respawn.evaluation.fish_evaluator", "respawn.training.school_stage"):
        monkeypatch.setattr(f"{module}.SCHOOLS_AT_A_TIME", 2)
    trained = load_run(fish_run)
    config = replace(trained.config, evaluation=replace(trained.config.evaluation, greedy=greedy))
    spec = FishWorld(config.world.as_judged(12), 12).spec
    evaluator = FishEvaluator(config.world, fresh_model(config, spec, CPU), config.evaluation, CPU)
    knobs = Knobs(1, {"escape_boost": boost, "density_penalty": 0.1})
    probe = evaluator.evaluate(Weights(1, trained.tensors), Clock(updates=7), knobs).probe
    folder = replace(fish_run, path=tmp_path / "elsewhere")
    trained = replace(trained, config=config)
    told = list(film_worst_schools(trained, folder, probe, 3, device_name="cpu"))
    assert [event.facts["exact"] for event in told] == [True] * 3
    assert {event.facts["episode"] for event in told} <= set(range(5))
    otherwise = replace(probe, facts={**probe.facts, "escape_boost_speed": 0.9})
    (warned, *_) = film_worst_schools(trained, folder, otherwise, 1, device_name="cpu")
    assert warned.level == "warning" and warned.facts["exact"] is False and "went otherwise" in warned.message


def test_a_film_is_never_longer_than_the_reference_s(fish_run, tmp_path, monkeypatch):
    monkeypatch.setattr(tail_films, "MOST_FRAMES", 6)
    probe = list(read_probes(fish_run))[-1]
    folder = replace(fish_run, path=tmp_path / "elsewhere")
    (told,) = film_worst_schools(load_run(fish_run), folder, Probe(2, 0, probe.facts), 1, device_name="cpu")
    with av.open(told.facts["path"]) as film:
        assert len(list(film.decode(video=0))) == 6
    assert told.facts["exact"] is True


def test_a_film_that_fails_is_a_warning(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no such\nencoder")

    monkeypatch.setattr(tail_films, "write_film", fail)
    folder = train_school(tmp_path, "unlucky", worst_films=1)
    failed = events(folder, "film_failed")
    assert [event.level for event in failed] == ["warning"] * 2
    assert failed[0].message == "the worst of update 1 could not be filmed: RuntimeError: no such encoder"


def test_it_wants_evaluations_of_so_many_schools_of_fish():
    with pytest.raises(ConfigError, match=r"evaluation\.worst-films films episodes of evaluations, and there are none"):
        EvaluationConfig(worst_films=1)
    with pytest.raises(ConfigError, match=r"evaluation\.worst-films must be from 0 to 3, not 4"):
        EvaluationConfig(every_updates=1, episodes=3, worst_films=4)
    with pytest.raises(ConfigError, match=r"evaluation\.worst-films films schools of fish, and this run is in another"):
        replace(
            FISH,
            world=RecallConfig(),
            evaluation=replace(FISH.evaluation, worst_films=1),
            checkpoints=replace(FISH.checkpoints, best_metric="evaluation/return_mean"),
        )
