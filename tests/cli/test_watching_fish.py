"""respawn play and video, on schools of fish that have learned nothing and are judged for 30 steps."""

import json
import os
import pty
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from respawn import weights
from respawn.cli import showing
from respawn.cli.outcomes import outcome, told
from respawn.cli.showing import status_line, tank_painter
from respawn.collection.config import CollectionConfig
from respawn.contracts.records import Episode
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder
from respawn.training.launch import begin
from respawn.training.playback import SchoolFacts, Step
from respawn.training.pretrained import export
from respawn.worlds.fish.config import FishConfig

SCHOOL = replace(
    find_preset("fish"),
    updates=1,
    device="cpu",
    threads=1,
    world=FishConfig(fish=4, limit_steps=30, neighbours=False),
    model=ModelConfig(hidden_sizes=(8,)),
    learner=PPOConfig(epochs=1, minibatches=1),
    collection=CollectionConfig(num_lanes=8, horizon_steps=4),
    observers=ObserversConfig(console=False, tensorboard=False),
)


@pytest.fixture(scope="module")
def small_school(tmp_path_factory):
    runs = tmp_path_factory.mktemp("schools") / "runs"
    begin(SCHOOL, preset="fish", runs_dir=runs, name="school")
    return runs


@pytest.fixture
def here(small_school, runs, tmp_path, monkeypatch):
    """The school in ./runs, beside the runs of other worlds; and no weights in the package."""
    (tmp_path / "weights").mkdir()
    monkeypatch.setattr(weights.resources, "files", lambda package: tmp_path / "weights")
    shutil.copytree(small_school / "school", tmp_path / "runs/school")
    return tmp_path


@pytest.fixture
def shipped(here):
    """A package that ships the school's weights as 'fish'."""
    export(RunFolder(here / "runs/school"), "newest", here / "weights/fish.json")


def test_without_a_terminal_schools_are_played_and_summed_up(respawn, here):
    answer = respawn("play", "fish", "school", "--fish", "12", "--episodes", "2")
    assert answer.exit_code == 0 and "there is no terminal here, so nothing is shown" in answer.sentence
    assert answer.out.startswith("run school, checkpoint u00000001\n")
    first, second = answer.out.splitlines()[1:]
    assert first.startswith("seed 3000000  ") and first.rstrip().endswith(" of 12 fish alive after 30 steps")
    assert second.startswith("seed 3000001  ")
    assert respawn("play", "school", "--fish", "12", "--episodes", "2").out == answer.out
    assert " of 96 fish alive after 5 steps" in respawn("play", "school", "--sampled", "--limit-steps", "5").out


def test_a_film_of_a_run_has_the_name_of_the_reference(respawn, here):
    answer = respawn("video", "school")
    assert answer.exit_code == 0 and answer.err == ""
    assert answer.out.startswith("runs/school/media/school_multi_fish_eval.mp4\n")
    assert (here / "runs/school/media/school_multi_fish_eval.mp4").stat().st_size > 10_000
    assert " of 96 fish alive after 30 steps" in answer.out and "the likeliest actions" in answer.out
    assert "replaced      an older film of this name" in respawn("video", "fish", "school").out
    sampled = respawn("video", "school", "--fish", "9", "--seed", "5", "--sampled")
    assert sampled.out.startswith("runs/school/videos/u00000001-s5-fish9-sampled.mp4\n")


def test_the_worst_of_some_is_the_worst_that_evaluate_finds(respawn, here):
    judged = json.loads(
        respawn("evaluate", "school", "--episodes", "8", "--fish", "12", "--only-greedy", "--json").out
    )["survival"]
    for which, extreme in (("worst", min(judged)), ("best", max(judged))):
        said = json.loads(
            respawn("video", "school", f"--{which}-of", "8", "--fish", "12", "--out", "a.gif", "--json").out
        )
        (episode,) = said["episodes"]
        assert episode["seed"] == 3_000_000 + judged.index(extreme)
        assert episode["alive"] == round(12 * extreme) and episode["fish"] == 12 and episode["as_played"]
    assert min(judged) < max(judged) and (here / "a.gif").read_bytes().startswith(b"GIF89a")


