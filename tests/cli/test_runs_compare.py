"""respawn runs compare: settings that differ, what came of them, as a table, JSON, CSV and a picture."""

import csv
import json
import shutil

import pytest

from hand_made import CONFIG, OF_NO_TENSORS, healthy


def table(respawn, *words):
    answer = respawn(*words)
    assert answer.exit_code == 0 and answer.err == ""
    return [line.rstrip() for line in answer.out.splitlines()]


def test_compare_two_and_three_runs(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copytree(runs / "pole", runs / "cartpole-ppo-s1-20261116-112621")
    shutil.copytree(runs / "pole", runs / "cartpole-ppo-s2-20261116-112622")
    config = json.loads((runs / "pole/config.json").read_text())
    config["learner"]["optimizer"]["learning_rate"] = 0.001
    (runs / "pole/config.json").write_text(json.dumps(config))
    (runs / "cartpole-ppo-s2-20261116-112622/config.json").write_text(json.dumps(config))
    config["learner"]["optimizer"]["learning_rate"] = 0.5
    (runs / "cartpole-ppo-s1-20261116-112621/config.json").write_text(json.dumps(config))
    two = table(respawn, "runs", "compare", "pole", "cartpole-ppo-s1-20261116-112621")
    rows = {line.split()[0]: line.split()[1:] for line in two if line.split()}
    assert rows["--learner.optimizer.learning-rate"] == ["0.001", "0.5"] and rows["updates"] == ["3", "3"]
    assert rows["weights"][0] == rows["weights"][1] and len(rows["weights"][0]) == 12
    names = [f"cartpole-ppo-s{seed}-20261116-11262{seed}" for seed in (1, 2)]
    three = table(respawn, "runs", "compare", "pole", *names)
    assert max(map(len, three)) <= 80 and any(line.startswith("--learner.optimizer.learning-rate ") for line in three)
    assert any("the same" in line for line in table(respawn, "runs", "compare", "pole", names[1]))


def test_compare_as_json_tells_absent_from_none(respawn, runs):
    compared = json.loads(respawn("runs", "compare", "pole", "recall", "--json").out)
    assert compared["settings"]["world.env_id"] == {"pole": "CartPole-v1"}
    assert compared["results"]["recall"]["updates"] == 2
    assert "seed" not in compared["settings"]


def test_compare_runs_of_the_same_name(respawn, runs):
    shutil.copytree(runs / "pole", runs.parent / "other/pole")
    compared = json.loads(respawn("runs", "compare", "pole", "other/pole", "--json").out)
    assert set(compared["results"]) == {"runs/pole", "other/pole"}


def test_settings_of_an_environment_may_be_called_anything(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    config = json.loads((runs / "pole/config.json").read_text())
    config["world"]["env_kwargs"] = {"[/x]": "[abc] d"}
    (runs / "recall/config.json").write_text(json.dumps(config))
    lines = table(respawn, "runs", "compare", "pole", "recall")
    assert ["--world.env-kwargs.[/x]", "-", "[abc]", "d"] in [line.split() for line in lines]


def test_in_a_narrow_window_no_number_is_broken(narrow, runs):
    for name in ("b", "c"):
        shutil.copytree(runs / "pole", runs / name)
    config = json.loads((runs / "pole/config.json").read_text())
    config["learner"]["optimizer"]["learning_rate"] = 0.00012346
    (runs / "b/config.json").write_text(json.dumps(config))
    lines = narrow(60, "runs", "compare", "pole", "b", "c")
    at = lines.index("--learner.optimizer.learning-rate")
    assert lines[at + 1 : at + 5] == ["  pole  0.001", "  b     0.0001235", "  c     0.001", ""]
    at = lines.index("weights")
    assert [len(line.split()[1]) for line in lines[at + 1 : at + 4]] == [12] * 3
    assert "evaluation, return" not in lines  # nobody was judged
    wide = narrow(90, "runs", "compare", "pole", "b", "c")
    assert ["--learner.optimizer.learning-rate", "0.001", "0.0001235", "0.001"] in [line.split() for line in wide]


def test_long_names_and_settings_are_wrapped_before_there_are_blocks(narrow, runs):
    name = "cartpole-ppo-s1-20261116-112621"
    shutil.copytree(runs / "pole", runs / name)
    config = json.loads((runs / "pole/config.json").read_text())
    config["model"]["hidden_sizes"] = [64, 128, 256, 512, 1024, 2048]
    (runs / name / "config.json").write_text(json.dumps(config))
    lines = narrow(60, "runs", "compare", "pole", name)
    split = [line.split() for line in lines]
    assert "".join(line[-1] for line in split[: lines.index("─" * len(lines[0]))] if line[-1] != "pole") == name
    assert ["--model.hidden-sizes", "64", "64", "64", "128", "256", "512", "1024"] in split and ["2048"] in split


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two runs made by hand, of other learning rates."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    made = healthy(tmp_path / "runs/slow")
    healthy(tmp_path / "runs/fast").evaluation(30, return_mean=12.5)
    learner = {"optimizer": {"learning_rate": 0.01}}
    (tmp_path / "runs/fast/config.json").write_text(json.dumps(CONFIG | {"learner": learner, "notes": ["a", "b"]}))
    return made.folder.path.parent


def test_the_same_as_a_file_has_nothing_shortened(respawn, two):
    shown = table(respawn, "runs", "compare", "slow", "fast", "--csv", "made/here.csv")
    assert ["evaluation,", "return", "9.5", "12.5"] in [line.split() for line in shown]
    rows = list(csv.reader((two.parent / "made/here.csv").read_text().splitlines()))
    assert rows[0] == ["what", "name", "slow", "fast"]
    settings = {row[1]: row[2:] for row in rows if row[0] == "setting"}
    assert settings == {"learner.optimizer.learning_rate": ["0.001", "0.01"], "notes": ["", '["a", "b"]']}
    results = {row[1]: row[2:] for row in rows if row[0] == "result"}
    assert results["weights_sha256"] == [OF_NO_TENSORS] * 2 and results["evaluation/return_mean"] == ["9.5", "12.5"]
    assert results["status"] == ["finished", "finished"] and results["time/total_seconds"] == ["", ""]


def test_the_learning_curves_are_drawn_side_by_side(respawn, two, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "respawn.evaluation.plots.side_by_side.draw_side_by_side",
        lambda folders, metrics, path, title: drawn.append((list(folders), metrics, path.name)),
    )
    assert respawn("runs", "compare", "slow", "fast", "--figure", "both.svg").exit_code == 0
    assert drawn == [(["slow", "fast"], ["evaluation/return_mean", "return/mean"], "both.svg")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn runs compare' wants two or more runs, and nothing came; name another"),
        (["slow"], "'respawn runs compare' wants two or more runs, and only 'slow' came; name another"),
        (["slow", "runs/slow"], "'respawn runs compare' wants different runs, and one came twice"),
        (["slow", "fast", "--figure", "x.gif"], "a figure is written as .png or .svg, and 'x.gif' came"),
        (["slow", "nope"], "there is no run 'nope' in "),
    ],
)
def test_mistakes_are_answered_in_one_sentence(respawn, two, words, sentence):
    answer = respawn("runs", "compare", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence) and answer.out == ""
