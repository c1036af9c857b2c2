import json

import pytest

from respawn.training import world_trials

QUICK = ("doctor", "worlds", "--backend", "gymnasium", "--trials", "1", "--lanes", "2", "--workers", "0")


def test_a_world_is_tried_for_real(respawn, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*QUICK, "--steps", "30", "--out", str(tmp_path / "out"))
    assert answer.exit_code == 0
    assert answer.err.startswith("gymnasium 1 of 1: ok, 2 x 30 steps in ")
    assert "1 of 1" in answer.out and "all steps" in answer.out
    assert max(map(len, answer.out.splitlines()[:-2])) <= 80
    (line,) = (tmp_path / "out" / "report.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["ok"] and record["steps_done"] == 30 and record["seed"] == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["ok"] == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.jsonl", "summary.json"]


def test_one_that_fails_makes_the_exit_code_1_and_leaves_what_it_had(respawn, tmp_path):
    trouble = ("--env-id", "Trouble-v0", "--imports", "trouble_env", "--steps", "60")
    answer = respawn(*QUICK, *trouble, "--out", str(tmp_path / "out"), "--json")
    assert answer.exit_code == 1
    summary = json.loads(answer.out)
    (record,) = summary["records"]
    assert "raised ValueError: the pole" in record["error"] and record["steps_done"] == 39
    assert summary["backends"]["gymnasium"]["top_errors"] == [{"error": record["error"], "trials": 1}]
    assert (tmp_path / "out" / "gymnasium-001" / "trial.jsonl").is_file()


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Every trial ends as it is told to, at once."""
    plans = []

    def ending(error=None, took=0.25):
        def run_trial(plan, folder):
            plans.append(plan)
            seconds = dict.fromkeys(("construct_seconds", "reset_seconds", "step_seconds", "duration_seconds"), took)
            if error is not None:
                folder.mkdir(parents=True)
                (folder / "trial.out").write_text("the last words\n")
            return {
                **{"trial": plan.trial, "backend": plan.backend, "num_lanes": plan.num_lanes, "workers": plan.workers},
                **{"steps": plan.steps, "steps_done": plan.steps, "episodes": 2, "ends": {}, "ok": error is None},
                **{**seconds, "error": error, "diagnostics": None if error is None else str(folder)},
            }

        monkeypatch.setattr(world_trials, "run_trial", run_trial)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        return plans

    return ending


def test_all_worlds_are_tried_one_after_the_other(respawn, recorded, monkeypatch):
    plans = recorded()
    monkeypatch.setattr("respawn.training.world_backends.check_backend", lambda backend: None)
    answer = respawn("doctor", "worlds", "--trials", "2", "--lanes", "3", "--seed", "7")
    assert answer.exit_code == 0
    assert [(plan.backend, plan.trial, plan.workers, plan.seed) for plan in plans] == [
        ("engine", 1, 0, 7), ("engine", 2, 0, 8), ("fish", 1, 0, 7), ("fish", 2, 0, 8),
        ("gymnasium", 1, 3, 7), ("gymnasium", 2, 3, 8),
        ("gym-super-mario-bros", 1, 3, 7), ("gym-super-mario-bros", 2, 3, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(("took", "shown"), [(0.00071, "0.001"), (9.99, "9.990"), (61.71, "61.7"), (107.8, "108")])
def test_the_table_fits_a_terminal_however_long_it_took(respawn, recorded, monkeypatch, took, shown):
    monkeypatch.setenv("COLUMNS", "80")
    recorded(took=took)
    monkeypatch.setattr("respawn.training.world_backends.check_backend", lambda backend: None)
    answer = respawn("doctor", "worlds", "--trials", "40")
    assert max(map(len, answer.out.splitlines())) <= 80 and "…" not in answer.out
    assert answer.out.count(shown) == 3 * 3 * 4 and answer.out.count("40 of 40") == 4


def test_in_a_narrow_window_no_number_is_cut_off(narrow, recorded):
    recorded(took=61.71)
    lines = narrow(60, *QUICK)
    assert lines == [
        "gymnasium", "  good          1 of 1",
        *(f"  {what:<12}  least 61.7, mean 61.7, most 61.7" for what in ("construct, s", "reset, s", "all steps, s")),
        "  episodes      2",
    ]  # fmt: skip


def test_what_cannot_be_tried_is_left_out_unless_it_was_asked_for(respawn, recorded, monkeypatch):
    plans = recorded()
    monkeypatch.setattr("respawn.training.world_backends._PEER_PACKAGES", {"no_such_package": "no-such-package==1.0"})
    monkeypatch.setattr("respawn.training.world_backends.find_rom", lambda: None)
    answer = respawn("doctor", "worlds", "--trials", "1")
    assert answer.exit_code == 0 and {plan.backend for plan in plans} == {"engine", "fish", "gymnasium"}
    assert "respawn: gym-super-mario-bros is left out: gym-super-mario-bros cannot be tried: pip install" in answer.err
    answer = respawn("doctor", "worlds", "--backend", "gym-super-mario-bros")
    assert answer.exit_code == 2 and "pip install no-such-package==1.0" in answer.sentence


def test_a_folder_of_its_own_is_kept_only_with_what_failed_in_it(respawn, recorded, tmp_path):
    recorded()
    assert "report and summary" not in respawn(*QUICK).out
    assert list(tmp_path.iterdir()) == []
    recorded(error="it broke")
    answer = respawn(*QUICK)
    assert answer.exit_code == 1
    assert "problem: 1 x it broke" in answer.out and "the last words" in answer.out
    (kept,) = tmp_path.iterdir()
    assert {path.name for path in kept.iterdir()} == {"report.jsonl", "summary.json", "gymnasium-001"}


def test_mistakes_are_met_with_a_sentence(respawn, tmp_path):
    (tmp_path / "file").touch()
    for words, sentence in (
        (("--trials", "0"), "--trials must be at least 1, not 0"),
        (("--workers", "-1"), "--workers must be at least 0, not -1"),
        (("--timeout", "0"), "--timeout must be above 0"),
        (("--backend", "nes"), "--backend wants one of engine, fish, gymnasium, gym-super-mario-bros, all, but 'nes'"),
        (("--out", str(tmp_path)), "--out wants a folder that is empty or not there yet"),
        (("--out", str(tmp_path / "file")), "--out wants a folder that is empty or not there yet"),
    ):
        answer = respawn("doctor", "worlds", *words)
        assert answer.exit_code == 2 and answer.sentence.startswith(sentence), words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--backend", "fish", "--env-id", "Acrobot-v1"], "--env-id is for gymnasium, and 'fish' came; leave it out"),
        (["--backend", "engine", "--imports", "a"], "--imports is for gymnasium, and 'engine' came; leave it out"),
        (
            ["--backend", "engine", "--workers", "2"],
            "--workers is for gymnasium and gym-super-mario-bros, and 'engine'",
        ),
        (["--backend", "gymnasium", "--env-id", "Nope-v0"], "no environment is registered as 'Nope-v0'"),
        (["--backend", "gymnasium", "--env-id", "a b"], "world.env-id must look like 'CartPole-v1'"),
    ],
)
def test_what_would_have_no_effect_and_what_is_not_there_is_refused(respawn, recorded, words, sentence):
    plans = recorded()
    answer = respawn("doctor", "worlds", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence) and plans == []
