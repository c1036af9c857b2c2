"""A world that gives a number that is not finite, once: the run stops or goes on, as set, and the batch is kept."""

import json
from dataclasses import replace
from math import nan

import pytest
import torch
from operators import the_alarm, whole
from tiny_runs import saving_every, straight, timeless_rows, tiny, trace

from respawn.checkpoints.store import find_newest, read_part
from respawn.cli.main import main
from respawn.collection.config import CollectionConfig
from respawn.errors import LearningError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.evaluator import Evaluator
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.training.config import config_to_json
from respawn.training.faults_config import FaultsConfig
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig

CASES = {
    "ppo-reward": ("reward", "ppo", "none", 0),
    "ppo-gru-observation-lag1": ("observation", "ppo", "gru", 1),
    "vtrace-reward-lag1": ("reward", "vtrace", "none", 1),
    "replay-lstm-observation": ("observation", "vtrace-replay", "lstm", 0),
}
AT = 53
"""The step of the first lane, in the seventh rollout."""


def quick(*names):
    """All cases, of which only these belong to the default suite."""
    return [pytest.param(name, marks=[] if name in names else pytest.mark.slow) for name in CASES]


def troubled(case, tmp_path, **faults):
    how, learner, core, lag = CASES[case]
    trouble = {"trouble": str(tmp_path / "trouble"), "how": how, "at": AT}
    return tiny(
        learner,
        core,
        updates=12,
        world=ForeignConfig(env_id="Troubled-v0", imports=("troubled",), env_kwargs=trouble),
        collection=CollectionConfig(num_lanes=3, horizon_steps=8, lag=lag),
        checkpoints=saving_every(5),
        evaluation=EvaluationConfig(),
        faults=FaultsConfig(**faults),
    )


@pytest.mark.parametrize("case", quick("ppo-reward"))
def test_it_stops_and_once_that_is_mended_goes_on_as_if_nothing_had_been(case, tmp_path):
    config = troubled(case, tmp_path)
    (tmp_path / "trouble").touch()
    with pytest.raises(LearningError) as caught:
        begin(config, preset="test", runs_dir=tmp_path, name="spoilt")
    assert caught.value.exit_code == 1
    folder = RunFolder(tmp_path / "spoilt")
    event = the_alarm(folder, "failed")
    what = "rewards" if CASES[case][0] == "reward" else "observations"
    assert f"the world gave {what} that are not at update 7; the batch is in faults/u00000007" in event.message
    assert "mend what caused it, or set faults.not_finite to go-on in config.json, then resume" in event.message
    facts = json.loads((folder.faults / "u00000007" / "facts.json").read_text())
    assert facts["not_finite"][what]["first"][1] == 0  # the first lane
    assert read_status(folder).status == "failed" and whole(folder)[-1] == "u00000005"
    take_up(folder)  # the trouble is gone
    assert trace(folder) == straight(config, tmp_path)
    assert (folder.faults / "u00000007").is_dir()  # and what is known of it is not


@pytest.mark.parametrize("case", quick("replay-lstm-observation", "ppo-gru-observation-lag1"))
def test_it_goes_on_without_what_was_spoilt(case, tmp_path):
    config = troubled(case, tmp_path, not_finite="go-on")
    (tmp_path / "trouble").touch()
    folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="spoilt")
    assert (outcome.exit_code, outcome.updates) == (0, 12)
    event = the_alarm(folder, "update_dropped")
    assert event.level == "warning" and event.facts["update"] == 7
    rows = timeless_rows(folder.updates)
    assert [row["update"] for row in rows if row["learn/dropped"]] == [7]
    if CASES[case][3] == 0:
        expected = straight(config, tmp_path)
        assert rows[:6] == expected.updates[:6] and rows[7:] != expected.updates[7:]
    assert whole(folder)[-1] == "u00000012"
    found = find_newest(folder.checkpoints)
    for name in ("weights", "learner"):
        check_finite(read_part(found.path, found.manifest, name))


def check_finite(state) -> None:
    parts = state.values() if isinstance(state, dict) else [state]
    for part in parts:
        if isinstance(part, dict):
            check_finite(part)
        elif isinstance(part, torch.Tensor):
            assert part.isfinite().all()


@pytest.mark.slow
def test_a_run_that_dropped_an_update_can_be_left_like_any_other(tmp_path):
    config = troubled("ppo-reward", tmp_path, not_finite="go-on")
    (tmp_path / "trouble").touch()
    expected = straight(config, tmp_path)
    (tmp_path / "trouble").touch()
    folder, _ = begin(replace(config, updates=9), preset="test", runs_dir=tmp_path, name="left")
    take_up(folder, updates=12)
    assert trace(folder) == expected


@pytest.mark.slow
def test_the_setting_in_config_json_is_heeded_when_it_is_resumed(tmp_path, capsys):
    config = troubled("ppo-reward", tmp_path)
    folder, _ = begin(replace(config, updates=5), preset="test", runs_dir=tmp_path, name="spoilt")
    (tmp_path / "trouble").touch()
    settings = config_to_json(replace(config, faults=FaultsConfig(not_finite="go-on", most_dropped=0)))
    settings["world"]["env_kwargs"]["at"] = AT
    folder.config.write_text(json.dumps(settings))
    # Lanes count their steps anew in a process of their own, so it comes in the seventh rollout after this one.
    assert main(["resume", "spoilt", "--runs", str(tmp_path), "--updates", "14"]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("respawn: run spoilt failed: loss/policy must be finite and is nan: the world gave")
    assert "; the batch is in faults/u00000012; the weights were not moved" in complaint and complaint.count("\n") == 1
    assert "go on from it with: respawn resume spoilt --runs" in complaint
    assert whole(folder)[-1] == "u00000010"
    settings["faults"]["most_dropped"] = 1
    folder.config.write_text(json.dumps({**settings, "updates": 14, "planned_updates": 150}))
    assert main(["resume", "spoilt", "--runs", str(tmp_path), "--updates", "14"]) == 0
    assert whole(folder)[-1] == "u00000014"


def test_an_evaluation_that_is_no_number_is_told_of(tmp_path, monkeypatch):
    real = Evaluator.evaluate

    def evaluate(self, weights, clock, knobs):
        report = real(self, weights, clock, knobs)
        is_odd = clock.updates == 8
        return replace(report, metrics={**report.metrics, "evaluation/return_mean": nan}) if is_odd else report

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    folder, outcome = begin(tiny("ppo", updates=16), preset="test", runs_dir=tmp_path, name="odd")
    assert outcome.exit_code == 0
    event = the_alarm(folder, "evaluation_not_finite")
    assert event.facts == {"update": 8}
    assert event.message.startswith("the evaluation after update 8 came to nan, which is neither the best nor a goal:")
