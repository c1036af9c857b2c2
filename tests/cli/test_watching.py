"""respawn video, play and map, on a run of Mario that has learned nothing and is called back after 12 decisions."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys

import pytest

from respawn import weights
from respawn.cli.main import main
from respawn.cli.outcomes import outcome, told
from respawn.contracts.records import Episode
from respawn.runs.layout import RunFolder
from respawn.training.pretrained import export
from respawn.worlds.mario import level_map

SMALL = [
    *("--collection.horizon-steps", "4", "--collection.num-lanes", "2", "--learner.epochs", "1"),
    *("--learner.minibatches", "1", "--observers.no-tensorboard", "--observers.no-console", "--device", "cpu"),
    *("--model.hidden-sizes", "8", "--world.limit-steps", "12", "--updates", "1"),
]


@pytest.fixture(scope="module")
def small_mario(tmp_path_factory):
    runs = tmp_path_factory.mktemp("small") / "runs"
    assert main(["train", "mario", "--name", "small", "--runs", str(runs), *SMALL]) == 0
    return runs


@pytest.fixture
def here(small_mario, tmp_path, monkeypatch):
    """The run in ./runs, a cache of maps of its own, and wide tables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(level_map, "user_cache_folder", lambda: tmp_path / "cache")
    shutil.copytree(small_mario, tmp_path / "runs")
    return tmp_path


def test_a_film_goes_to_the_run_and_what_came_of_it_is_said(respawn, here):
    answer = respawn("video", "small", "--level", "1-1", "--start-jitter", "0")
    film = here / "runs/small/videos/u00000001-1-1-s3000000.mp4"
    assert answer.exit_code == 0 and film.stat().st_size > 10_000 and answer.err == ""
    assert answer.out.startswith("runs/small/videos/u00000001-1-1-s3000000.mp4\n")
    assert "replaced" not in answer.out
    assert re.search(r"seed 3000000  1-1 not cleared \(step limit\), x \d+, 0.8 s, 12 steps", answer.out)
    assert "run small, checkpoint u00000001, the likeliest actions" in answer.out
    again = respawn("video", "small", "--level", "1-1", "--start-jitter", "0", "--sticky", "0.5", "--sampled")
    assert "replaced" not in again.out and "videos/u00000001-1-1-s3000000-sticky0.5-sampled.mp4" in again.out
    assert "replaced      an older film of this name" in respawn("video", "small", "--start-jitter", "16").out


def test_json_says_the_same_and_must_clear_is_a_verdict(respawn, here):
    answer = respawn(
        *("video", "small", "--plain", "--out", "a.gif", "--movie", "a.fm2", "--episodes", "2"),
        *("--sampled", "--must-clear", "--json"),
    )
    said = json.loads(answer.out)
    assert answer.exit_code == 1 and said["film"] == "a.gif" and said["movie"] == "a.fm2" and not said["greedy"]
    assert [(episode["seed"], episode["cleared"]) for episode in said["episodes"]] == [
        (3000000, False),
        (3000001, False),
    ]
    assert (here / "a.gif").read_bytes().startswith(b"GIF89a")
    played = json.loads(respawn("movie", "a.fm2", "--json").out)
    assert (played["world"], played["stage"]) == (1, 1) and played["frames"] > 12 * 4


