"""Tables for people: whatever is shown is shown as it is."""

import pytest

from respawn.cli.tables import console, fits, fitting, in_blocks, new_table, print_facts

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


def test_the_first_table_that_fits_is_shown_or_what_fits_everywhere(monkeypatch):
    tables = [new_table(), new_table()]
    for table, width in zip(tables, (30, 20), strict=True):
        table.add_column("x" * width, no_wrap=True)
    chosen = {}
    for width in (40, 25, 10):
        monkeypatch.setenv("COLUMNS", str(width))
        chosen[width] = fitting(tables, "blocks", console())
    assert chosen == {40: tables[0], 25: tables[1], 10: "blocks"}


def test_blocks_break_no_word_in_the_narrowest_of_windows(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "16")
    facts = {"time/learn_share": {"last": "0.12345678", "none": ""}, "[b]": {"mean": "[red]1 2 3[/]"}}
    console().print(in_blocks(facts.items()))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["time/learn_share", "  last", "  0.12345678", "", "[b]", "  mean  1 2 3"]
