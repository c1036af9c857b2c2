import json
import re
from dataclasses import replace
from pathlib import Path

import av
import pytest
from PIL import Image

from respawn.cli import demonstration
from respawn.cli.demo import DemoArguments
from respawn.collection.config import CollectionConfig
from respawn.errors import VideoError
from respawn.presets import find_preset


@pytest.fixture
def short(monkeypatch, tmp_path):
    """A demo that learns for one small update and is judged on three episodes."""
    monkeypatch.chdir(tmp_path)
    preset = find_preset("mario")
    observers = replace(preset.observers, console=False, tensorboard=False)
    small = replace(preset, updates=1, collection=CollectionConfig(num_lanes=8, horizon_steps=128), observers=observers)
    monkeypatch.setattr(demonstration, "find_preset", lambda name: small)
    for trials in ("STEADY", "UNSTEADY"):
        monkeypatch.setattr(demonstration, trials, replace(getattr(demonstration, trials), episodes=3))


def test_what_was_learned_is_judged_filmed_and_drawn_in_the_run_folder(respawn, short, monkeypatch):
    answer = respawn("demo", "--name", "show")
    assert answer.exit_code == 1 and answer.err == ""  # nobody learns that fast
    assert re.search("World 1-1 is not learned after \\d+ seconds: it should be cleared in 90 of 100 ep", answer.out)
    assert "Cleared:   0 of 3 (95 % interval 0 to 56 %; " in answer.out
    assert "different episodes) on fresh seeds (3000000 to 3000002), each begun at a chance moment\n" in answer.out
    assert "Go on with 'respawn resume show --updates 2', or try another --seed." in answer.out
    assert respawn("resume", "show", "--updates", "2").exit_code == 0
    assert "  sticky:  0 of 3" in answer.out and "  beside:  always right 0, random 0" in answer.out
    assert "Judging and filming ...\n" in answer.out  # there is no terminal here
    videos = Path("runs/show/videos")
    for label, name in (("Film", "demo-1-1.mp4"), ("Curve", "demo-curve.png"), ("Figures", "demo.json")):
        assert f"{label}:".ljust(11) + f"runs/show/videos/{name}\n" in answer.out
    with av.open(str(videos / "demo-1-1.mp4")) as film:
        assert film.streams.video[0].frames > 60
    assert Image.open(videos / "demo-curve.png").width > 600
    figures = json.loads((videos / "demo.json").read_text())
    assert (figures["jitter"]["sticky"], figures["sticky"]["sticky"]) == (0.0, 0.25)
    assert figures["jitter"]["start_jitter"] == figures["sticky"]["start_jitter"] == 16
    assert figures["jitter"]["levels"]["1-1"]["episodes"] == 3
    assert "respawn evaluate show --levels all" in answer.out


def test_a_level_that_is_cleared_is_an_exit_code_of_zero(respawn, short, monkeypatch):
    monkeypatch.setattr(demonstration, "RELIABLE", 0.0)
    answer = respawn("demo", "--name", "show")
    assert answer.exit_code == 0
    assert re.search(r"World 1-1 is learned, from nothing, in \d+ seconds and 1,024 decisions\.", answer.out)


def test_ctrl_c_while_it_is_judged_says_that_the_run_is_saved(respawn, short, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(demonstration, "judge_levels", interrupt)
    answer = respawn("demo", "--name", "show")
    assert answer.exit_code == 130
    saved = "(The run runs/show itself is finished and saved; look at it: respawn play show)"
    assert answer.sentence == f"interrupted {saved}"


def test_without_a_film_the_rest_is_made_and_the_exit_code_is_one(respawn, short, monkeypatch):
    def fail(*_):
        raise VideoError("there is no encoder")

    monkeypatch.setattr(demonstration, "RELIABLE", 0.0)
    monkeypatch.setattr(demonstration, "_film", fail)
    answer = respawn("demo", "--name", "show")
    assert answer.exit_code == 1 and answer.sentence == "demo-1-1.mp4 could not be made: there is no encoder"
    assert "Film:" not in answer.out and Path("runs/show/videos/demo-curve.png").exists()


def test_it_stops_at_its_goal_and_after_five_minutes(tmp_path):
    config = demonstration.demo_config(DemoArguments(seed=3, rom=Path("a.nes")))
    assert (config.seed, config.minutes, config.device, config.world.levels) == (3, 5.0, "cpu", ("1-1",))
    assert config.evaluation.stop_at >= demonstration.RELIABLE and config.world.start_jitter == 16
    assert config.world.rom == str(Path.cwd() / "a.nes")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--minutes", "0"], "--minutes must be above 0, not 0.0"),
        (["--seed", "-1"], "--seed must be at least 0, not -1"),
        (["--rom", "nothing.nes"], "the ROM "),
        (["mario"], "'respawn demo' has no use for the word 'mario'"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(respawn, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    answer = respawn("demo", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
    assert list(tmp_path.iterdir()) == []
