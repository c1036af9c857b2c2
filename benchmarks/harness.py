"""What every benchmark needs: the machine by name, a table on the screen, a small JSON file that is kept."""

import json
import platform
import re
import subprocess
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


def results_folder() -> Path:
    """Where this machine's results are kept."""
    folder = RESULTS / machine_name(describe_machine())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def measured_by(words: Sequence[str], name: str = "", *, with_failures: bool = False) -> dict[str, Any]:
    """What `respawn bench` measures, as plain data. Leaves the program where that fails, which it has said.

    The command that users type also says how threads are to wait, which matters: a process of its own.

    Args:
      words: after `respawn bench`.
      name: of tables that are kept beside the JSON, as CSV and Markdown; empty: none.
      with_failures: go on with what was measured where only some of it failed.
    """
    folder = results_folder()
    files = ["--csv", str(folder / f"{name}.csv"), "--markdown", str(folder / f"{name}.md")] if name else []
    # Settings of a training come last, after two dashes.
    place = words.index("--") if "--" in words else len(words)
    command = [sys.executable, "-m", "respawn", "bench", *words[:place], *files, "--json", *words[place:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if not done.stdout or (done.returncode != 0 and not with_failures):
        raise SystemExit(done.returncode)
    measured: dict[str, Any] = json.loads(done.stdout)
    for told_by_keep in ("machine", "command", "commit", "date"):
        del measured[told_by_keep]
    return measured


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
