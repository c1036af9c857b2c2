import errno
import os
import re
import socket

import pytest

from bench_cases import read_csv
from respawn.cli import bench_files
from respawn.cli.bench_files import ResultFiles, called_by, markdown_text, others_told, provenance, shown, used_columns
from respawn.errors import ConfigError
from respawn.training.bench_summary import COLUMNS

ROWS = [
    {"mode": "sync", "num_envs": 8, "rollout": 32, "steps_per_sec_mean": 12345.678, "ratio": 1.0, "spread": 0.123},
    {"mode": "overlap", "num_envs": 8, "rollout": 32, "error": "it | broke"},
]


def test_csv_has_all_columns_and_nothing_for_what_is_not_known(tmp_path):
    ResultFiles(tmp_path / "a.csv", None, "T").write(ROWS)
    first, second = read_csv(tmp_path / "a.csv")
    assert tuple(first) == COLUMNS
    assert first["steps_per_sec_mean"] == "12345.7" and first["replay_fill_final"] == "" and first["error"] == ""
    assert second["error"] == "it | broke" and second["steps_per_sec_mean"] == ""


def test_markdown_names_the_machine_and_has_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["respawn", "bench", "overlap"])
    files = ResultFiles(None, tmp_path / "a.md", "Overlap: pole", ("First.", "Second."))
    files.write(ROWS)
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert lines[0] == "# Overlap: pole" and lines[-3:] == ["First.", "", "Second."]
    about = "\n".join(lines[2:7])
    assert re.match(r"- machine: .+ cores?, [\d.]+ GiB\n- versions: Python 3\.\d+", about) and "torch 2." in about
    assert re.search(r"- command: `respawn .*`\n- commit: .+\n- date: \d{4}-\d\d-\d\d$", about)
    assert lines[8] == "| mode | lanes | steps | decisions/s | spread | ratio | error |"
    assert lines[9] == "| --- | ---: | ---: | ---: | ---: | ---: | --- |"
    assert lines[10:12] == [
        "| sync | 8 | 32 | 12,346 | 12 % | 1.00 |  |",
        "| overlap | 8 | 32 |  |  |  | it / broke |",
    ]
    assert socket.gethostname() not in provenance()["machine"].values()


def test_a_file_that_is_written_again_is_whole_at_any_time(tmp_path):
    files = ResultFiles(tmp_path / "a.csv", tmp_path / "a.md", "T")
    files.write(ROWS)
    files.write(ROWS[:1])
    assert len(read_csv(tmp_path / "a.csv")) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.md"]


def test_a_file_that_cannot_be_written_keeps_no_other_from_it(tmp_path, monkeypatch):
    files = ResultFiles(tmp_path / "a.csv", tmp_path / "a.md", "T")
    real = bench_files.write_result

    def write_result(path, text):
        if path.suffix == ".csv":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        real(path, text)

    monkeypatch.setattr(bench_files, "write_result", write_result)
    unwritten = files.write(ROWS)
    assert list(unwritten) == [tmp_path / "a.csv"] and unwritten[tmp_path / "a.csv"].errno == errno.ENOSPC
    assert (tmp_path / "a.md").is_file()
    monkeypatch.setattr(bench_files, "write_result", real)
    assert files.write(ROWS) == {} and len(read_csv(tmp_path / "a.csv")) == 2


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    ResultFiles(tmp_path / "link.csv", None, "T").write(ROWS)
    assert (tmp_path / "link.csv").is_symlink() and len(read_csv(tmp_path / "real.csv")) == 2


def test_files_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=f"--csv wants a file for the results, and {tmp_path} is a folder"):
        ResultFiles(tmp_path, None, "T")
    with pytest.raises(ConfigError, match="--markdown wants a file for the results"):
        ResultFiles(None, tmp_path, "T")
    with pytest.raises(ConfigError, match="--csv and --markdown want a file each"):
        ResultFiles(tmp_path / "a", tmp_path / "." / "a", "T")


def test_commands_are_told_without_where_the_results_went():
    places = ["--csv", "/tmp/a.csv", "--lanes", "8", "--markdown=b", "--json"]
    words = ["/x/__main__.py", "bench", "world", *places, "--", "--name", "a b"]
    assert called_by(words) == "respawn bench world --lanes 8 -- --name 'a b'"


def test_work_of_others_is_told_where_there_was_some():
    assert others_told([{"others_cores": 0.1}, {"others_cores": None}, {}]) == []
    (sentence,) = others_told([{"others_cores": 0.1}, {"others_cores": 1.26}])
    assert "others kept up to 1.3 cores busy" in sentence
    assert markdown_text("T", [{"mode": "a", "others_cores": 1.26}]).endswith(f"\n\n{sentence}\n")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("collect_share", 0.914, "91 %"),
        ("gpu_util_mean_window", 8.2, "8 %"),
        ("steps_per_sec_mean", 79.6, "80"),
        ("updates_per_sec_mean", 0.1234, "0.123"),
        ("updates_per_sec_mean", 123.4, "123"),
        ("ratio", 1.234, "1.23"),
        ("ratio", 275.4, "275"),
        ("others_cores", 0.04, "0.0"),
        ("num_envs", 160_000, "160,000"),
        ("mode", "a|b", "a/b"),
        ("error", None, ""),
    ],
)
def test_values_are_short(name, value, text):
    assert shown(name, value) == text


def test_columns_of_which_nothing_is_known_are_left_out():
    assert used_columns([{"mode": "a", "ratio": None}, {"mode": "b", "error": ""}]) == ["mode"]
