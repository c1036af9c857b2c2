"""The combinations that `nox` tries cover the ranges that are claimed, and their table says what came of them."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KEPT = ROOT / "benchmarks/results/amd-epyc-2-cores/compatibility"
LOWEST = dict(requirement.split(">=") for requirement in PROJECT["dependencies"])


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def noxfile():
    return loaded(ROOT / "noxfile.py")


@pytest.fixture(scope="module")
def tool():
    return loaded(ROOT / "tools/compatibility_table.py")


@pytest.fixture(scope="module")
def smoke():
    return loaded(ROOT / "tools/compatibility_smoke.py")


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def test_the_floor_is_what_the_package_claims(noxfile):
    (floor,) = [each for each in noxfile.COMBINATIONS if each.floor]
    for name in noxfile.WATCHED:
        claimed = numbers(LOWEST[name])
        assert numbers(getattr(floor, name))[: len(claimed)] == claimed, f"{name}: the range begins elsewhere"
    assert f">={floor.python}" == PROJECT["requires-python"]
    asked = noxfile.wanted(floor)
    assert len(asked) == len(noxfile.dependencies()) and all("==" in requirement for requirement in asked)


def test_what_is_pinned_is_tried(noxfile):
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    assert any(all(getattr(each, name) == pinned[name] for name in noxfile.WATCHED) for each in noxfile.COMBINATIONS)


def test_each_package_is_tried_old_and_new_beside_the_others(noxfile):
    combinations = noxfile.COMBINATIONS
    assert {each.python for each in combinations} == {"3.11", "3.12", "3.13"}
    assert len({each.name for each in combinations}) == len(combinations)
    newest = {name: max(numbers(getattr(each, name)) for each in combinations) for name in noxfile.WATCHED}
    for name in noxfile.WATCHED:
        others = [other for other in noxfile.WATCHED if other != name]
        with_new = [each for each in combinations if numbers(getattr(each, name)) == newest[name]]
        assert any(numbers(getattr(each, other)) < newest[other] for each in with_new for other in others)
    assert any(all(numbers(getattr(each, name)) == newest[name] for name in noxfile.WATCHED) for each in combinations)


def result(name, torch, **checks):
    versions = {"python": "3.11.7", "torch": torch, "gymnasium": "1.4.0", "numpy": "2.4.6"}
    said = {check: {"passed": passed, "said": f"{check} of {name}"} for check, passed in checks.items()}
    return {"name": name, "versions": versions, "checks": said}


def test_the_table_has_a_row_a_combination_the_oldest_first(tool, tmp_path):
    for found in (
        result("new", "2.13.0+cpu", run=True, shim=False),
        result("old", "2.6.0", run=True, shim=True),
    ):
        (tmp_path / f"{found['name']}.json").write_text(json.dumps(found))
    results = tool.read_results(tmp_path)
    assert tool.table(results) == [
        "| combination | Python | torch | Gymnasium | NumPy | run | shim |",
        "|---|---|---|---|---|---|---|",
        "| old | 3.11.7 | 2.6.0 | 1.4.0 | 2.4.6 | passed | passed |",
        "| new | 3.11.7 | 2.13.0+cpu | 1.4.0 | 2.4.6 | passed | **failed** |",
    ]
    assert tool.failures(results) == ["- `new`, shim: shim of new"]


def test_a_check_that_came_later_is_empty_where_it_was_not_tried(tool):
    results = [result("old", "2.6.0", run=True), result("new", "2.13.0", run=True, sweep=True)]
    assert [line.split("|")[-3:-1] for line in tool.table(results)[2:]] == [
        [" passed ", "  "],
        [" passed ", " passed "],
    ]
    assert not tool.failures(results)


def test_what_sweeps_need_of_optuna_is_asked_for_and_tried(smoke):
    asked = {
        requirement
        for requirements in PROJECT["optional-dependencies"].values()
        for requirement in requirements
        if requirement.startswith("optuna")
    }
    assert asked == {"optuna>=4.3"}, "its errors have the names that sweeps know from 4.3 on"
    assert "sweep" in smoke.CHECKS


def test_the_page_says_which_versions_of_torch_end_in_the_same_weights(tool):
    alike = {}
    for found in tool.read_results(KEPT):
        resumed, torch = found["checks"]["resume"], found["versions"]["torch"].partition("+")[0]
        if resumed["passed"]:
            alike.setdefault(resumed["said"], set()).add(torch)
    older, newer = sorted((sorted(group, key=numbers) for group in alike.values()), key=lambda group: numbers(group[0]))
    older, newer = (f"{', '.join(group[:-1])} and {group[-1]}" for group in (older, newer))
    said = f"the same weights with torch {older}, and in others, all alike, with torch {newer}:"
    assert said in " ".join((ROOT / "docs/compatibility.md").read_text(encoding="utf-8").split())


def test_the_page_shows_the_results_that_are_kept(tool):
    results = tool.read_results(KEPT)
    page = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
    assert results and "\n".join(tool.table(results)) in page
    for failure in tool.failures(results):
        assert failure.split(",")[0] in page, "what failed is explained"
