"""Every metric is explained in docs/metrics.md, and everything explained there is made somewhere.

A name is explained by a table row of docs/metrics.md that begins with it in backticks: | `loss/policy` | ... A row
such as `knob/<name>` explains a family, for the f-strings that make its names; each of those names needs a row of its
own too.

A metric name in the source is a string of the form `group/name` that stands in a group the page knows, anywhere, or
that is a key of a dict or a subscript, in any group; and `knob/<name>` of each `KnobSpec("<name>", ...)`.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"
SOURCE = ROOT / "src" / "respawn"

# These rooms read metrics that others make, so naming one there does not show that it exists ...
READERS = ("observers", "testing", "cli")
# ... but for these files, which measure what nobody else does.
MAKERS = ("observers/heartbeat.py", "observers/resources.py")

_ROW = re.compile(r"^\|\s*`([a-z_]+/[a-z0-9_<>]+)`\s*\|", re.MULTILINE)
_NAME = re.compile(r"[a-z_]+/[a-z0-9_{}]+")


@dataclass(frozen=True)
class Use:
    """A metric name in the source; `{}` stands for a part that is filled in when the program runs.

    One that ends in `_` is only the beginning of names.
    """

    name: str
    place: str
    reader: bool

    def fits(self, explained: str) -> bool:
        """Whether this use may make the explained name."""
        whole = f"{self.name}{{}}" if self.name.endswith("_") else self.name
        pattern = ".+".join(re.escape(piece) for piece in whole.split("{}"))
        return re.fullmatch(pattern, explained) is not None


def explained_names(page: Path = PAGE) -> set[str]:
    """All names that the page explains, families included."""
    return set(_ROW.findall(page.read_text(encoding="utf-8")))


def unexplained(names: Iterable[str], page: Path = PAGE) -> list[str]:
    """Those of some actual metric names, such as the columns of updates.jsonl, that the page does not explain.

    A family of which only a part is open, such as `policy/action_share_<action>`, explains all its names; one such as
    `knob/<name>` explains none, since the names in it are each of another kind.
    """
    explained = explained_names(page)
    parts = [name for name in explained if "<" in name and not re.fullmatch("[a-z_]+/<[a-z]+>", name)]
    families = [re.sub("<[a-z]+>", ".+", name) for name in parts]
    unknown = {name for name in names if "/" in name} - explained
    return sorted(name for name in unknown if not any(re.fullmatch(family, name) for family in families))


def uses(source: Path, groups: set[str]) -> Iterator[Use]:
    """Every metric name in every Python file under `source`."""
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        within = path.relative_to(source)
        reader = within.parts[0] in READERS and within.as_posix() not in MAKERS
        keys = {id(node) for node in _keys(tree)}
        for node, text in _strings(tree):
            if _NAME.fullmatch(text) and (text.split("/")[0] in groups or id(node) in keys):
                yield Use(text, f"{path}:{node.lineno}", reader)


def problems(source: Path = SOURCE, page: Path = PAGE) -> list[str]:
    """One sentence for each name that is on one side only."""
    explained = explained_names(page)
    found = list(uses(source, {name.split("/")[0] for name in explained}))
    unknown = [use for use in found if not any(use.fits(name) for name in explained)]
    made = [use for use in found if not use.reader]
    unmade = [name for name in sorted(explained) if "<" not in name and not any(use.fits(name) for use in made)]
    return [f"{use.place}: {use.name} is not explained in {page.name}; add a row for it" for use in unknown] + [
        f"{page}: {name} is explained, but nothing in {source.name} makes it; remove its row" for name in unmade
    ]


def _strings(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """String constants and f-strings, with `{}` for what is filled in; and the names of knobs as metrics."""
    inside_f_strings = {
        id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for piece in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside_f_strings:
            yield node, node.value
        elif isinstance(node, ast.JoinedStr):
            yield node, "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "KnobSpec":
            names = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "name")]
            yield from ((name, f"knob/{name.value}") for name in names if isinstance(name, ast.Constant))


def _keys(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.DictComp):
            yield node.key
        elif isinstance(node, ast.Subscript):
            yield node.slice


def main() -> int:
    """Print what is wrong and answer 1, or nothing and 0."""
    found = problems()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
