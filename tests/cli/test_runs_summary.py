"""respawn runs summary: late numbers of one run and of several, as a table, JSON, CSV and a picture."""

import csv
import json
import math
from pathlib import Path

import pytest

from hand_made import HandMade, healthy


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return healthy(tmp_path / "runs/pole")


def shown(respawn, *words):
    answer = respawn("runs", "summary", *words)
    assert answer.exit_code == 0 and answer.err == ""
    return [line.rstrip() for line in answer.out.splitlines()]


def rows(lines):
    return {line.split()[0]: line.split()[1:] for line in lines if "/" in line}


def test_of_one_run_last_mean_spread_and_extremes(respawn, made):
    lines = shown(respawn, "pole", "--tail", "3")
    assert lines[0] == "updates, 3 rows, updates 28 to 30"
    assert lines[1].split() == ["metric", "last", "mean", "std", "min", "max"]
    assert rows(lines)["return/mean"] == ["30", "29", "1", "28", "30"]
    assert "evaluations, row of update 20" in lines
    assert rows(lines)["evaluation/return_mean"] == ["9.5", "9.5", "0", "9.5", "9.5"]
    assert "time/unix" not in rows(lines)  # nobody looks at that first


def test_metrics_are_chosen_by_name_and_by_pattern_in_the_order_asked_for(respawn, made):
    lines = shown(respawn, "pole", "--metrics", "time/learn*", "return/mean")
    assert list(rows(lines)) == ["time/learn_share", "return/mean"]


def test_names_that_nothing_is_called_by_are_told_where_others_are_found(respawn, made):
    words = ["runs", "summary", "pole", "--metrics", "retur/mean", "return/mean", "zzz/*", "los/policy", "time/*"]
    answer = respawn(*words)
    assert answer.exit_code == 0 and "return/mean" in rows(answer.out.splitlines())
    missed = "no row has a metric called retur/mean, zzz/*, los/policy"
    assert answer.sentence == f"{missed}; did you mean return/mean or loss/policy?"
    answer = respawn(*words, "--json")
    assert (
        answer.sentence.startswith(missed)
        and "return/mean" in json.loads(answer.out)["runs"]["pole"]["updates"]["metrics"]
    )
    HandMade(made.folder.path.with_name("mario")).status("finished").updates(2, **{"episode/x": 40.0})
    assert shown(respawn, "pole", "mario", "--metrics", "loss/policy", "episode/x")  # one of the runs has each


def test_several_runs_stand_side_by_side(respawn, made):
    HandMade(made.folder.path.with_name("mario")).status("finished").updates(2, **{"episode/x": 40.0})
    lines = shown(respawn, "pole", "mario", "--tail", "2")
    assert lines[0].startswith("updates (pole: 2 rows, updates 29 to 30; mario: 2 rows, updates 1 to 2)")
    assert rows(lines)["return/mean"] == ["30", "29.5", "±", "0.7071", "2", "1.5", "±", "0.7071"]
    assert rows(lines)["episode/x"] == ["40", "40", "±", "0"]
    names = list(rows(lines))
    assert names.index("episode/x") < names.index("loss/policy")  # in the order of looking, whoever has it
    assert "evaluations (pole: row of update 20; mario: no rows)" in lines


@pytest.mark.parametrize(
    ("columns", "names"),
    [("80", "abc"), ("120", ["cartpole-vtrace-s1-20261116-112621", "cartpole-vtrace-s2-20261116-112622"])],
)
def test_runs_that_do_not_fit_beside_each_other_have_tables_of_their_own(respawn, made, monkeypatch, columns, names):
    monkeypatch.setenv("COLUMNS", columns)
    for number, name in enumerate(names, start=1):
        healthy(made.folder.path.with_name(name)).evaluation(40, return_mean=100.5 + number)
    HandMade(made.folder.path.with_name("new"))
    lines = shown(respawn, *names, "new", "--metrics", "return/mean", "evaluation/return_mean", "time/*_share")
    assert max(map(len, lines)) <= int(columns) and "…" not in "".join(lines)
    assert [line for line in lines if line in (*names, "new")] == [*names, *names]  # of what has no rows there is none
    judged = lines[len(lines) - 1 - lines[::-1].index(names[0]) :]
    for number, name in enumerate(names, start=1):
        at = judged.index(name)
        assert judged[at + 1].split() == ["metric", "last", "mean", "std", "min", "max"]
        assert judged[at + 3].split()[:2] == ["evaluation/return_mean", f"{100.5 + number}"]


