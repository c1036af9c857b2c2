"""The page for those who come from the reference leaves nothing of it out, and names nothing that is not there."""

import re
from pathlib import Path

import pytest

from named_options import ROOT, options_in, settings, wrong_options
from respawn.cli.main import VERBS

PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
THEIRS = ("option", "setting", "variable", "launcher", "tool", "field", "file")
"""What the first column of a table of theirs is called; all other code on the page speaks of ours."""


def reference_names() -> dict[str, list[str]]:
    """All that the reference had, by its kind."""
    text = (Path(__file__).parent / "reference_names.txt").read_text(encoding="utf-8")
    parts = re.split(r"^\[([a-z]+)\]$", text, flags=re.MULTILINE)[1:]
    return {kind: names.split() for kind, names in zip(parts[::2], parts[1::2], strict=True)}


def halves(page: str) -> tuple[list[tuple[str, str]], str]:
    """First cells of tables, each with what its table lists; and all the rest of the page."""
    first_cells, rest, header, kind = [], [], True, ""
    for line in re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE).splitlines():
        if not line.startswith("|"):
            header = True
            rest.append(line)
            continue
        cells = line.strip("|").split("|")
        if header:
            kind, header = cells[0].strip(), False
        elif not set(line) <= set("|-"):
            first_cells.append((kind, cells[0]))
            rest.append(" | ".join(cells[1:]))
    return first_cells, "\n".join(rest)


FIRST_CELLS, OURS = halves(PAGE)


def listed(kind: str) -> list[str]:
    """All that tables of this kind list."""
    return [code for found, cell in FIRST_CELLS if found == kind for code in re.findall(r"`([^`]+)`", cell)]


def codes() -> list[str]:
    """All that is marked as code and speaks of ours."""
    return re.findall(r"`([^`]+)`", OURS)


def explained_metrics() -> set[str]:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\|\s*`([a-z_]+/[a-z0-9_<>]+)`\s*\|", page, re.MULTILINE))


def test_every_table_says_whose_its_first_column_is():
    assert {kind for kind, _ in FIRST_CELLS} == set(THEIRS)


@pytest.mark.parametrize(("kind", "column"), [("options", "option"), ("variables", "variable"), ("fields", "field")])
def test_nothing_of_the_reference_is_left_out_or_made_up(kind, column):
    named = listed(column)
    assert sorted(set(reference_names()[kind]) - set(named)) == []
    assert sorted(set(named) - set(reference_names()[kind])) == []
    assert sorted(name for name in set(named) if named.count(name) > 1) == []


def test_its_files_are_all_there():
    assert sorted(listed("file")) == sorted(reference_names()["files"])


def test_what_it_had_is_counted():
    counts = {kind: len(set(names)) for kind, names in reference_names().items()}
    assert (counts["options"], counts["variables"], counts["files"]) == (120, 15, 6)
    assert counts["fields"] > 100


def test_each_has_an_answer():
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            assert line.split("|")[2].strip(), line


def test_options_of_ours_are_there():
    assert len(set(options_in(OURS))) > 90
    assert wrong_options(OURS) == []


def test_settings_of_ours_are_there():
    named = {
        code for code in codes() if re.fullmatch(r"[a-z]+(\.[a-z_]+)+", code) and not code.endswith((".sh", ".py"))
    }
    files = {name for name in named if name.rpartition(".")[2] in ("json", "jsonl", "md", "parquet", "toml")}
    assert len(named - files) > 8
    assert sorted(named - files - settings()) == []


def test_metrics_of_ours_are_explained():
    named = {code for code in codes() if re.fullmatch(r"[a-z_]+/[a-z0-9_<>]+", code)}
    explained = explained_metrics()
    families = [re.sub("<[a-z]+>", ".+", name) for name in explained if re.search("<[a-z]+>", name)]
    families = [family for family in families if not re.fullmatch(r"[a-z_]+/\.\+", family)]
    unknown = {name for name in named - explained if not any(re.fullmatch(family, name) for family in families)}
    assert len(named) > 60
    assert sorted(unknown) == []


def test_verbs_of_ours_are_there():
    named = set(re.findall(r"`respawn ([a-z]+)", OURS))
    assert {"train", "resume", "evaluate", "policy", "doctor"} <= named
    assert sorted(named - set(VERBS)) == []


def test_links_of_the_page_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