def test_the_best_of_some(respawn, here):
    answer = respawn("video", "small", "--best-of", "3", "--plain", "--json")
    assert answer.exit_code == 0
    assert json.loads(answer.out)["film"].endswith("u00000001-1-1-s3000000-best-of-3.mp4")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["video", "small", "--out", "a.avi"], "a film is written as .mp4 or .gif, and 'a.avi' came"),
        (["video", "small", "--level", "9-9"], "a level is called 1-1 to 8-4"),
        (["video", "small", "--movie", "a.fm2", "--level", "1-2"], "from there Start leads to 1-1 only"),
        (["video", "small", "--best-of", "2", "--episodes", "3"], "--best-of must be at least --episodes, which is 3"),
        (["video", "small", "--episodes", "0"], "--episodes must be at least 1"),
        (["video", "small", "--checkpoint", "u00000009"], "run small has no checkpoint 'u00000009'"),
        (["video", "small", "--sticky", "1.5"], "world.sticky must be from 0.0 to 0.99"),
        (["video", "nothing"], "there is no run 'nothing'"),
        (["play", "maria"], "(These come with respawn: fish, mario.)"),
        (["play", "small", "--rom", "nowhere.nes"], "the ROM nowhere.nes is not there"),
        (["video", "small", "--rom", "nowhere.nes"], "the ROM nowhere.nes is not there"),
        (["map", "small", "--rom", "nowhere.nes"], "the ROM nowhere.nes is not there"),
        (["play", "small", "--speed", "0"], "--speed must be from 0.01 to 100"),
        (["video", "small", "--out", "/proc/x.mp4"], "/proc/x.mp4 cannot be written ("),
        (["video", "small", "--movie", "/proc/x.fm2"], "/proc/x.fm2 cannot be written ("),
        (["map", "small", "--out", "/proc/new/x.png"], "/proc/new/x.png cannot be written ("),
        (["map", "small", "--out", "a.jpg"], "a figure is written as .png or .svg, and 'a.jpg' came"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(respawn, here, words, sentence):
    answer = respawn(*words)
    assert answer.exit_code == 2 and sentence in answer.sentence
    assert not (here / "runs/small/videos").exists()


def test_other_worlds_have_no_levels_and_no_maps(respawn, runs):
    assert "--level can be given for the Mario world only" in respawn("video", "recall", "--level", "1-1").sentence
    assert "only Mario's levels have maps" in respawn("map", "recall").sentence
    answer = respawn("video", "recall", "--out", "recall.mp4")
    assert answer.exit_code == 0 and "return" in answer.out
    assert "return" in respawn("play", "recall").out


@pytest.fixture
def shipped(here, monkeypatch):
    """A package that ships the small run's weights as 'mario'."""
    export(RunFolder(here / "runs/small"), "newest", here / "weights/mario.json")
    monkeypatch.setattr(weights.resources, "files", lambda package: here / "weights")
    return "mario"


def test_shipped_weights_need_no_run(respawn, here, shipped):
    shutil.rmtree(here / "runs")
    answer = respawn("video", shipped, "--plain")
    assert answer.exit_code == 0 and (here / "mario-shipped-1-1-s3000000.mp4").is_file()
    assert "'mario', shipped with respawn, the likeliest actions" in answer.out
    assert "'mario', shipped with respawn" in respawn("play", shipped).out
    assert respawn("map", shipped, "--episodes", "2").exit_code == 0 and (here / "mario-shipped-1-1-map.png").is_file()
    judged = json.loads(respawn("evaluate", shipped, "--episodes", "2", "--only-greedy", "--json").out)
    assert (judged["run"], judged["checkpoint"]) == ("mario", "shipped")
    assert judged["levels"]["1-1"]["clear_rate"] == 0.0


def test_a_run_of_the_same_name_comes_before_shipped_weights(respawn, here, shipped):
    (here / "runs/small").rename(here / "runs/mario")
    assert "run mario, checkpoint u00000001" in respawn("play", shipped).out


def test_a_config_that_cannot_be_used_is_named(respawn, here):
    (here / "runs/small/config.json").write_text('{"nonsense": 1}')
    for verb in ("play", "video", "map"):
        answer = respawn(verb, "small")
        assert answer.exit_code == 2 and "runs/small/config.json cannot be used" in answer.sentence


def test_a_map_is_drawn(respawn, here):
    answer = respawn("map", "small", "--episodes", "3", "--sticky", "0.25")
    assert answer.exit_code == 0 and (here / "runs/small/videos/u00000001-1-1-map-sticky0.25.png").is_file()
    assert "seeds    3000000 to 3000002" in answer.out and "replaced" not in answer.out
    assert "cleared  0 of 3" in answer.out and "ends     step limit 3" in answer.out
    said = json.loads(respawn("map", "small", "--episodes", "2", "--out", "m.png", "--json").out)
    assert said["ends"] == {"step limit": 2} and said["figure"] == "m.png"


def test_without_a_terminal_episodes_are_played_and_summed_up(respawn, here):
    answer = respawn("play", "small", "--episodes", "2")
    assert answer.exit_code == 0 and "there is no terminal here, so nothing is shown" in answer.sentence
    assert "seed 3000000  1-1 not cleared" in answer.out and "seed 3000001" in answer.out


def test_a_window_needs_a_display(respawn, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "tkinter", None)
    assert respawn("play", "small", "--window").exit_code == 2


def in_terminal(*words, interrupt_at=None):
    """Run a command in a terminal of its own; its exit code and all that it sent."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "respawn", *words]
    environment = {**os.environ, "COLORTERM": "truecolor", "TERM": "xterm"}
    process = subprocess.Popen(
        command,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
        # Tests that run in the background of a shell are started with Ctrl-C ignored, and so would this be.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(follower)
    sent = b""
    while True:
        if not select.select([leader], [], [], 60)[0]:
            process.kill()
            raise AssertionError(f"nothing for a minute after {sent[-200:]!r}")
        try:
            part = os.read(leader, 1 << 16)
        except OSError:
            break
        if not part:
            break
        sent += part
        if interrupt_at is not None and interrupt_at in sent:
            process.send_signal(signal.SIGINT)
            interrupt_at = None
    os.close(leader)
    return process.wait(), sent.decode()


def test_in_a_terminal_it_is_shown_and_the_terminal_put_back(here):
    exit_code, sent = in_terminal("play", "small", "--speed", "20")
    shown, _, after = sent.partition("\x1b[?25h\x1b[?1049l")
    assert exit_code == 0 and "▀" in shown and "World 1-1" in shown and "STEP LIMIT" in shown
    assert "1-1 not cleared (step limit)" in after and "▀" not in after


def test_ctrl_c_puts_the_terminal_back(here):
    exit_code, sent = in_terminal("play", "small", "--speed", "0.05", interrupt_at="▀".encode())
    assert exit_code == 130 and "\x1b[?25h\x1b[?1049l" in sent and "Traceback" not in sent
    assert sent.rstrip().endswith("interrupted")


def test_outcomes_of_worlds_with_and_without_levels():
    mario = Episode(0, 3.0, 9, "flag", {"level": "1-1", "cleared": 1.0, "x": 3161.0, "seconds": 24.09})
    assert told(outcome(1, mario)) == "1-1 cleared, x 3161, 24.1 s, 9 steps"
    assert told(outcome(1, Episode(0, 3.5, 1234, "terminated"))) == "return 3.50 after 1,234 steps (terminated)"
