"""Tables for people: whatever is shown is shown as it is."""

import pytest

from respawn.cli.tables import console, fits, new_table, print_facts

OF_THE_CONSOLE = ["[/x]", "[abc] def", "[bold]b[/]", "a:x:b", "\\[red]", "C:\\"]
"""What a console would take for its own: tags, emoji and escapes."""


@pytest.mark.parametrize("word", OF_THE_CONSOLE)
def test_facts_are_shown_as_they_are(word, capsys):
    print_facts(word, {word: word, "empty": ""})
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [word, f"{word}  {word}"]


def test_words_between_colons_are_no_pictures(capsys):
    console().print("a:x:b")
    assert capsys.readouterr().out == "a:x:b\n"


def test_a_table_fits_as_long_as_nothing_is_broken(monkeypatch):
    table = new_table()
    table.add_column("name", overflow="fold")
    table.add_column("value", no_wrap=True)
    table.add_row("n" * 10, "1234567890")
    widths = {}
    for width in (22, 23, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        widths[width] = fits(table, console())
    assert widths == {22: False, 23: True, 200: True}
