import json
import shutil
from pathlib import Path

import pytest

from respawn.cli.levels_table import show_levels
from respawn.worlds.mario.levels import ALL_LEVELS

SCORE = {
    *("clear_rate", "interval", "cleared", "episodes", "courses", "x_mean", "x_interval", "x_std", "seconds_mean"),
    *("time_left_mean", "cleared_seconds_mean", "cleared_time_left_mean", "score_mean", "return_mean", "length_mean"),
    *("ends", "flags_mean", "reached"),
}


@pytest.fixture
def mario(runs, jumper):
    """The runs that commands look at, with the Mario run among them."""
    shutil.copytree(jumper / "jumper", Path("runs/jumper"))


@pytest.fixture
def judged(respawn, mario):
    def judge(*words: str) -> dict:
        answer = respawn("evaluate", "jumper", "--json", *words)
        assert answer.exit_code == 0, answer.err
        return json.loads(answer.out)

    return judge


def test_a_level_is_judged_four_ways_on_its_own_seeds(judged):
    found = judged("--episodes", "3", "--start-jitter", "9")
    assert list(found["levels"]) == ["1-1"]  # what the run learned in
    level = found["levels"]["1-1"]
    assert set(level) == SCORE | {"seeds", "sampled", "null_policies"}
    assert set(level["sampled"]) == set(level["null_policies"]["random"]) == SCORE
    assert set(level["null_policies"]) == {"always_right", "random"}
    assert level["episodes"] == 3 and level["seeds"] == [3_000_000, 3_000_002]
    assert level["clear_rate"] == level["cleared"] / 3 and level["interval"][0] <= level["clear_rate"]
    # Whoever runs right without looking runs into the first enemy.
    right = level["null_policies"]["always_right"]
    assert right["ends"] == {"death": 3} and 250 < right["x_mean"] < 400 and right["cleared"] == 0
    assert (found["start_jitter"], found["sticky"], found["seed_base"]) == (9, 0.0, 3_000_000)
    assert found["run"] == "jumper" and found["weights_sha256"] and found["machine"]["cpu"]


def test_what_else_is_judged_changes_no_level(judged):
    words = ["--episodes", "2", "--seed-base", "500", "--sticky", "0.25"]
    both = judged("--levels", "1-1,1-2", *words)
    assert both["levels"]["1-2"]["seeds"] == [10_500, 10_501] and both["sticky"] == 0.25
    alone = judged("--levels", "1-2", *words)
    assert alone["levels"] == {"1-2": both["levels"]["1-2"]}
    greedy = judged("--levels", "1-2", "--only-greedy", *words)["levels"]["1-2"]
    assert greedy == {name: both["levels"]["1-2"][name] for name in SCORE | {"seeds"}}
    without = judged("--levels", "1-2", "--no-null-policies", *words)["levels"]["1-2"]
    assert set(without) == SCORE | {"seeds", "sampled"}


def test_sticky_actions_change_what_happens(judged):
    steady, sticky = (judged("--episodes", "20", "--only-greedy", "--sticky", s)["levels"]["1-1"] for s in ("0", "0.9"))
    assert steady["courses"] < 20 and steady["ends"] != {} and steady["return_mean"] != sticky["return_mean"]


def test_levels_may_stand_apart(judged, respawn):
    words = ("--episodes", "1", "--only-greedy")
    assert list(judged("--levels", "1-1", "1-2", *words)["levels"]) == ["1-1", "1-2"]
    answer = respawn("evaluate", *words, "--json", "--levels", "1-1,", "1-2,1-3", "jumper")
    assert list(json.loads(answer.out)["levels"]) == ["1-1", "1-2", "1-3"]


