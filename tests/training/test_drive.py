from dataclasses import replace
from pathlib import Path

import pytest

from respawn.collection.config import CollectionConfig
from respawn.contracts.records import EvaluationReport
from respawn.evaluation.config import EvaluationConfig
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_evaluations, read_events, read_updates
from respawn.training.config import RunConfig
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig

CONFIG = RunConfig(
    updates=6,
    device="cpu",
    world=ForeignConfig(env_id="CartPole-v1"),
    model=ModelConfig(hidden_sizes=(8,)),
    learner=PPOConfig(epochs=1, minibatches=1),
    collection=CollectionConfig(num_lanes=2, horizon_steps=8),
    evaluation=EvaluationConfig(every_updates=2, episodes=2, num_lanes=2),
    observers=ObserversConfig(console=False, tensorboard=False),
)


def test_a_run_stops_where_an_evaluation_says_so_and_can_be_resumed(tmp_path: Path) -> None:
    heard: list[int] = []

    def stop_when(report: EvaluationReport) -> str | None:
        heard.append(report.update)
        return "not promising" if report.update == 4 else None

    folder, outcome = begin(CONFIG, preset="tiny", runs_dir=tmp_path, name="cut", stop_when=stop_when)
    assert heard == [2, 4]
    assert (outcome.status, outcome.exit_code, outcome.updates) == ("stopped", 0, 4)
    assert read_status(folder).status == "stopped"
    said = [timed.event.message for timed in read_events(folder) if timed.event.kind == "stopped"]
    assert said == ["stopped at update 4: not promising"]

    outcome = take_up(folder, stop_when=stop_when)
    assert heard == [2, 4, 6]
    assert (outcome.status, outcome.updates) == ("finished", 6)
    whole, _ = begin(CONFIG, preset="tiny", runs_dir=tmp_path, name="whole")
    metrics = [
        [{k: v for k, v in row.metrics.items() if not k.startswith("time/")} for row in read_evaluations(each)]
        for each in (folder, whole)
    ]
    assert metrics[0] == metrics[1]


@pytest.mark.parametrize("threaded", [True, False])
def test_a_loop_that_collects_itself_is_never_idle_whatever_the_lag(tmp_path: Path, threaded: bool) -> None:
    collection = replace(CONFIG.collection, lag=1, threaded=threaded)
    folder, _ = begin(replace(CONFIG, updates=3, collection=collection), preset="tiny", runs_dir=tmp_path, name="lag")
    idle = [report.metrics["time/idle_share"] for report in read_updates(folder)]
    assert len(idle) == 3 and all((share > 0) == threaded for share in idle)
