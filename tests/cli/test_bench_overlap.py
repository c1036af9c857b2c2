import json

import pytest

from bench_cases import measure_here, read_csv

WORDS = ["bench", "overlap", "--updates", "2", "--repeats", "2", "--lanes", "2", "--horizon", "8", "--device", "cpu"]
EASY = ["--", "--learner.epochs", "1", "--learner.minibatches", "2"]


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    measure_here(monkeypatch)


def test_json_has_both_lags_and_their_ratio(respawn):
    answer = respawn(*WORDS, "--json", *EASY)
    measured = json.loads(answer.out)
    assert answer.exit_code == 0 and measured["decisions_per_update"] == 16 and measured["settings"] == EASY[1:]
    for lag in ("lag_0", "lag_1"):
        assert 0 < measured[lag]["learn_seconds"] < measured[lag]["total_seconds"]
    (cell,) = measured["cells"]
    assert [row["mode"] for row in cell["rows"]] == ["sync", "overlap"] and measured["ratio"] == cell["rows"][1][
        "ratio"
    ]
    assert cell["updates_dropped"] == {"sync": 3, "overlap": 3} and len(cell["turns"]["sync"]) == 2
    assert measured["threads"] == 1 and measured["machine"]["cores"] >= 1 and "host" not in measured["machine"]


def test_the_ratio_is_of_lag_1_to_lag_0_in_whichever_order(respawn, monkeypatch):
    from respawn.training import bench_case

    class Doubled:
        def __init__(self, config, pacing, *, writes_rows):
            self.decisions = 200 if config.collection.lag else 100

        def turn(self):
            shares = {"collect_share": 0.5, "learn_share": 0.5, "idle_share": 0.0, "others_cores": 0.0}
            return {"seconds": 1.0, "decisions": self.decisions, "updates": 3, "frames": 1, **shares}

        def close(self):
            pass

    monkeypatch.setattr(bench_case, "TrainingCase", Doubled)
    for lags in (["0", "1"], ["1", "0"]):
        measured = json.loads(respawn(*WORDS, "--lags", *lags, "--json").out)
        assert measured["ratio"] == 2
        assert {row["mode"]: row["ratio"] for row in measured["cells"][0]["rows"]} == {"sync": 1, "overlap": 2}


def test_the_table_fits_eighty_columns_and_files_are_written(respawn, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    files = ["--csv", str(tmp_path / "a.csv"), "--markdown", str(tmp_path / "a.md")]
    answer = respawn(*WORDS, *files, *EASY)
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and max(map(len, lines)) <= 80
    assert lines[0] == "cartpole-ppo: 2 turns of 2 updates, the first 3 of each dropped"
    heading = ["mode", "lanes", "steps", "decisions/s", "collect", "learn", "idle", "spread", "ratio"]
    assert lines[1].split() == heading and lines[3].split()[0] == "sync" and lines[3].split()[-1] == "1.00"
    assert lines[-1].startswith("lag 1 makes an update ") and lines[-1].endswith(" times as fast as lag 0")
    rows = read_csv(tmp_path / "a.csv")
    assert [(row["mode"], row["num_envs"], row["rollout"], row["error"]) for row in rows] == [
        *(("sync", "2", "8", ""), ("overlap", "2", "8", "")),
    ]
    assert all(float(row["updates_per_sec_mean"]) > 0 for row in rows)
    assert "# Overlap: cartpole-ppo: 2 turns of 2 updates" in (tmp_path / "a.md").read_text()


def test_one_turn_of_one_update_is_no_turns_of_updates(respawn, tmp_path):
    once = [*WORDS, "--repeats", "1", "--updates", "1", "--lags", "0"]
    answer = respawn(*once, "--markdown", str(tmp_path / "a.md"), *EASY)
    assert answer.out.startswith("cartpole-ppo: 1 turn of 1 update, the first ")
    assert "# Overlap: cartpole-ppo: 1 turn of 1 update\n" in (tmp_path / "a.md").read_text()


def test_every_size_is_measured_in_every_way_and_what_fails_is_a_row(respawn):
    # Two lanes of one step cannot be shared out to eight minibatches.
    sizes = ["--horizon", "1", "8", "--lags", "0", "0", "--actors", "0"]
    answer = respawn(*WORDS[:-4], *sizes, "--device", "cpu", "--json", "--", "--learner.minibatches", "8")
    measured = json.loads(answer.out)
    assert answer.exit_code == 1 and "ratio" not in measured
    tried = [(row["rollout"], row["mode"], bool(row["error"])) for cell in measured["cells"] for row in cell["rows"]]
    assert tried == [(1, "sync", True), (8, "sync", False)]
    assert "respawn: cartpole-ppo sync 2 x 1 failed: " in answer.err and "minibatches" in answer.err


def test_actors_are_in_the_table_by_their_number(respawn, monkeypatch):
    from respawn.training import bench_case

    class Quick:
        def __init__(self, config, pacing, *, writes_rows):
            self.collection = config.collection

        def turn(self):
            shares = {"collect_share": 0.5, "learn_share": 0.5, "idle_share": 0.0, "others_cores": 0.0}
            return {"seconds": 1.0, "decisions": 100 + self.collection.actors, "updates": 3, "gpu_util": 8.0, **shares}

        def close(self):
            pass

    monkeypatch.setattr(bench_case, "TrainingCase", Quick)
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*WORDS, "--actors", "0", "2")
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert max(map(len, lines)) <= 80 and "…" not in answer.out and "warning" not in answer.out
    assert " ".join(lines[5].split()) == "actors 2 2 8 102 50 % 50 % 0 % 8 % 1.02"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["cartpole"], "there is no preset 'cartpole'"),
        (["--lanes", "0"], "--lanes must be at least 1, not 0"),
        (["--horizon", "8", "0"], "--horizon must be at least 1, not 0"),
        (["--actors", "-1"], "--actors must be at least 0, not -1"),
        (["--repeats", "0"], "--repeats must be at least 1, not 0"),
        (["--updates", "0"], "--updates must be at least 1, not 0"),
        (["--warmup-fraction", "1"], "--warmup-fraction must be from 0.0 to 0.9, not 1.0"),
        (["--lags", "2"], "--lags wants"),
        (["--lags"], "--lags wants 0, 1 or both"),
        (["--csv", "/proc/no/a.csv"], "--csv wants a file for the results, and /proc/no/a.csv cannot be written ("),
        (
            ["--", "--collection.lag", "1"],
            "--collection.lag is decided by the bench, and would have no effect after --",
        ),
        (["--", "--collection.actors=2"], "--collection.actors is decided by the bench"),
        (["--lanes", "2", "--", "--collection.num-lanes", "4"], "--collection.num-lanes is decided by the bench"),
        (["--threads", "2", "--", "--threads", "1"], "--threads is decided by the bench, and would have no effect aft"),
        (["--", "--collection.no-threaded"], "--collection.no-threaded is decided by the bench"),
        (["--", "--weights-from", "nosuch"], "--weights-from is decided by the bench"),
        (["--", "--learner.clap", "1"], "there is no option --learner.clap for 'respawn train cartpole-ppo'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = respawn("bench", "overlap", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence) and not list(tmp_path.iterdir())