WIDE = {"value/explained_variance": -0.00012346, "time/decisions_per_second": 123_456.0, "loss/policy": -0.0123456}


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (90, ["last", "mean", "std", "min", "max"]),
        (80, ["last", "mean", "std"]),
        (60, ["last", "mean"]),
    ],
)
def test_where_room_is_short_there_are_fewer_numbers_with_whole_names(narrow, made, columns, shown):
    made.updates(1, **{name: 1.1 * value for name, value in WIDE.items()}).updates(1, **WIDE)
    lines = narrow(columns, "runs", "summary", "pole", "--tail", "2", "--metrics", *WIDE)
    assert lines[1].split() == ["metric", *shown] and set(rows(lines)) == set(WIDE)
    assert rows(lines)["value/explained_variance"][0] == "-0.0001235"
    assert rows(lines)["time/decisions_per_second"][:2] == ["123,456", "129,629"]


def test_where_not_even_those_fit_each_metric_has_lines_of_its_own(narrow, made):
    made.updates(1, **WIDE)
    lines = narrow(30, "runs", "summary", "pole", "--tail", "1", "--metrics", *WIDE)
    at = lines.index("value/explained_variance")
    assert lines[at + 1 : at + 3] == ["  last        -0.0001235", "  mean ± std  -0.0001235 ± 0"]


def test_what_is_not_finite_is_said_and_spoils_nothing(respawn, made):
    made.updates(1, **{"loss/policy": math.nan})
    row = rows(shown(respawn, "pole", "--metrics", "loss/policy"))["loss/policy"]
    assert row == ["(1", "not", "finite)", "nan", "0.5", "0", "0.5", "0.5"]
    answer = respawn("runs", "summary", "pole", "--metrics", "loss/policy", "--json")
    told = json.loads(answer.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    metric = told["runs"]["pole"]["updates"]["metrics"]["loss/policy"]
    assert (metric["last"], metric["mean"], metric["not_finite"]) == ("nan", 0.5, 1) and told["tail"] == 100


def test_the_numbers_as_a_file(respawn, made):
    shown(respawn, "pole", "--tail", "3", "--csv", "deep/down/numbers.csv")
    told = list(csv.DictReader(Path("deep/down/numbers.csv").read_text().splitlines()))
    row = next(each for each in told if each["metric"] == "return/mean")
    assert row == {
        "run": "pole",
        "stream": "updates",
        "metric": "return/mean",
        "first_update": "28",
        "last_update": "30",
        "rows": "3",
        "last": "30.0",
        "mean": "29.0",
        "std": "1.0",
        "min": "28.0",
        "max": "30.0",
        "count": "3",
        "not_finite": "0",
    }
    assert {each["stream"] for each in told} == {"updates", "evaluations"}


def test_a_picture_of_what_was_summed_up(respawn, made, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "respawn.evaluation.plots.side_by_side.draw_side_by_side",
        lambda folders, metrics, path, title: drawn.append((list(folders), metrics, str(path))),
    )
    shown(respawn, "pole", "--metrics", "return/mean", "evaluation/*", "--figure", "made.png")
    assert drawn == [(["pole"], ["evaluation/return_mean", "return/mean"], "made.png")]


def test_a_run_without_rows_is_summed_up_as_that(respawn, made):
    HandMade(made.folder.path.with_name("new"))
    assert shown(respawn, "new") == ["updates, no rows", "", "evaluations, no rows", ""]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn runs summary' wants one run or more, and none came; name one"),
        (["pole", "--tail", "-1"], "--tail must be at least 0, not -1"),
        (["pole", "pole"], "'respawn runs summary' wants different runs, and one came twice"),
        (["pole", "--metrics", "loss/polcy"], "no row has a metric called loss/polcy; did you mean loss/policy?"),
        (
            ["pole", "--metrics", "los/policy", "tim/learn_share"],
            "no row has a metric called los/policy, tim/learn_share;",
        ),
        (["pole", "--metrics", "zzz"], "no row has a metric called zzz; --metrics '*' shows all that there are"),
        (["pole", "--figure", "x.gif"], "a figure is written as .png or .svg, and 'x.gif' came"),
        (["nope"], "there is no run 'nope' in "),
    ],
)
def test_mistakes_are_answered_in_one_sentence(respawn, made, words, sentence):
    answer = respawn("runs", "summary", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence) and answer.out == ""
