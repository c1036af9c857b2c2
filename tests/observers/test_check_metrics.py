import importlib.util
import sys
from pathlib import Path

import pytest


def load(name: str):
    path = Path(__file__).parents[2] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


check_metrics = load("check_metrics")

PAGE = """
Words about `loss/other` explain nothing; only rows do.

| name | unit |
|---|---|
| `loss/policy` | x |
| `time/learn_seconds` | x |
| `knob/<name>` | x |
| `knob/learning_rate` | x |
| `policy/action_share_<action>` | x |
"""
MAKES_ALL = """
metrics = {"loss/policy": 1.0, **{f"time/{phase}_seconds": 1.0 for phase in ("learn",)}}
knobs = {f"knob/{name}": 1.0 for name in ()}
shares = {f"policy/action_share_{action}": 1.0 for action in ()}
spec = KnobSpec("learning_rate", 0.1, 0.0, 1.0)
"""


@pytest.fixture
def problems(tmp_path):
    page = tmp_path / "metrics.md"
    page.write_text(PAGE)

    def check(code: str, room: str = "learners", file: str = "file.py") -> list[str]:
        source = tmp_path / "src"
        (source / room).mkdir(parents=True, exist_ok=True)
        (source / room / file).write_text(code)
        return check_metrics.problems(source, page)

    return check


def test_all_explained_and_all_made(problems):
    assert problems(MAKES_ALL) == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('m = {"loss/new": 1.0}', "loss/new"),
        ('name = "loss/new"', "loss/new"),
        ('m["loss/new"] = 1.0', "loss/new"),
        ('m = {"fresh/new": 1.0}', "fresh/new"),
        ('m["fresh/new"] = 1.0', "fresh/new"),
        ('m = {f"fresh/{name}": 1.0 for name in names}', "fresh/{}"),
        ('name = f"loss/{kind}"', None),
        ('name = f"loss/{kind}_scaled"', "loss/{}_scaled"),
        ('spec = KnobSpec("gravity", 1.0, 0.0, 2.0)', "knob/gravity"),
        ('spec = KnobSpec(name="gravity", default=1.0, low=0.0, high=2.0)', "knob/gravity"),
        ('path = "some/where"', None),
        ('beginning = "policy/action_"', None),
        ('beginning = "policy/reaction_"', "policy/reaction_"),
        ('is_time = name.startswith("time/")', None),
        ('"""loss/new is only words in a docstring that goes on."""', None),
    ],
)
def test_names_that_are_not_explained(problems, code, name):
    found = problems(MAKES_ALL + code + "\n")
    if name is None:
        assert found == []
    else:
        assert len(found) == 1
        assert f"file.py:6: {name} is not explained" in found[0]


def test_a_name_that_nothing_makes(problems):
    found = problems(MAKES_ALL.replace('"loss/policy": 1.0, ', ""))
    assert len(found) == 1 and "loss/policy is explained, but nothing" in found[0]


def test_reading_a_metric_is_not_making_it(problems):
    problems(MAKES_ALL.replace('"loss/policy": 1.0, ', ""))
    found = problems('shown = metrics["loss/policy"]\n', room="observers")
    assert len(found) == 1 and "loss/policy is explained, but nothing" in found[0]


def test_those_that_measure_by_themselves_make_metrics_though_they_look_on(problems):
    problems(MAKES_ALL.replace('"loss/policy": 1.0, ', ""))
    found = problems('made = {"loss/policy": 1.0}\n', room="observers")
    assert len(found) == 1 and "loss/policy is explained, but nothing" in found[0]
    assert problems('made = {"loss/policy": 1.0}\n', room="observers", file="heartbeat.py") == []


def test_unexplained_takes_columns_of_actual_rows(tmp_path):
    page = tmp_path / "metrics.md"
    page.write_text(PAGE)
    columns = ["update", "loss/policy", "policy/action_share_3", "knob/gravity", "fresh/new", "policy/action"]
    assert check_metrics.unexplained(columns, page) == ["fresh/new", "knob/gravity", "policy/action"]


def test_check_size(tmp_path):
    check_size = load("check_size")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "long.py").write_text("x = 1\n" * 401)
    (tmp_path / "src" / "table.cpp").write_text("x\n" * 900)
    (tmp_path / "src" / "right.py").write_text("x = 1\n" * 400)
    (tmp_path / "src" / "notes.md").write_text("x\n" * 900)
    exempt = {"src/table.cpp": "generated", "src/right.py": "was long once"}
    assert check_size.problems(tmp_path, exempt) == [
        "src/long.py:401: 401 lines, at most 400 are allowed; split it",
        "src/right.py: exempt from the size limit without need",
    ]
