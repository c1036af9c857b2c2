"""The table of docs/compatibility.md, from the results that `nox` wrote.

python tools/compatibility_table.py build/compatibility
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLUMNS = {
    "Python": "python",
    "torch": "torch",
    "Gymnasium": "gymnasium",
    "NumPy": "numpy",
}


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Every result in a folder: those with the oldest versions first."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return sorted(results, key=lambda result: [_order(result["versions"][key]) for key in COLUMNS.values()])


def _order(version: str) -> tuple[int, ...]:
    """2.13.0 comes after 2.6.0; what a build adds, as in 2.13.0+cpu, does not count."""
    return tuple(int(part) for part in version.partition("+")[0].split(".") if part.isdigit())


def table(results: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of Markdown: a row a combination, a column for each check."""
    checks = list(dict.fromkeys(name for result in results for name in result["checks"]))
    header = ["combination", *COLUMNS, *checks]
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for result in results:
        versions = [result["versions"][key] for key in COLUMNS.values()]
        cells = [_cell(result["checks"].get(name)) for name in checks]
        lines.append(f"| {' | '.join([result['name'], *versions, *cells])} |")
    return lines


def _cell(check: dict[str, Any] | None) -> str:
    if check is None:
        return ""
    return "passed" if check["passed"] else "**failed**"


def failures(results: Sequence[dict[str, Any]]) -> list[str]:
    """What each check that failed said."""
    return [
        f"- `{result['name']}`, {name}: {check['said']}"
        for result in results
        for name, check in result["checks"].items()
        if not check["passed"]
    ]


def main() -> int:
    """Print the table, and what failed under it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="that holds the JSON files")
    results = read_results(parser.parse_args().folder)
    print("\n".join([*table(results), "", *failures(results)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