def test_only_what_is_shown_is_explained(respawn, mario, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    greedy = respawn("evaluate", "jumper", "--episodes", "1", "--only-greedy").out
    (explained,) = [line for line in greedy.splitlines() if line.startswith("columns")]
    assert explained.endswith("of the likeliest actions; seconds: of cleared episodes")
    everything = respawn("evaluate", "jumper", "--episodes", "1").out
    assert "sampled: actions drawn as in training; right: holding RIGHT+B; random: any action" in everything


def test_a_table_fits_eighty_columns(respawn, mario, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("evaluate", "jumper", "--levels", "1-1, 8-4", "--episodes", "2")
    assert answer.exit_code == 0 and answer.err == ""
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert lines[0] == "jumper: 2 episodes a level" and max(map(len, lines)) <= 80
    assert lines[1].split()[:6] == ["level", "cleared", "95", "%", "sampled", "right"]
    rows = {line.split()[0]: line.split()[1] for line in lines[3:] if line[:1].isdigit() and "/" in line}
    assert set(rows) == {"1-1", "8-4"} and all(cleared.endswith("/2") for cleared in rows.values())
    assert any(line.endswith("of 2 levels cleared in 80 % of the episodes or more") for line in lines)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["jumper", "--levels", "9-1"], "a level is called 1-1 to 8-4, world and stage, and '9-1' is none"),
        (["jumper", "--levels", "1-1,1-1"], "levels must be named once each"),
        (["jumper", "--levels", ","], "--levels wants names such as 1-1,1-2 or all, and ',' came"),
        (["jumper", "--episodes", "10001"], "--episodes must be from 1 to 10,000, not 10001"),
        (["jumper", "--sticky", "1"], "--sticky must be from 0.0 to 0.99, not 1.0"),
        (["jumper", "--start-jitter", "-1"], "--start-jitter must be from 0 to 240, not -1"),
        (["jumper", "--sampled"], "a Mario run is judged greedily and by drawn actions at once"),
        (["jumper", "--rom", "nothing.nes"], "the ROM nothing.nes is not there"),
        (
            ["jumper", "--seed-base", "1000001"],
            "fresh seeds are wanted, and of 1000001 to 1000100, for level 1-1, some",
        ),
        (["jumper", "--seed-base", "999900", "--episodes", "101"], "fresh seeds are wanted"),
        (["pole", "--levels", "1-1"], "--levels is for runs in the Mario world, and pole is in another one"),
        (["pole", "--sticky", "0"], "--sticky is for runs in the Mario world"),
        (["pole", "--start-jitter", "0"], "--start-jitter is for runs in the Mario world"),
        (["pole", "--only-greedy"], "--only-greedy is for runs in the Mario or fish world"),
        (["pole", "--no-null-policies"], "--no-null-policies is for runs in the Mario or fish world"),
        (["pole", "--rom", "a.nes"], "--rom is for runs in the Mario world"),
    ],
)
def test_bad_input_is_one_sentence(respawn, mario, words, sentence):
    answer = respawn("evaluate", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_whole_games_tell_flags_and_levels(respawn, runs, tiny):
    answer = respawn("train", "mario", "--world.whole-game", "--updates", "1", "--name", "game", *tiny)
    assert "Learned: won 0 of 100 greedy games on fresh seeds" in answer.out and " flags on average" in answer.out
    words = ["evaluate", "game", "--episodes", "2", "--only-greedy"]
    shown = respawn(*words).out
    assert "from" in shown and "won" in shown and "flags" in shown and "1-1 2" in shown
    assert "from 0 of 1 levels the game is won in 80 % of the episodes or more" in shown
    level = json.loads(respawn(*words, "--json").out)["levels"]["1-1"]
    assert (level["flags_mean"], level["reached"]) == (0.0, {"1-1": 2})


@pytest.mark.parametrize("reached", [3, 12, 32])
def test_the_table_of_whole_games_fits_eighty_columns(capsys, monkeypatch, reached):
    monkeypatch.setenv("COLUMNS", "80")
    names = [str(level) for level in ALL_LEVELS[:reached]]
    score = {"clear_rate": 0.0}
    level = {
        "cleared": 0, "episodes": 100, "interval": (0.0, 0.04), "courses": 100, "sampled": score,
        "null_policies": {"always_right": score, "random": score}, "flags_mean": 2.5,
        "reached": dict.fromkeys(names, 8), "cleared_seconds_mean": None, "ends": {"game over": 100}, "seeds": [0, 99],
    }  # fmt: skip
    found = {
        "run": "game", "episodes": 100, "whole_game": True, "mastered_rate": 0.8, "mastered_levels": 0, "sticky": 0.0,
        "start_jitter": 0, "noop_starts": 0, "frame_skip": 4, "maze_ends": False, "region": "ntsc",
        "always_right_holds": "RIGHT+B", "checkpoint": "u1", "weights_sha256": "0", "levels": {"1-1": level},
    }  # fmt: skip
    show_levels(found)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert lines[1].split() == ["from", "won", "95", "%", "sampled", "right", "random", "flags", "seconds", "ends"]
    table = " ".join(" ".join(lines).split())
    assert all(name in table for name in names) and "…" not in table and "game" in table


def test_episodes_that_are_cut_say_how_far_they_came(judged):
    level = judged("--episodes", "2", "--only-greedy", "--limit-steps", "5")["levels"]["1-1"]
    assert level["ends"] == {"evaluation limit": 2} and level["clear_rate"] == 0.0
    assert 40 <= level["x_mean"] < 100 and level["reached"] == {"1-1": 2}
