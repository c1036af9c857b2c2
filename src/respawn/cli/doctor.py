"""respawn doctor [engine|rom|worlds]."""

import difflib
import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from respawn.cli.arguments import RunsDirectory, parse
from respawn.cli.tables import console, print_facts
from respawn.errors import ConfigError

PARTS = ("engine", "rom", "worlds")
"""What can be examined alone, each in a file of its own."""


@dataclass(frozen=True)
class DoctorArguments:
    """Say what this machine has, and what is wrong with it.

    The exit code is 1 if there is a problem; a warning is none.

    'respawn doctor engine' examines the NES engine, 'doctor rom' the game.

    'respawn doctor worlds' makes worlds and steps them, again and again.
    """

    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs: its disk is looked at"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Examine the machine, or the engine, the ROM or the worlds alone."""
    if words and words[0] in PARTS:
        # Imported only now: the machine is examined without it.
        part = importlib.import_module(f"respawn.cli.doctor_{words[0]}")
        exit_code: int = part.main(words[1:])
        return exit_code
    close = difflib.get_close_matches(words[0], PARTS, n=1) if words else []
    if close:
        raise ConfigError(f"'respawn doctor' has no use for the word '{words[0]}'; did you mean {close[0]}?")
    arguments = parse(DoctorArguments, words, "respawn doctor")
    # Imported only now: '--help' needs none of it.
    from respawn.cli.examination import examine, find_problems, find_warnings

    facts = examine(arguments.runs)
    problems, warnings = find_problems(facts), find_warnings(facts)
    if arguments.json:
        print(json.dumps({**facts, "problems": problems, "warnings": warnings}, indent=2))
    else:
        _show(facts, problems, warnings)
    return 1 if problems else 0


def _show(facts: dict[str, Any], problems: list[str], warnings: list[str]) -> None:
    packages = ", ".join(f"{name} {package['version'] or 'missing'}" for name, package in facts["packages"].items())
    threads = ", ".join(f"{name}={value}" for name, value in facts["thread_settings"].items())
    print_facts(
        f"respawn {facts['respawn']}",
        {
            "python": f"{facts['python']} ({facts['executable']})",
            "packages": packages,
            "system": facts["os"],
            "cores": f"{facts['usable_cores']} usable of {facts['cores']}; torch starts with {facts['torch_threads']}",
            "threads": threads or "no variable limits them",
            "memory": f"{facts['free_memory_gib']} GiB free of {facts['memory_gib']}",
            "gpus": ", ".join(facts["gpus"]) or "none",
            "cuda": facts["cuda"] or "torch is built without it",
            "compiler": facts["compiler"] or "none",
            "disk": f"{facts['free_disk_gib']} GiB free where runs go ({facts['runs']})",
        },
    )
    target = console()
    for problem in problems:
        target.print(f"[bold red]problem[/]: {escape(problem)}")
    for warning in warnings:
        target.print(f"[yellow]warning[/]: {escape(warning)}")
    if not problems:
        target.print("[green]nothing is wrong[/]" + (" that would keep runs from working" if warnings else ""))