def test_play_writes_a_film_if_told_where(respawn, here):
    answer = respawn("play", "fish", "school", "--fish", "6", "--out", "school.mp4")
    assert answer.exit_code == 0 and answer.err == "" and (here / "school.mp4").stat().st_size > 10_000
    assert respawn("video", "school", "--fish", "6", "--out", "school.mp4").out.startswith(answer.out.rstrip())
    assert respawn("play", "recall", "--out", "recall.gif").exit_code == 0 and (here / "recall.gif").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["play", "mario", "school"], "'mario' was named, and run school, checkpoint u00000001 is in the fish world"),
        (["play", "fish", "recall"], "'fish' was named, and run recall, checkpoint u00000002 is in the recall world"),
        (["video", "fish", "pole"], "is in the foreign world; leave 'fish' out"),
        (["play", "fish"], "a run is wanted after 'fish': no weights of that world come with this copy"),
        (["play", "fish", "nothing"], "there is no run 'nothing'"),
        (["play", "school", "--level", "1-1"], "--level can be given for the Mario world only"),
        (["video", "school", "--sticky", "0.5"], "--sticky can be given for the Mario world only"),
        (["video", "school", "--plain"], "--plain is for runs in the Mario world, and school is in another one"),
        (["video", "school", "--movie", "a.fm2"], "--movie is for runs in the Mario world"),
        (["video", "school", "--must-clear"], "--must-clear is for runs in the Mario world"),
        (["video", "recall", "--fish", "3"], "--fish is for runs in the fish world, and recall is in another one"),
        (["video", "recall", "--worst-of", "3"], "--worst-of is for runs in the fish world"),
        (["play", "recall", "--fish", "3"], "--fish is for runs in the fish world, and recall is in another one"),
        (["play", "school", "--fish", "0"], "--fish must be at least 1, not 0"),
        (["video", "school", "--fish", "5000"], "--fish must be from 1 to 4,096, not 5000"),
        (["play", "school", "--fish", "5000"], "world.fish must be from 1 to 4,096, not 5000"),
        (["video", "school", "--worst-of", "2", "--best-of", "2"], "leave out --best-of or --worst-of"),
        (["video", "school", "--worst-of", "2", "--episodes", "3"], "--worst-of must be at least --episodes"),
        (["play", "school", "--out", "a.avi"], "a film is written as .mp4 or .gif, and 'a.avi' came"),
        (["play", "school", "--out", "a.mp4", "--window"], "--out writes a film and shows nothing"),
        (["map", "school"], "only Mario's levels have maps"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(respawn, here, words, sentence):
    answer = respawn(*words)
    assert answer.exit_code == 2 and sentence in answer.sentence
    assert not (here / "runs/school/videos").exists() and not (here / "runs/school/media").exists()


def test_a_film_that_went_otherwise_is_said(respawn, here, monkeypatch):
    from respawn.cli import video_fish

    film_schools = video_fish.film_schools
    monkeypatch.setattr(
        video_fish, "film_schools", lambda *a, **b: [replace(take, as_played=False) for take in film_schools(*a, **b)]
    )
    answer = respawn("video", "school", "--fish", "3", "--out", "a.mp4")
    assert answer.exit_code == 0 and "seed 3000000 went otherwise when it was filmed" in answer.sentence


def test_shipped_weights_need_no_run(respawn, here, shipped):
    shutil.rmtree(here / "runs")
    answer = respawn("play", "fish", "--fish", "12")
    assert answer.exit_code == 0 and answer.out.startswith("'fish', shipped with respawn\n")
    assert respawn("play", "fish", "fish", "--fish", "12").out == answer.out
    filmed = respawn("video", "fish")
    assert filmed.exit_code == 0 and (here / "fish-shipped-s3000000.mp4").is_file()


def test_in_a_terminal_the_tank_is_shown(here):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "respawn", "play", "fish", "school", "--fish", "12", "--speed", "20"]
    environment = {**os.environ, "COLORTERM": "truecolor", "TERM": "xterm"}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        sent = b""
        while True:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:  # the other side has left
                break
            sent += part
    os.close(leader)
    shown, _, after = sent.decode().partition("\x1b[?25h\x1b[?1049l")
    assert process.returncode == 0 and "▀" in shown and "seed 3000000" in shown and "TIME LIMIT" in shown
    assert "of 12 fish alive after 30 steps" in after


def test_the_tank_is_painted_as_large_as_the_terminal_shows_it(monkeypatch):
    for size, pixels in (((80, 24), 92), ((60, 50), 120), ((400, 200), 512), ((5, 2), 48)):
        monkeypatch.setattr(showing.shutil, "get_terminal_size", lambda size=size: os.terminal_size(size))
        assert tank_painter(window=False)._size == pixels
    assert tank_painter(window=True)._size == 512


def test_a_school_in_one_line():
    step = Step(6, None, None, (), 0.0, 0.0, school=SchoolFacts(11, 12, 3))
    assert status_line(step) == "alive 11/12  step   7  seed 3"
    episode = Episode(0, 3.0, 30, "time limit", {"alive": 11.0})
    assert status_line(replace(step, episode=episode)) == "alive 11/12  step   7  seed 3  TIME LIMIT"
    assert told(outcome(3, episode, 12)) == "11 of 12 fish alive after 30 steps"
