import json
import re
import signal
from pathlib import Path

import pytest

from respawn.cli import closing
from respawn.errors import WorldError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.worlds.mario import rom as roms


def left_behind(runs: Path) -> set[str]:
    return {path.name for path in runs.iterdir()} - {"pole", "recall"}


def test_the_end_says_what_was_learned_and_how_to_go_on(respawn, runs, tiny):
    answer = respawn("train", "cartpole-ppo", "--updates", "2", "--seed", "7", "--name", "new", *tiny)
    assert answer.exit_code == 0 and answer.err == ""
    lines = answer.out.splitlines()
    assert lines[-4].startswith("Learned: return ") and lines[-4].endswith("after 64 decisions in 2 updates.")
    assert lines[-3:] == [
        "Run folder: runs/new",
        "Judge it:   respawn evaluate new",
        "Go on:      respawn resume new --updates 4",
    ]
    assert json.loads((runs / "new/config.json").read_text())["seed"] == 7


def test_the_end_of_a_mario_run_says_how_often_it_clears(respawn, runs, tiny):
    answer = respawn("train", "mario", "--updates", "1", "--name", "new", *tiny)
    assert answer.exit_code == 0
    lines = answer.out.splitlines()
    learned = next(line for line in lines if line.startswith("Learned: "))
    assert learned.startswith("Learned: cleared 0 of 100 greedy episodes on fresh seeds (95 % interval 0 to 4 %; ")
    assert re.search(r"; \d+ different\), x \d+ on average, after 32 decisions in 1 updates\.$", learned)
    assert lines[-4:-1] == [
        "Judge it:   respawn evaluate new",
        "Watch it:   respawn play new",
        "Film it:    respawn video new",
    ]


@pytest.mark.parametrize("words", [[], ["--seed", "3"], ["mario", "--seed", "3"]])
def test_without_a_preset_mario_is_trained(respawn, monkeypatch, words):
    called = []
    monkeypatch.setattr("respawn.cli.new_run.train", lambda *given: called.append(given[:2]) or 0)
    assert respawn("train", *words).exit_code == 0
    assert called == [("mario", ["--seed", "3"] if words else [])]


def test_the_other_regions_rom_is_refused_with_the_option_that_plays_it(respawn, runs, tmp_path):
    pal = tmp_path / "pal.nes"
    pal.write_bytes(roms.find_rom(region="pal").data)
    answer = respawn("train", "mario", "--rom", str(pal))
    assert answer.exit_code == 2 and left_behind(runs) == set()
    assert answer.sentence == (
        f"{pal} is the PAL program of Super Mario Bros., and NTSC is wanted; play it with --world.region pal, or name "
        "another file with --rom"
    )


def test_rom_is_short_for_the_worlds_and_holds_from_any_folder(respawn, monkeypatch, tmp_path):
    called = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("respawn.cli.new_run.train", lambda *given: called.append(given[:2]) or 0)
    respawn("train", "--rom", "a/b.nes", "--seed", "1")
    respawn("train", "mario", "--rom=b.nes")
    respawn("train", "mario", "--world.rom", "c.nes")
    assert called == [
        ("mario", ["--world.rom", f"{tmp_path}/a/b.nes", "--seed", "1"]),
        ("mario", [f"--world.rom={tmp_path}/b.nes"]),
        ("mario", ["--world.rom", f"{tmp_path}/c.nes"]),
    ]


