"""How far a plan has come, and whether what is left of it can be done."""

import shutil

import pytest

from respawn.checkpoints.store import find_newest
from respawn.errors import ConfigError, RespawnError, RunFolderError
from respawn.presets import find_preset
from respawn.runs.metadata import write_status
from respawn.training.launch import begin, take_up
from respawn.training.plan_file import PlanOrder, make_plan, read_plan_file
from respawn.training.plan_progress import only, progress_of, try_what_is_left

TEXT = """
updates = 2
device = "cpu"
[model]
hidden_sizes = [8]
[learner]
epochs = 1
minibatches = 1
[collection]
num_lanes = 2
horizon_steps = 4
[evaluation]
every_updates = 0
[observers]
console = false
tensorboard = false
[[stages]]
name = "one"
[[stages]]
name = "two"
[stages.learner]
clip = 0.1
[[stages]]
name = "three"
"""
MANY = "[learner]\nepochs = 2\nminibatches = 2\nclip = 0.4\nvalue_cost = 0.1\nentropy_cost = 0.5"


def plan_of(tmp_path, text=TEXT, **order):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return make_plan(read_plan_file(path), find_preset("cartpole-ppo"), "cartpole-ppo", PlanOrder(**order))


def train(plan, runs_dir, *numbers):
    """Begin and finish the runs of these stages."""
    for number in numbers:
        stage = plan.stages[number - 1]
        begin(stage.config, preset=plan.preset, runs_dir=runs_dir, name=stage.run)


def states(plan, runs_dir):
    return [progress.state for progress in progress_of(plan, runs_dir)]


@pytest.fixture
def runs_dir(tmp_path):
    return tmp_path / "runs"


def test_a_stage_is_new_then_begun_then_finished(tmp_path, runs_dir):
    plan = plan_of(tmp_path)
    assert states(plan, runs_dir) == ["new", "new", "new"]
    train(plan, runs_dir, 1, 2)
    first, second, third = progress_of(plan, runs_dir)
    assert (first.state, first.where, second.state, third.state) == (
        "finished",
        "at update 2 of 2",
        "finished",
        "new",
    )
    write_status(second.folder, "stopped", updates=2)  # a signal came between its last update and its end
    assert states(plan, runs_dir) == ["finished", "begun", "new"]
    shutil.rmtree(find_newest(second.folder.checkpoints).path)  # damaged and set aside: an update is to be made again
    write_status(second.folder, "finished", updates=2)
    assert states(plan, runs_dir) == ["finished", "begun", "new"]


def test_a_run_that_is_not_needed_any_more_may_be_gone(tmp_path, runs_dir):
    plan = plan_of(tmp_path)
    train(plan, runs_dir, 1, 2)
    shutil.rmtree(runs_dir / plan.stages[0].run)
    assert states(plan, runs_dir) == ["gone", "finished", "new"]
    try_what_is_left(progress_of(plan, runs_dir), runs_dir)


def test_a_stage_that_stops_at_its_goal_is_finished(tmp_path, runs_dir):
    text = TEXT.replace("every_updates = 0", "every_updates = 1\nepisodes = 1\nstop_at = 1.0")
    plan = plan_of(tmp_path, text)
    train(plan, runs_dir, 1)
    (first, *_) = progress_of(plan, runs_dir)
    assert (first.state, first.where) == ("finished", "at update 1, where its goal was reached")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            "clip = 0.1",
            "clip = 0.15",
            r"stage 'two' was .*: in run small-s0-2-two learner\.clip is 0\.1 and not 0\.15;",
        ),
        ("updates = 2", "updates = 3", r"stage 'one' was .*: in run small-s0-1-one updates is 2 and not 3;"),
        ("updates = 2", "updates = 2\nplanned_updates = 9", r"planned_updates is \d+ and not 9"),
        ("updates = 2", "updates = 2\nminutes = 9", "minutes is none and not 9"),
        ("[learner]", '[world]\nenv_id = "Acrobot-v1"\n[learner]', r"world\.env_id is CartPole-v1 and not Acrobot-v1"),
        ("[learner]\nepochs = 1\nminibatches = 1", MANY, r"; .*; .*; .* and 1 more;"),
    ],
)
def test_what_was_begun_with_other_settings_is_refused(before, after, sentence, tmp_path, runs_dir):
    train(plan_of(tmp_path), runs_dir, 1, 2)
    assert before in TEXT
    with pytest.raises(ConfigError, match=sentence):
        progress_of(plan_of(tmp_path, TEXT.replace(before, after, 1), name="small-s0"), runs_dir)


