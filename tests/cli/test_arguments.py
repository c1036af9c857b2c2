from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import tyro

from respawn.cli.arguments import RunsDirectory, check_at_least, parse
from respawn.errors import ConfigError, RunFolderError


@dataclass(frozen=True)
class Arguments:
    """Try."""

    updates: int | None = 5
    minutes: float | None = None
    name: str | None = None
    sizes: tuple[int, ...] = (1,)
    labels: tuple[str, ...] = ()
    kwargs: dict[str, bool | int | float | str] = field(default_factory=dict)
    json: bool = False
    runs: RunsDirectory = Path("runs")


@dataclass(frozen=True)
class Named:
    """Try with names."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()


def parsed(*words: str, default: Arguments | None = None) -> Arguments:
    return parse(Arguments, words, "respawn try", default)


def test_words_become_values():
    assert parsed("--updates", "3", "--minutes", "1.5", "--json") == Arguments(updates=3, minutes=1.5, json=True)
    assert parsed("--sizes", "4", "5").sizes == (4, 5) and parsed("--sizes").sizes == ()
    assert parsed("--kwargs", "a", "1", "b", "0.5", "c", "true", "d", "word").kwargs == {
        **{"a": 1, "b": 0.5, "c": True, "d": "word"}
    }
    assert parsed().sizes == (1,)


def test_lists_may_have_commas():
    assert parsed("--sizes", "4,5", "6,").sizes == parsed("--sizes=4,5,6").sizes == (4, 5, 6)
    assert parsed("--labels", "1-1, 1-2", "all").labels == ("1-1", "1-2", "all")
    assert parsed("--labels", "").labels == ("",)
    named = parse(Named, ["a,b", "c"], "respawn try")
    assert named.names == ("a,b", "c")  # files and folders may be called so


def test_none_unsets_a_number_and_is_a_fine_name():
    assert parsed("--updates", "none").updates is None
    assert parsed("--name", "none").name == "none"


def test_flags_can_be_turned_off_where_defaults_may_be_on():
    assert parsed("--no-json", default=Arguments(json=True)).json is False
    with pytest.raises(ConfigError, match="there is no option --no-json"):
        parsed("--no-json")


def test_a_file_holds_no_runs(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RunFolderError, match=r"--runs wants a folder, but .*file is a file; name the folder"):
        parsed("--runs", str(file))


def test_small_numbers_are_refused_by_their_option():
    with pytest.raises(ConfigError, match=r"^--updates must be at least 1, not 0$"):
        check_at_least(Arguments(updates=0), {"updates": 1})
    check_at_least(Arguments(updates=None), {"updates": 1})


@dataclass(frozen=True)
class Numbered:
    """Try with a number."""

    name: Annotated[str, tyro.conf.Positional]
    trial: Annotated[int, tyro.conf.Positional]
    share: Annotated[float, tyro.conf.Positional] = 0.5
    json: bool = False


def test_a_word_where_a_number_belongs_is_answered_as_that_of_an_option():
    with pytest.raises(ConfigError, match=r"^TRIAL wants a whole number, but 'x' came; see 'respawn try --help'$"):
        parse(Numbered, ["s1", "--json", "x"], "respawn try")
    with pytest.raises(ConfigError, match=r"^SHARE wants a number, but 'much' came; "):
        parse(Numbered, ["s1", "1", "much"], "respawn try")
    assert parse(Numbered, ["s1", "-1", "2"], "respawn try") == Numbered("s1", -1, 2.0)


def test_the_usage_fits_the_terminal_and_keeps_options_with_their_values(capsys, monkeypatch):
    @dataclass(frozen=True)
    class Wordy:
        """Try."""

        storage: Annotated[str, tyro.conf.arg(metavar="URL")] = "here"
        sweeps: Annotated[str, tyro.conf.arg(metavar="DIR")] = "there"
        redraw: bool = False
        json: bool = False

    shown = {}
    for columns in (50, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit):
            parse(Wordy, ["--help"], "respawn try")
        shown[columns] = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert shown == {
        50: ["usage: respawn try [-h] [--storage URL]", "  [--sweeps DIR] [--redraw] [--json]"],
        120: ["usage: respawn try [-h] [--storage URL] [--sweeps DIR] [--redraw] [--json]"],
    }


def test_what_only_tyro_finds_wrong_is_still_one_sentence():
    @dataclass(frozen=True)
    class Pair:
        """Two numbers, which our own check takes for any number of them."""

        pair: tuple[int, int] = (1, 2)

    with pytest.raises(ConfigError) as caught:
        parse(Pair, ["--pair", "1", "2", "3"], "respawn try")
    message = str(caught.value)
    assert message.startswith("the arguments cannot be read: ") and message.endswith("see 'respawn try --help'")
    assert "\n" not in message and "│" not in message