def test_a_run_that_time_ended_goes_on_with_more_time(respawn, runs, tiny):
    answer = respawn("train", "cartpole-ppo", "--minutes", "0.0001", "--name", "new", "--runs", "else where", *tiny)
    assert answer.exit_code == 0
    assert answer.out.endswith("Go on:      respawn resume new --runs 'else where' --minutes 0.0002\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sead", "1"], "there is no option --sead for 'respawn train mario'; did you mean --seed?"),
        (["--rom"], "--world.rom wants a word, and nothing came"),
        (["--rom", "nothing.nes"], "the ROM "),
        (["cartpole-ppo", "--rom", "a.nes"], "there is no option --world.rom for 'respawn train cartpole-ppo'"),
        (["--evaluation.stop-at", "nan"], "evaluation.stop-at must be a finite number, not nan"),
        (["cartpole-pop"], "there is no preset 'cartpole-pop'; did you mean cartpole-ppo?"),
        (["cartpole-ppo", "--lerner.clip", "1"], "there is no option --lerner.clip for 'respawn train cartpole-ppo'"),
        (["memory-gru", "--world.env-id", "A-v0"], "there is no option --world.env-id for 'respawn train memory-gru'"),
        (["cartpole-ppo", "--updates", "many"], "--updates wants a whole number, but 'many' came"),
        (["cartpole-ppo", "--updates", "0"], "--updates must be from 1 to 99,999,999, not 0"),
        (["cartpole-ppo", "--learner.clip", "-1"], "learner.clip must be above 0, not -1.0"),
        (["cartpole-ppo", "--learner.clip", "nan"], "learner.clip must be above 0 and finite, not nan"),
        (
            ["cartpole-ppo", "--learner.optimizer.learning-rate", "inf"],
            "learner.optimizer.learning-rate must be above 0",
        ),
        (
            ["cartpole-ppo", "--learner.optimizer.learning-rate", "5"],
            "learner.optimizer.learning-rate must be from 0.0",
        ),
        (
            ["cartpole-ppo", "--learner.entropy-cost", "1000"],
            "learner.entropy-cost must be from 0.0 to 100.0, not 1000",
        ),
        (["cartpole-ppo", "--minutes", "inf"], "--minutes must be above 0 and finite, not inf"),
        (["cartpole-ppo", "--threads", "100000"], "--threads must be from 0 to 1,024, not 100000"),
        (
            ["cartpole-ppo", "--collection.num-lanes", "9999999"],
            "collection.num-lanes must be from 1 to 1,000,000, not",
        ),
        (["cartpole-ppo", "--collection.horizon-steps", "9999999"], "collection.horizon-steps must be from 1 to 1,000"),
        (
            ["cartpole-ppo", "--checkpoints.every-seconds", "nan"],
            "checkpoints.every-seconds must be at least 0 and fin",
        ),
        (
            ["cartpole-ppo", "--checkpoints.best-metric", "x"],
            "checkpoints.best-metric must be one of evaluation/return",
        ),
        (["cartpole-ppo", "--world.step-seconds", "inf"], "world.step-seconds must be from 0.001 to 1,000,000"),
        (["cartpole-ppo", "--world.env-kwargs", "a", "inf"], "'a' in world.env-kwargs must be finite, got inf"),
        (["cartpole-ppo", "--model.core-size", "0"], "model.core-size must be at least 1"),
        (["cartpole-ppo", "--world.workers", "-2"], "world.workers must be from 0 to 10,000, not -2"),
        (["cartpole-ppo", "--world.env-id", "CartPol-v1"], "no environment is registered as 'CartPol-v1'; close to it"),
        (["cartpole-ppo", "--world.imports", "nosuch"], "cannot import 'nosuch'"),
        (["cartpole-ppo", "--world.env-kwargs", "a", "3"], "environment 'CartPole-v1' does not take the arguments"),
        (["cartpole-ppo", "--device", "toaster"], "--device must be auto, cpu, cuda or cuda:N, not 'toaster'"),
        (["cartpole-ppo", "--device", "cuda:99"], "--device cuda:99: there is no such GPU here"),
        (["cartpole-ppo", "--name", "pole"], "a new run needs a new folder, but runs/pole exists; resume it or pick"),
        (["cartpole-ppo", "--name", "../up"], "a run's name is made of"),
        (["cartpole-ppo", "--name", ""], "--name wants a name, and an empty one came"),
        (["cartpole-ppo", "--runs", "runs/pole/meta.json"], "--runs wants a folder, but runs/pole/meta.json is a file"),
        (["cartpole-ppo", "--runs", "/proc/nowhere"], "the run folder /proc/nowhere/"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(respawn, runs, words, sentence):
    answer = respawn("train", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
    assert left_behind(runs) == set()
    assert len(answer.sentence) < 400


def test_a_run_meant_for_a_gpu_is_not_started_without_one(respawn, runs, tiny, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    answer = respawn("train", "cartpole-ppo", "--wants-gpu", "--name", "new")
    assert answer.exit_code == 2 and left_behind(runs) == set()
    assert answer.sentence.startswith("this run is meant for a GPU") and "--device cpu" in answer.sentence
    assert respawn("train", "cartpole-ppo", "--wants-gpu", "--name", "new", "--updates", "1", *tiny).exit_code == 0


def test_ctrl_c_before_the_first_update_leaves_nothing_behind(respawn, runs, tiny, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("respawn.training.reopening.assemble", interrupt)
    answer = respawn("train", "cartpole-ppo", "--name", "new", *tiny)
    assert (answer.exit_code, answer.sentence) == (130, "interrupted") and left_behind(runs) == set()


def in_trouble(how: str, *, times: int = 1) -> list[str]:
    trouble = ["--world.env-id", "Trouble-v0", "--world.env-kwargs", "how", how, "times", str(times)]
    return ["train", "cartpole-ppo", "--updates", "9", "--name", "new", "--checkpoints.every-updates", "1", *trouble]


def test_a_failing_run_says_why_and_how_to_go_on(respawn, runs, tiny):
    answer = respawn(*in_trouble("raise"), *tiny)
    assert answer.exit_code == 1
    assert answer.sentence.startswith("run new failed: environment 'Trouble-v0' failed in step of lane 0")
    assert "ValueError: the pole broke; the traceback is in runs/new/failure.txt" in answer.sentence
    assert answer.sentence.endswith("the newest checkpoint is u00000002, go on from it with: respawn resume new")
    assert "Traceback" in (runs / "new/failure.txt").read_text()


def test_an_error_that_is_not_ours_is_told_the_same_way(respawn, runs, tiny, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("respawn.learners.ppo.learner.PPOLearner.learn", fail)
    answer = respawn("resume", "pole", "--updates", "5")
    assert answer.exit_code == 1
    assert answer.sentence == (
        "run pole failed: ZeroDivisionError: division by zero; the traceback is in runs/pole/failure.txt, "
        "the newest checkpoint is u00000003, go on from it with: respawn resume pole"
    )
    # A second failure in the same folder is told as well.
    assert respawn("resume", "pole", "--updates", "5").sentence == answer.sentence


def test_ctrl_c_stops_at_the_next_update_and_saves(respawn, runs, tiny):
    answer = respawn(*in_trouble("interrupt"), *tiny, "--collection.num-lanes", "1")
    assert answer.exit_code == 128 + signal.SIGINT
    assert answer.out.splitlines()[-3:] == [
        "Stopped at update 3, and saved.",
        "Run folder: runs/new",
        "Go on:      respawn resume new",
    ]
    assert RunFolder(runs / "new").checkpoints.joinpath("u00000003").is_dir()


def test_a_second_ctrl_c_does_not_wait(respawn, runs, tiny):
    answer = respawn(*in_trouble("interrupt", times=2), *tiny, "--collection.num-lanes", "1")
    assert answer.exit_code == 130
    assert answer.sentence == (
        "run new was interrupted in the middle of an update; "
        "the newest checkpoint is u00000002, go on from it with: respawn resume new"
    )
    folder = RunFolder(runs / "new")
    assert read_status(folder).status == "stopped" and not folder.failure.exists()
    events = folder.events.read_text()
    assert "stopped at update 2, and not saved: a second signal came in the middle of an update" in events


def test_a_judgement_that_fails_does_not_look_like_a_lost_run(respawn, runs, monkeypatch):
    def fail(*_, **__):
        raise WorldError("the world fell over")

    monkeypatch.setattr(closing, "judge", fail)
    answer = respawn("resume", "pole", "--updates", "4")
    assert answer.exit_code == 1
    assert answer.sentence.startswith("the world fell over (The run runs/pole itself is finished and saved")


def test_ctrl_c_while_judging_keeps_the_run(respawn, runs, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(closing, "judge", interrupt)
    answer = respawn("resume", "pole", "--updates", "4")
    assert answer.exit_code == 130 and "the run itself is finished and saved" in answer.out
