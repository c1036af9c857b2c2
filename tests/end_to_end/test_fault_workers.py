"""A worker process of the world's that is killed: replaced, told of, and only so often."""

from dataclasses import replace

import pytest
from operators import alarms, the_alarm, whole
from tiny_runs import saving_every, tiny

from respawn.cli.main import main
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_episodes
from respawn.training.faults_config import FaultsConfig
from respawn.training.launch import begin, take_up
from respawn.worlds.foreign.config import ForeignConfig

AT = 53
"""The step of a lane, in the seventh rollout, at which its worker dies."""


def troubled(tmp_path, replacements):
    (tmp_path / "trouble").touch()
    world = ForeignConfig(
        env_id="Troubled-v0",
        imports=("troubled",),
        env_kwargs={"trouble": str(tmp_path / "trouble"), "how": "die", "at": AT},
        workers=2,
        max_replacements=replacements,
    )
    return tiny("ppo", updates=10, world=world, checkpoints=saving_every(5), evaluation=EvaluationConfig())


def test_it_is_replaced_and_its_episodes_say_so(tmp_path):
    folder, outcome = begin(troubled(tmp_path, 1), preset="test", runs_dir=tmp_path, name="lost")
    assert (outcome.status, outcome.exit_code, outcome.updates) == ("finished", 0, 10)
    event = the_alarm(folder, "worker_replaced")
    lost = event.facts["worker"]
    assert event.message.startswith(f"worker {lost} (lanes ")
    assert "died with signal SIGKILL in step" in event.message
    assert event.message.endswith("; replacing it (1 of 1)")
    assert (folder.path / event.facts["log"]).exists()
    ends = [row.episode.end for row in read_episodes(folder)]
    assert ends.count("worker lost") in (1, 2)  # as many as it had lanes
    assert whole(folder)[-1] == "u00000010"


@pytest.mark.slow
def test_more_often_than_is_allowed_is_a_failure_that_can_be_resumed(tmp_path, capsys):
    config = troubled(tmp_path, 0)
    folder, _ = begin(config.with_limits(5, None), preset="test", runs_dir=tmp_path, name="lost")
    assert (tmp_path / "trouble").exists()
    assert main(["resume", "lost", "--updates", "14", "--runs", str(tmp_path)]) == 1
    complaint = capsys.readouterr().err
    assert "died with signal SIGKILL in step" in complaint and "max_replacements allows are used up; see" in complaint
    assert complaint.count("\n") == 1
    assert "replacements that max_replacements allows" in the_alarm(RunFolder(tmp_path / "lost"), "failed").message
    assert read_status(folder).status == "failed" and whole(folder)[-1] == "u00000010"
    assert take_up(folder).updates == 14


def test_workers_that_start_one_after_the_other_do_not_stand_still(tmp_path):
    config = troubled(tmp_path, 1)
    (tmp_path / "trouble").unlink()
    config = replace(
        config,
        updates=2,
        world=replace(config.world, stagger_seconds=1.5),
        observers=replace(config.observers, heartbeat_seconds=0.2, stall_seconds=0.5),
        faults=FaultsConfig(stall="stop"),
    )
    folder, outcome = begin(config, preset="test", runs_dir=tmp_path, name="staggered")
    assert outcome.exit_code == 0 and not alarms(folder)
