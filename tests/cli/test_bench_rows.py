import errno
import json
import os
from types import SimpleNamespace

import pytest

from bench_cases import read_csv
from respawn.cli import result_files
from respawn.cli.bench_files import ResultFiles
from respawn.cli.bench_rows import ResultsError, carry_through, check_sizes, print_rows, rows_of, tell_failures
from respawn.errors import ConfigError

GOOD = {"mode": "sync", "num_envs": 8, "steps_per_sec_mean": 100.0, "others_cores": 0.0}
BAD = {"mode": "overlap", "num_envs": 8, "rollout": 32, "of": "pole", "error": "no luck"}


def shown(measured):
    print(f"{len(rows_of(measured))} rows")


def test_files_are_written_as_rows_come(tmp_path, capsys):
    files = ResultFiles(tmp_path / "a.csv", tmp_path / "a.md", "T")
    counts = []

    def measure(tell, keep):
        keep({"rows": []})
        counts.append((tmp_path / "a.csv").exists())
        tell("first, of two", 0.5)
        keep({"rows": [GOOD]})
        counts.append(len(read_csv(tmp_path / "a.csv")))
        return {"cells": [{"rows": [GOOD]}, {"rows": [GOOD]}]}

    assert carry_through(files, measure, shown, as_json=False) == 0
    assert counts == [False, 1] and len(read_csv(tmp_path / "a.csv")) == 2
    said = capsys.readouterr()
    assert said.out == "2 rows\n"
    assert said.err == f"first ...\nrespawn: wrote {tmp_path / 'a.csv'}\nrespawn: wrote {tmp_path / 'a.md'}\n"


def test_json_says_where_it_was_measured(capsys):
    assert carry_through(ResultFiles(None, None, "T"), lambda tell, keep: {"rows": [GOOD]}, shown, as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == [GOOD] and {"machine", "command", "commit", "date"} < set(said)


def test_a_row_that_failed_is_told_and_is_the_exit_code(capsys):
    files = ResultFiles(None, None, "T")
    assert carry_through(files, lambda tell, keep: {"rows": [GOOD, BAD]}, shown, as_json=False) == 1
    assert capsys.readouterr().err == "respawn: pole overlap 8 x 32 failed: no luck\n"
    assert tell_failures([GOOD]) == 0


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_measured_before_an_interruption_is_kept_and_shown(tmp_path, capsys, as_json):
    def measure(tell, keep):
        keep({"rows": [GOOD]})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        carry_through(ResultFiles(tmp_path / "a.csv", None, "T"), measure, shown, as_json=as_json)
    assert stopped.value.__notes__ == [f"before all was measured; what was is in {tmp_path / 'a.csv'}"]
    assert len(read_csv(tmp_path / "a.csv")) == 1
    said = capsys.readouterr().out
    assert json.loads(said)["interrupted"] if as_json else said == "1 rows\n"


@pytest.fixture
def full_disk(monkeypatch):
    """Nothing more can be written; returns what makes room again."""
    with monkeypatch.context() as patch:

        def write_text(path, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        patch.setattr(result_files, "write_text", write_text)
        yield patch.undo


@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_does_not_end_a_bench_and_what_was_measured_is_shown(tmp_path, capsys, full_disk, as_json):
    def measure(tell, keep):
        keep({"rows": [GOOD]})
        return {"rows": [GOOD, BAD]}

    with pytest.raises(ResultsError) as caught:
        carry_through(ResultFiles(tmp_path / "a.csv", tmp_path / "a.md", "T"), measure, shown, as_json=as_json)
    assert caught.value.exit_code == 1
    assert str(caught.value) == (
        f"{tmp_path / 'a.csv'} and {tmp_path / 'a.md'} could not be written (No space left on device), so what is "
        "printed above is all there is of it; keep that, or make room or name another file, and measure again"
    )
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"] == [GOOD, BAD] if as_json else said.out == "2 rows\n"
    assert said.err == "respawn: pole overlap 8 x 32 failed: no luck\n"  # and nothing is said to be written


def test_files_are_written_where_there_is_room_again(tmp_path, capsys, full_disk):
    def measure(tell, keep):
        keep({"rows": [GOOD]})
        full_disk()
        return {"rows": [GOOD, GOOD]}

    assert carry_through(ResultFiles(tmp_path / "a.csv", None, "T"), measure, shown, as_json=False) == 0
    assert len(read_csv(tmp_path / "a.csv")) == 2
    assert capsys.readouterr().err == f"respawn: wrote {tmp_path / 'a.csv'}\n"


def test_an_interruption_on_a_full_disk_says_so(tmp_path, capsys, full_disk):
    def measure(tell, keep):
        keep({"rows": [GOOD]})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        carry_through(ResultFiles(tmp_path / "a.csv", None, "T"), measure, shown, as_json=False)
    assert stopped.value.__notes__ == [
        f"before all was measured; {tmp_path / 'a.csv'} could not be written (No space left on device), "
        "what was is above"
    ]
    assert capsys.readouterr().out == "1 rows\n"


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/respawn-bench-x"), BrokenPipeError("a child died")]
)
def test_what_was_measured_is_shown_where_the_system_ends_the_measuring_itself(tmp_path, capsys, error):
    def measure(tell, keep):
        keep({"rows": [GOOD]})
        raise error

    with pytest.raises(ResultsError) as caught:
        carry_through(ResultFiles(tmp_path / "a.csv", None, "T"), measure, shown, as_json=False)
    assert caught.value.exit_code == 1 and str(caught.value) == (
        f"the system refuses, before all was measured; what was is in {tmp_path / 'a.csv'}: {error}; see to that, and "
        "measure again"
    )
    assert capsys.readouterr().out == "1 rows\n"


@pytest.mark.parametrize("known", [[], [{"rows": []}]])
def test_an_interruption_before_anything_is_known_leaves_nothing(tmp_path, capsys, known):
    def measure(tell, keep):
        for measured in known:
            keep(measured)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        carry_through(ResultFiles(tmp_path / "a.csv", None, "T"), measure, shown, as_json=False)
    assert not hasattr(stopped.value, "__notes__") and not list(tmp_path.iterdir()) and not capsys.readouterr().out


def test_a_table_has_what_is_known_and_a_warning_where_others_were_at_work(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_rows("pole: 3 turns", [{**GOOD, "ratio": 1.0, "others_cores": 1.5}, BAD], without=["of", "ratio"])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "pole: 3 turns" and lines[1].split() == ["mode", "lanes", "steps", "decisions/s"]
    assert lines[3].split() == ["sync", "8", "100"] and lines[4].split() == ["overlap", "8", "32"]
    assert lines[5].startswith("warning: measured beside other work: others kept up to 1.5 cores busy")


def test_a_table_says_what_was_measured_as_it_is_called(capsys):
    print_rows("[/t]", [GOOD | {"of": "odd/[/x]-v0"}])
    said = capsys.readouterr().out
    assert said.startswith("[/t]\n") and "\nodd/[/x]-v0 " in said


def test_sizes_that_are_too_small_are_refused():
    check_sizes(SimpleNamespace(lanes=(1, 2)), {"lanes": 1})
    with pytest.raises(ConfigError, match="--lanes must be at least 1, not 0"):
        check_sizes(SimpleNamespace(lanes=(2, 0)), {"lanes": 1})
