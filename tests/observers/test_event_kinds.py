"""The page for operators explains every kind of event that the program makes, and none besides."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from respawn.observers.hints import HINT

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_]+)` \| ([a-z, ]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
CHOSEN = {"status": ("finished", "stopped"), "HINT": (HINT,)}
"""Kinds that stand in a variable, by its name."""
READER = "runs/rows.py"
"""Where events are made anew that somebody told before."""


def made() -> dict[str, set[str]]:
    """The levels of each kind in the source."""
    found: dict[str, set[str]] = {}
    source = ROOT / "src" / "respawn"
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if tells_events(tree) and path != source / READER:
            for call in calls_of_event(tree):
                for kind in kinds_of(call, path):
                    found.setdefault(kind, set()).update(levels_of(call))
    return found


def tells_events(tree: ast.AST) -> bool:
    """Whether what is called Event there is ours."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "respawn.contracts.records"
        and "Event" in [alias.name for alias in node.names]
        for node in ast.walk(tree)
    )


def calls_of_event(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Event":
            yield node


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return call.args[place] if len(call.args) > place else named[0] if named else None


def kinds_of(call: ast.Call, path: Path) -> tuple[str, ...]:
    kind = argument(call, 0, "kind")
    if isinstance(kind, ast.Name):
        return CHOSEN[kind.id]
    assert isinstance(kind, ast.Constant), f"{path}:{call.lineno}: a kind of event must be a word"
    return (str(kind.value),)


def levels_of(call: ast.Call) -> set[str]:
    level = argument(call, 2, "level")
    words = {node.value for node in ast.walk(level) if isinstance(node, ast.Constant)} if level else {"info"}
    return {str(word) for word in words if word in ("info", "warning", "error")}


def test_the_table_is_complete_and_has_no_kind_that_nothing_makes():
    explained = {kind: set(levels.split(", ")) for kind, levels, *_ in ROW.findall(PAGE)}
    assert explained == made()


def test_kinds_are_in_order_and_none_is_explained_twice():
    kinds = [kind for kind, *_ in ROW.findall(PAGE)]
    assert kinds == sorted(set(kinds))


def test_links_within_the_page_lead_somewhere():
    headings = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^##? (.+)$", PAGE, re.MULTILINE)
    }
    linked = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert linked and linked <= headings
    files = {link.partition("#")[0] for link in re.findall(r"\]\(([a-z][^)]+)\)", PAGE)}
    assert all((ROOT / "docs" / file).exists() for file in files)
