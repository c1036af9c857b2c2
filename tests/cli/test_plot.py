import json
import subprocess
import sys

import pytest

from respawn.testing.fake_fish_run import make_fish_run


@pytest.fixture
def school(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return make_fish_run(tmp_path / "runs", "school", updates=9)


def test_what_was_written_is_said(school, respawn):
    answer = respawn("plot", "school", "--no-svg", "--no-gif")
    assert answer.exit_code == 0 and answer.err == ""
    told = {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[-1].strip() for line in answer.out.splitlines()}
    assert answer.out.startswith("school\n") and told["page"] == "runs/school/plots/index.md"
    assert told["plots"] == "12 png in runs/school/plots"
    assert told["artefacts"] == "5 json, 4 jsonl, 2 TensorBoard in runs/school/artefacts"
    assert told["learning"].startswith("Not learning: ") and "media" not in told and "left" not in told


def test_json_says_the_same(school, respawn):
    answer = respawn("plot", "school", "--json", "--no-svg", "--only", "survival", "curve_gif", "artefacts")
    said = json.loads(answer.out)
    assert said["run"] == "school" and said["left_out"] == {} and said["health"]["learning"] is False
    assert {"runs/school/plots/school_survival.png", "runs/school/media/school_curve.gif"} <= set(said["written"])
    assert all((school.path.parent.parent / path).is_file() for path in said["written"])


def test_what_was_left_out_is_said_with_its_reason(tmp_path, respawn):
    make_fish_run(tmp_path, "young", updates=1)
    answer = respawn("plot", "young", "--runs", str(tmp_path), "--no-svg")
    assert answer.exit_code == 0
    assert "gate_timeline, penalty_stage_debug.jsonl (no penalty gate has ruled yet)" in " ".join(answer.out.split())


def test_any_other_world_has_a_curve(runs, respawn):
    said = json.loads(respawn("plot", "pole", "--json").out)
    assert {path.rsplit("/", 1)[1] for path in said["written"]} >= {"pole_learning_health.png", "index.md"}
    assert said["health"]["learning"] is None and "3 of the 8 updates" in said["health"]["reasons"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["schol"], "there is no run 'schol' in"),
        (["school", "--only", "survial"], "run school has no figure called survial; choose from survival"),
        (["school", "--runs", "runs/school/meta.json"], "--runs wants a folder"),
        (["school", "--svg"], "--svg"),
        ([], "RUN"),
    ],
)
def test_mistakes_are_one_sentence(school, respawn, words, sentence):
    answer = respawn("plot", *words)
    assert answer.exit_code == 2 and sentence in answer.sentence
    assert not (school.path / "plots").exists()


def test_where_a_disk_is_full_the_file_is_named(school, respawn, no_room):
    with no_room():
        answer = respawn("plot", "school", "--only", "survival")
    path = "runs/school/plots/school_survival.png"
    assert answer.exit_code == 1 and f"File too large: '{path}'; check that" in answer.sentence
    assert not (school.path.parent.parent / path).exists()


def test_a_damaged_row_is_told(school, respawn):
    school.probes.write_text("{}\n")
    answer = respawn("plot", "school")
    assert answer.exit_code == 2 and "probes.jsonl, line 1 should be one Probe" in answer.sentence


def test_figures_need_no_torch(school):
    program = (
        "import sys; from respawn.cli.main import main; "
        "code = main(['plot', 'school', '--no-gif', '--no-svg', '--only', 'survival', 'gate_timeline', 'artefacts']); "
        "sys.exit(code or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=school.path.parent.parent, capture_output=True)