def test_what_decides_no_number_may_change(tmp_path, runs_dir):
    train(plan_of(tmp_path), runs_dir, 1)
    changed = TEXT.replace("console = false", "console = true").replace(
        "[model]", "[checkpoints]\nevery_updates = 1\n[model]"
    )
    assert states(plan_of(tmp_path, changed), runs_dir) == ["finished", "new", "new"]


def test_threads_that_are_left_to_the_machine_are_no_difference(tmp_path, runs_dir, monkeypatch):
    plan = plan_of(tmp_path, "threads = 0\n" + TEXT)
    train(plan, runs_dir, 1)
    monkeypatch.setattr("respawn.processes.limits._MEMBERSHIP", tmp_path / "no container")
    monkeypatch.setattr("respawn.training.device.os.sched_getaffinity", lambda pid: set(range(7)), raising=False)
    assert states(plan, runs_dir) == ["finished", "new", "new"]


def test_a_stage_that_was_renamed_is_not_mixed_in(tmp_path, runs_dir):
    train(plan_of(tmp_path), runs_dir, 1, 2)
    with pytest.raises(ConfigError, match="weights_from is small-s0-1-one and not small-s0-1-uno"):
        progress_of(plan_of(tmp_path, TEXT.replace('"one"', '"uno"')), runs_dir)


def test_a_stage_that_went_on_after_the_next_began_is_refused(tmp_path, runs_dir):
    plan = plan_of(tmp_path)
    train(plan, runs_dir, 1, 2)
    first = progress_of(plan, runs_dir)[0].folder
    shutil.rmtree(find_newest(first.checkpoints).path)
    with pytest.raises(
        RunFolderError, match=r"'two' began with the weights of run small-s0-1-one at update 2, which has "
    ):
        progress_of(plan, runs_dir)
    take_up(first)  # the same update again
    assert states(plan, runs_dir) == ["finished", "finished", "new"]


def test_all_that_is_left_is_tried_and_no_more(tmp_path, runs_dir):
    plan = plan_of(tmp_path)
    try_what_is_left(progress_of(plan, runs_dir), runs_dir)
    assert not runs_dir.exists()
    train(plan, runs_dir, 1)
    assert [path.name for path in runs_dir.iterdir()] == ["small-s0-1-one"]
    progress = progress_of(plan, runs_dir)
    try_what_is_left(progress, runs_dir)
    assert [path.name for path in runs_dir.iterdir()] == ["small-s0-1-one"]


@pytest.mark.parametrize(
    ("text", "trained", "sentence"),
    [
        (
            TEXT + "[stages.model]\nhidden_sizes = [9]\n",
            (),
            r"stage 'three': the weights of stage 'two', .* of another model",
        ),
        (
            TEXT + "[stages.model]\nhidden_sizes = [9]\n",
            (1, 2),
            r"stage 'three': --weights-from small-s0-2-two: the weights",
        ),
        (
            TEXT + "[stages.world]\nenv_id = 'Acrobot-v1'\n",
            (1,),
            r"stage 'three': .* are of CartPole-v1 .* not of Acrobot-v1",
        ),
        (
            TEXT + "[stages.schedules.progression]\nscript = 'JUMP:3'\n",
            (),
            "stage 'three': 'JUMP' is none of this world's",
        ),
        ('weights_from = "nobody"\n' + TEXT, (), "stage 'one': there is no run 'nobody'"),
    ],
)
def test_a_mistake_in_any_stage_is_found_before_the_first_is_trained(text, trained, sentence, tmp_path, runs_dir):
    plan = plan_of(tmp_path, text)
    train(plan, runs_dir, *trained)
    with pytest.raises(RespawnError, match=sentence) as refusal:
        try_what_is_left(progress_of(plan, runs_dir), runs_dir)
    assert refusal.value.exit_code == 2


def test_one_stage_alone_needs_the_one_before(tmp_path, runs_dir):
    plan = plan_of(tmp_path)
    assert [one.stage.name for one in only(progress_of(plan, runs_dir), "one")] == ["one"]
    with pytest.raises(
        ConfigError, match="--only two: it begins with the weights of stage 'one', which is not finished"
    ):
        only(progress_of(plan, runs_dir), "two")
    train(plan, runs_dir, 1)
    assert [one.stage.name for one in only(progress_of(plan, runs_dir), "two")] == ["two"]
    with pytest.raises(ConfigError, match="--only three: it begins with the weights of stage 'two'"):
        only(progress_of(plan, runs_dir), "three")
