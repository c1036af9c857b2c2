"""What every benchmark needs: the machine by name, a table on the screen, a small JSON file that is kept."""

import json
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from respawn.runs.metadata import describe_machine, git_commit

RESULTS = Path(__file__).parent / "results"


def machine_name(machine: Mapping[str, Any]) -> str:
    """A folder name for this kind of machine: its processor or GPU, and how many cores."""
    hardware = machine["gpus"][0] if machine["gpus"] else machine["cpu"]
    words = re.sub(r"[^a-z0-9]+", "-", str(hardware).lower()).strip("-")
    return f"{words}-{machine['cores']}-cores"


def keep(name: str, question: str, results: Mapping[str, Any]) -> Path:
    """Write the results under results/<machine>/<name>.json, with all that is needed to make them again."""
    machine = describe_machine()
    machine.pop("host")
    machine["os"] = platform.system()
    path = RESULTS / machine_name(machine) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "question": question,
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": git_commit(Path(__file__).parent),
        "machine": machine,
        **results,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(f"kept in {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    return path


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table for people."""
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*(f"{cell:,.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    Console().print(table)
