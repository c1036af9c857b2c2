import json

import pytest

from respawn.cli import bench_overlap

WORDS = ["bench", "overlap", "--updates", "2", "--repeats", "1", "--lanes", "2", "--horizon", "8"]


def test_json_has_both_lags_and_their_ratio(respawn, monkeypatch):
    measured = json.loads(respawn(*WORDS, "--json").out)
    assert measured["decisions_per_update"] == 16
    total = {lag: measured[lag]["total_seconds"] for lag in ("lag_0", "lag_1")}
    assert measured["ratio"] == pytest.approx(total["lag_0"] / total["lag_1"]) and min(total.values()) > 0


def test_table_fits_eighty_columns(respawn, monkeypatch):
    row = {"collect_seconds": 0.0398, "learn_seconds": 0.0865, "total_seconds": 0.127, "decisions_per_second": 8057.0}
    measured = {"preset": "cartpole-ppo", "updates": 20, "repeats": 3, "decisions_per_update": 1024, "ratio": 1.0}
    monkeypatch.setattr(bench_overlap, "_measure", lambda arguments: {**measured, "lag_0": row, "lag_1": row})
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in respawn(*WORDS).out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[3].split() == ["lag", "0", "39.8", "86.5", "127.0", "8,057"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["overlap", "cartpole"], "there is no preset 'cartpole'"),
        (["overlap", "--lanes", "0"], "--lanes must be at least 1, not 0"),
        (["overlap", "--repeats", "0"], "--repeats must be at least 1, not 0"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence):
    answer = respawn("bench", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
