from dataclasses import replace

import pytest

from respawn.checkpoints.store import find_newest
from respawn.collection.config import CollectionConfig
from respawn.contracts.clock import Clock
from respawn.contracts.records import Event
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.observers.config import ObserversConfig
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.runs.reader import read_evaluations, read_events, read_updates
from respawn.training import film
from respawn.training.config import config_sha256
from respawn.training.launch import begin
from respawn.training.periodic_films import PeriodicFilms

TINY = replace(
    find_preset("mario"),
    updates=3,
    learner=PPOConfig(epochs=1, minibatches=2),
    collection=CollectionConfig(num_lanes=4, horizon_steps=16),
    evaluation=EvaluationConfig(every_updates=1, episodes=2, num_lanes=2, limit_steps=40),
    observers=ObserversConfig(console=False, tensorboard=False),
    device="cpu",
)


def trained(tmp_path, name: str, video_every: int) -> RunFolder:
    config = replace(TINY, evaluation=replace(TINY.evaluation, video_every=video_every))
    assert config_sha256(config) == config_sha256(TINY)
    folder, outcome = begin(config, preset="mario", runs_dir=tmp_path, name=name)
    assert outcome.status == "finished"
    return folder


def events(folder: RunFolder) -> list[Event]:
    return [timed.event for timed in read_events(folder)]


def numbers(rows) -> list[dict[str, float]]:
    return [{name: value for name, value in row.metrics.items() if not name.startswith("time/")} for row in rows]


def test_films_change_no_number_of_the_run(tmp_path):
    plain, filmed = trained(tmp_path, "plain", 0), trained(tmp_path, "filmed", 2)
    assert [path.name for path in filmed.videos.iterdir()] == ["update-000002.mp4"] and not plain.videos.exists()
    (told,) = [event for event in events(filmed) if event.kind == "filmed"]
    assert told.message.startswith("update 2 is filmed (")
    assert told.facts == {"path": str(filmed.videos / "update-000002.mp4")}
    assert numbers(read_updates(plain)) == numbers(read_updates(filmed))
    assert numbers(read_evaluations(plain)) == numbers(read_evaluations(filmed))
    weights = [find_newest(folder.checkpoints).manifest.weights_sha256 for folder in (plain, filmed)]
    assert weights[0] == weights[1]


def test_what_is_filmed_is_saved_before(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(film, "make_film", lambda *_, **__: saved.append(find_newest(folder.checkpoints).path.name))
    folder = RunFolder(tmp_path / "filmed")
    trained(tmp_path, "filmed", 1)
    assert saved == ["u00000001", "u00000002", "u00000003"]


def test_a_film_that_fails_is_a_warning(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no such\nencoder")

    monkeypatch.setattr(film, "make_film", fail)
    folder = trained(tmp_path, "unlucky", 1)
    failed = [event for event in events(folder) if event.kind == "film_failed"]
    assert [event.level for event in failed] == ["warning"] * 3
    assert failed[0].message == "update 1 could not be filmed: RuntimeError: no such encoder"


@pytest.mark.parametrize(("every", "video_every", "due"), [(5, 0, []), (5, 1, [5, 10, 15, 20]), (5, 2, [10, 20])])
def test_films_are_due_by_the_number_of_the_evaluation(tmp_path, every, video_every, due):
    config = replace(TINY, evaluation=EvaluationConfig(every_updates=every, video_every=video_every))
    films = PeriodicFilms(config, RunFolder(tmp_path), "", None, lambda event: None)
    assert [update for update in range(1, 24) if films.due(Clock(updates=update))] == due


def test_films_need_evaluations():
    with pytest.raises(ConfigError, match=r"evaluation\.video-every counts evaluations, and there are none"):
        EvaluationConfig(video_every=1)
