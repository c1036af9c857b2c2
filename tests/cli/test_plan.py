"""respawn plan: stages in turn, each with the weights of the one before."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from respawn.checkpoints.store import find_newest
from respawn.learners.ppo.learner import PPOLearner
from respawn.runs.layout import RunFolder
from the_game import needed_rom

TEXT = """
preset = "cartpole-ppo"
updates = 2
device = "cpu"
[model]
hidden_sizes = [8]
[learner]
epochs = 1
minibatches = 1
[collection]
num_lanes = 2
horizon_steps = 8
[evaluation]
every_updates = 1
episodes = 2
[observers]
console = false
tensorboard = false
[[stages]]
name = "one"
[[stages]]
name = "two"
updates = 3
[stages.learner]
clip = 0.1
[[stages]]
name = "three"
"""
THREE = 'name = "three"'
EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("small.toml").write_text(TEXT)
    return Path("small.toml")


def sha256(run, update=None):
    found = find_newest(RunFolder(Path("runs") / run).checkpoints, only=None if update is None else f"u{update:08d}")
    return found.manifest.weights_sha256


def made(run):
    return find_newest(RunFolder(Path("runs") / run).checkpoints).manifest.updates


def test_each_stage_begins_with_the_weights_of_the_one_before(respawn, plan):
    answer = respawn("plan", "small.toml")
    assert (answer.exit_code, answer.err) == (0, "")
    assert answer.out.splitlines()[:3] == [
        "Stage 1, one: run small-s0-1-one begins with fresh weights.",
        "Stage 2, two: run small-s0-2-two begins with the weights of small-s0-1-one.",
        "Stage 3, three: run small-s0-3-three begins with the weights of small-s0-2-two.",
    ]
    assert sha256("small-s0-2-two", 0) == sha256("small-s0-1-one") != sha256("small-s0-1-one", 0)
    assert sha256("small-s0-3-three", 0) == sha256("small-s0-2-two") != sha256("small-s0-1-one")
    table = [line.split() for line in answer.out.splitlines() if "runs/small" in line]
    assert [(row[1], row[2], row[3], row[4], row[-1]) for row in table] == [
        ("one", "2", "32", "return", "runs/small-s0-1-one"),
        ("two", "3", "48", "return", "runs/small-s0-2-two"),
        ("three", "2", "32", "return", "runs/small-s0-3-three"),
    ]
    assert answer.out.splitlines()[-1] == "Judge it:   respawn evaluate small-s0-3-three"


def test_the_same_command_again_does_what_is_left(respawn, plan):
    assert respawn("plan", "small.toml").exit_code == 0
    before = sha256("small-s0-3-three")
    shutil.rmtree("runs/small-s0-3-three")
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 0
    assert answer.out.splitlines()[:3] == [
        "Stage 1, one: run small-s0-1-one is finished at update 2 of 2; passed over.",
        "Stage 2, two: run small-s0-2-two is finished at update 3 of 3; passed over.",
        "Stage 3, three: run small-s0-3-three begins with the weights of small-s0-2-two.",
    ]
    assert sha256("small-s0-3-three") == before
    shutil.rmtree("runs/small-s0-1-one")
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 0
    assert answer.out.startswith("Stage 1, one: run small-s0-1-one is gone, and a later stage has gone on from it;")
    assert not Path("runs/small-s0-1-one").exists()


def test_a_dry_run_says_what_would_be_done_and_trains_nothing(respawn, plan):
    answer = respawn("plan", "small.toml", "--dry-run", "--seed", "4")
    assert answer.exit_code == 0 and not Path("runs").exists()
    rows = [line.split() for line in answer.out.splitlines() if "small-s4" in line]
    assert rows == [
        ["1", "one", "small-s4-1-one", "2", "fresh", "new"],
        ["2", "two", "small-s4-2-two", "3", "stage", "one", "new"],
        ["3", "three", "small-s4-3-three", "2", "stage", "two", "new"],
    ]
    lines = [line.split() for line in answer.out.split("What differs:")[1].splitlines() if line]
    differing = {name: settings for name, *settings in lines}
    assert differing["one"] == ["nothing"]
    assert differing["two"] == ["updates", "3,", "learner.clip", "0.1"]
    assert answer.out.endswith("Nothing was trained; 3 of 3 stages are left to do, and can be done.\n")
    respawn("plan", "small.toml", "--only", "one")
    again = respawn("plan", "small.toml", "--dry-run")
    assert "2 of 3 stages are left" in again.out and made("small-s0-1-one") == 2
    assert not Path("runs/small-s0-2-two").exists()


def interrupt_at(patch, update, signals):
    """Let the update of this number, counted over all stages, be interrupted by these signals."""
    calls, real = [], PPOLearner.learn

    def learn(self, rollout, knobs):
        calls.append(1)
        if len(calls) == update:
            for number in signals:
                os.kill(os.getpid(), number)
        return real(self, rollout, knobs)

    patch.setattr(PPOLearner, "learn", learn)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_stage_is_resumed(respawn, plan, monkeypatch, number):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4, [number])
        answer = respawn("plan", "small.toml", "--name", "left")
    assert answer.exit_code == 128 + number
    assert answer.out.splitlines()[-3:] == [
        "Stopped in stage 2, two, at update 2, and saved.",
        "Run folder: runs/left-2-two",
        "Go on:      respawn plan small.toml --name left",
    ]
    assert not Path("runs/left-3-three").exists()
    answer = respawn("plan", "small.toml", "--name", "left")
    assert answer.exit_code == 0
    assert "Stage 2, two: going on with run left-2-two to update 3.\n" in answer.out
    assert respawn("plan", "small.toml", "--name", "straight").exit_code == 0
    for stage in ("1-one", "2-two", "3-three"):
        assert sha256(f"left-{stage}") == sha256(f"straight-{stage}")


def test_a_stage_that_is_not_waited_for_is_named(respawn, plan, monkeypatch):
    interrupt_at(monkeypatch, 4, [signal.SIGINT, signal.SIGINT])
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 130
    assert answer.sentence.startswith("stage 'two': run small-s0-2-two was interrupted in the middle of an update")


def test_a_failing_stage_stops_the_plan_and_is_named(respawn, plan):
    world = '[world]\nenv_id = "Trouble-v0"\n[world.env_kwargs]\nat = 100000\n'
    text = TEXT.replace("[model]", world + "[model]", 1)
    plan.write_text(text.replace("clip = 0.1\n", "clip = 0.1\n[stages.world.env_kwargs]\nat = 12\n"))
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 1
    assert answer.sentence.startswith("stage 'two': run small-s0-2-two failed: environment 'Trouble-v0' failed in step")
    assert answer.sentence.endswith("respawn resume small-s0-2-two")
    assert made("small-s0-1-one") == 2 and not Path("runs/small-s0-3-three").exists()


def test_a_stage_that_somebody_else_is_at_is_left_alone(respawn, plan, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4, [signal.SIGINT])
        respawn("plan", "small.toml")
    with RunFolder(Path("runs/small-s0-2-two")).lock():
        answer = respawn("plan", "small.toml")
    assert answer.exit_code == 2
    assert answer.sentence.startswith(f"stage 'two': run small-s0-2-two is in use by process {os.getpid()} on ")
    assert made("small-s0-2-two") == 2


def test_a_plan_that_was_changed_is_not_mixed(respawn, plan):
    assert respawn("plan", "small.toml").exit_code == 0
    before = {str(path): path.read_bytes() for path in Path("runs").glob("*/config.json")}
    plan.write_text(TEXT.replace("clip = 0.1", "clip = 0.2"))
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 2
    assert answer.sentence == (
        "stage 'two' was begun with other settings than small.toml has now: in run small-s0-2-two learner.clip is 0.1 "
        "and not 0.2; put the plan and its options back as they were, call it otherwise with --name, or delete "
        "runs/small-s0-2-two and the runs of later stages"
    )
    assert {str(path): path.read_bytes() for path in Path("runs").glob("*/config.json")} == before
    assert respawn("plan", "small.toml", "--name", "other", "--updates", "1").exit_code == 0
    assert [made(f"other-{stage}") for stage in ("1-one", "2-two", "3-three")] == [1, 1, 1]


def test_one_stage_alone_and_all_from_one_on(respawn, plan):
    assert respawn("plan", "small.toml", "--only", "two").sentence.endswith("which is not finished; first: --only one")
    assert not Path("runs").exists()
    assert respawn("plan", "small.toml", "--only", "one").exit_code == 0
    assert respawn("plan", "small.toml", "--only", "two").exit_code == 0
    assert sorted(path.name for path in Path("runs").iterdir()) == ["small-s0-1-one", "small-s0-2-two"]
    answer = respawn("plan", "small.toml", "--from", "two", "--name", "late")
    assert answer.exit_code == 0
    assert answer.out.startswith("Stage 2, two: run late-2-two begins with fresh weights.\nStage 3, three: ")
    assert "begun with other settings" in respawn("plan", "small.toml", "--name", "late").sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.toml"], "'respawn plan' wants a TOML file, and nowhere.toml cannot be read"),
        ([], "'respawn plan' wants FILE"),
        (["small.toml", "--only", "tow"], "--only tow: there is no such stage; did you mean two? small.toml has one"),
        (["small.toml", "--from", "four"], "--from four: there is no such stage; "),
        (["small.toml", "--from", "two", "--only", "two"], "--only is one stage, and --from is one and all after it"),
        (["small.toml", "--name", ""], "--name wants a name"),
        (["small.toml", "--name", "a/b"], "a run's name is made of 1 to 128 letters"),
        (["small.toml", "--updates", "0"], "--updates must be at least 1, not 0"),
        (["small.toml", "--seed", "-1"], "--seed must be at least 0, not -1"),
        (["small.toml", "--device", "abacus"], "stage 'one': --device must be auto, cpu, cuda or cuda:N, not 'abacus'"),
        (["small.toml", "--rom", "x.nes"], "small.toml, stage 'one': there is no setting world.rom"),
        (["small.toml", "--clip", "1"], "there is no option --clip for 'respawn plan'"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(respawn, plan, words, sentence):
    answer = respawn("plan", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence), answer.sentence
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('preset = "cartpole-ppo"', 'preset = "cartpole"', "there is no preset 'cartpole'"),
        (THREE, f"{THREE}\n[stages.learner]\nclp = 1", "small.toml, stage 'three': there is no setting learner.clp"),
        (THREE, f"{THREE}\n[stages.model]\nhidden_sizes = [9]", "stage 'three': the weights of stage 'two', which"),
        (THREE, 'name = "two"', "small.toml, stage 3: another stage is called 'two' already"),
    ],
)
def test_a_mistake_in_the_last_stage_is_found_before_the_first_begins(respawn, plan, before, after, sentence):
    plan.write_text(TEXT.replace(before, after))
    answer = respawn("plan", "small.toml")
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence), answer.sentence
    assert not Path("runs").exists()


def test_weights_of_a_run_on_the_command_line_of_train(respawn, runs, tiny):
    words = ["train", "cartpole-ppo", "--updates", "1", *tiny]
    assert respawn(*words, "--name", "next", "--weights-from", "pole").exit_code == 0
    assert sha256("next", 0) == sha256("pole")
    described = json.loads(respawn("runs", "show", "next", "--json").out)
    assert described["weights_from"]["weights_sha256"] == sha256("pole")
    assert "weights of pole at update 3" in respawn("runs", "show", "next").out
    assert "begun with" not in respawn("runs", "show", "pole").out
    answer = respawn(*words, "--name", "other", "--weights-from", "recall")
    assert answer.exit_code == 2 and answer.sentence.startswith("--weights-from recall: the weights of run recall, ")
    assert not (runs / "other").exists()


def test_the_references_phases_can_be_trained(respawn, tmp_path, monkeypatch):
    needed_rom()
    monkeypatch.chdir(tmp_path)
    file = EXPERIMENTS / "0006-reference-phases" / "plan.toml"
    assert respawn("plan", str(file), "--updates", "2", "--name", "phases").exit_code == 0
    assert sha256("phases-2-main", 0) == sha256("phases-1-bootstrap")
    assert sha256("phases-3-refine", 0) == sha256("phases-2-main")
    rows = [json.loads(line) for line in Path("runs/phases-1-bootstrap/updates.jsonl").read_text().splitlines()]
    assert rows[0]["collect/scripted_fraction"] == 45 / 64  # RIGHT+B:180 is 45 decisions
    events = [json.loads(line) for line in Path("runs/phases-1-bootstrap/events.jsonl").read_text().splitlines()]
    assert [event["facts"]["action"] for event in events if event["kind"] == "probed"] == ["RIGHT+B"]


def test_the_references_bootstrap_can_be_trained(respawn, tmp_path, monkeypatch):
    needed_rom()
    monkeypatch.chdir(tmp_path)
    file = EXPERIMENTS / "0007-reference-bootstrap" / "config.toml"
    monkeypatch.setattr("respawn.cli.new_run.tell_closing", lambda folder, outcome: outcome.exit_code)
    assert respawn("train", "--config", str(file), "--updates", "2", "--name", "boot").exit_code == 0
    rows = [json.loads(line) for line in Path("runs/boot/updates.jsonl").read_text().splitlines()]
    assert [row["collect/scripted_fraction"] for row in rows] == [1.0, 11 / 64]  # 60 and 15 decisions in each lane
