import json

import pytest

from respawn.cli import examination
from respawn.cli.examination import examine, find_problems, find_warnings


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The facts of this machine, with all that could be wrong with it put right."""
    facts = examine(tmp_path_factory.mktemp("runs") / "not" / "there")
    good = {"free_disk_gib": 50.0, "free_memory_gib": 8.0, "free_shared_memory_gib": 8.0, "compiler": "/usr/bin/c++"}
    return {**facts, **good, "python": "3.12.1", "driver": None, "thread_settings": {}, "usable_cores": 4}


def test_a_healthy_machine_has_nothing_wrong(healthy):
    assert find_problems(healthy) == [] and find_warnings(healthy) == []
    assert healthy["packages"]["torch"]["least"] == "2.6" and "pytest" not in healthy["packages"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"python": "3.10.9"}, "Python is 3.10.9, and respawn needs 3.11 or newer"),
        ({"packages": {"rich": {"version": None, "least": "13.9"}}}, "rich is not installed: run 'make setup'"),
        ({"packages": {"rich": {"version": "13.8.1", "least": "13.9"}}}, "rich is 13.8.1, and respawn needs 13.9"),
        ({"cuda": "12.8", "gpus": [], "driver": "/usr/bin/nvidia-smi"}, "torch is built for CUDA and sees no GPU"),
        ({"runs_writable": False}, "cannot be written: give another with --runs"),
        ({"free_disk_gib": 0.5}, "only 0.5 GiB are free where runs go: make room"),
        ({"free_memory_gib": 0.2}, "only 0.2 GiB of memory are free: close something"),
    ],
)
def test_problems(healthy, change, words):
    (problem,) = find_problems(healthy | change)
    assert words in problem


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"python": "3.99.0"}, "Python is 3.99.0, and respawn was tried up to"),
        ({"cuda": None, "driver": "/usr/bin/nvidia-smi"}, "torch is built without CUDA"),
        ({"thread_settings": {"OMP_NUM_THREADS": "64"}}, "OMP_NUM_THREADS is 64 and only 4 cores are usable"),
        ({"thread_settings": {"MKL_NUM_THREADS": "all"}}, "MKL_NUM_THREADS should be a number of threads and is 'all'"),
        ({"compiler": None}, "there is no C++ compiler, so the NES engine will interpret its games"),
        ({"free_shared_memory_gib": 0.0}, "only 0.0 GiB of shared memory are free"),
    ],
)
def test_warnings(healthy, change, words):
    (warning,) = find_warnings(healthy | change)
    assert words in warning and find_problems(healthy | change) == []


def test_the_compiler_is_the_one_that_cxx_names(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    assert examine(tmp_path)["compiler"] is None
    monkeypatch.setenv("CXX", "sh -c")
    assert examine(tmp_path)["compiler"].endswith("/sh")


def test_a_misspelt_engine_is_met_with_the_right_word(respawn):
    answer = respawn("doctor", "engin")
    assert answer.exit_code == 2
    assert answer.sentence == "'respawn doctor' has no use for the word 'engin'; did you mean engine?"
    assert "leave it out" in respawn("doctor", "sing").sentence


def test_versions_are_compared_as_numbers(healthy):
    packages = {"torch": {"version": "2.13.0+cpu", "least": "2.6"}}
    assert find_problems(healthy | {"packages": packages}) == []


def test_the_exit_code_tells_problems_from_warnings(respawn, healthy, monkeypatch):
    def answer(change, *words):
        monkeypatch.setattr(examination, "examine", lambda runs: healthy | change)
        return respawn("doctor", *words)

    monkeypatch.setenv("COLUMNS", "80")
    fine = answer({})
    assert fine.exit_code == 0 and fine.out.endswith("nothing is wrong\n")
    assert max(map(len, fine.out.splitlines())) <= 80
    warned = answer({"compiler": None})
    assert warned.exit_code == 0 and "warning: there is no C++ compiler" in warned.out
    wrong = answer({"free_disk_gib": 0.0}, "--json")
    assert wrong.exit_code == 1 and len(json.loads(wrong.out)["problems"]) == 1
