import pytest

from respawn.errors import RunFolderError
from respawn.evaluation.inspection.salvage import Salvage, config_number, read_config
from respawn.runs.layout import RunFolder


def rows(*before):
    yield from before
    raise RunFolderError("line 3 is broken; repair it")


def test_rows_are_read_as_far_as_they_go():
    salvage = Salvage()
    assert list(salvage.rows(rows(1, 2))) == [1, 2]
    assert salvage.problems == ["line 3 is broken; repair it"]


def test_a_problem_is_told_once():
    salvage = Salvage()
    assert list(salvage.rows(rows())) == [] and salvage.asked(lambda: list(rows()), "nothing") == "nothing"
    assert len(salvage.problems) == 1 and salvage.asked(lambda: 5, None) == 5


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        Salvage().asked(lambda: 1 / 0, None)


@pytest.mark.parametrize(
    ("config", "number"),
    [
        ({"room": {"name": 3}}, 3.0),
        ({"room": {"name": True}}, 7.0),
        ({"room": {"name": None}}, 7.0),
        ({"room": {"name": "3"}}, 7.0),
        ({"room": "elsewhere"}, 7.0),
        ({}, 7.0),
    ],
)
def test_numbers_of_a_configuration_that_may_be_anybodys(config, number):
    assert config_number(config, "room", "name", 7.0) == number


def test_a_configuration_that_cannot_be_read_is_empty_and_told(tmp_path):
    salvage = Salvage()
    (tmp_path / "config.json").write_text("[1]")
    assert read_config(RunFolder(tmp_path), salvage) == {}
    assert "should hold a JSON object" in salvage.problems[0]
