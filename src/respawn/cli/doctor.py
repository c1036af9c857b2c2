"""respawn doctor."""

import json
import os
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from respawn import __version__
from respawn.cli.arguments import parse

PACKAGES = ("torch", "numpy", "gymnasium", "tyro", "rich", "safetensors", "dacite", "filelock", "psutil", "tensorboard")
LEAST_DISK_GIB = 2.0
LEAST_MEMORY_GIB = 2.0


@dataclass(frozen=True)
class DoctorArguments:
    """Say what this machine has, and what is wrong with it. Exit code 1 if something is."""

    runs: Path = Path("runs")
    """the folder that holds the runs: its disk is looked at"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Examine the machine."""
    arguments = parse(DoctorArguments, words, "respawn doctor")
    facts = examine(arguments.runs)
    problems = find_problems(facts)
    if arguments.json:
        print(json.dumps({**facts, "problems": problems}, indent=2))
    else:
        _show(facts, problems)
    return 1 if problems else 0


def examine(runs: Path) -> dict[str, Any]:
    """Versions, devices, cores, memory, disk."""
    import psutil
    import torch

    place = runs.absolute()
    while not place.exists():
        place = place.parent
    disk = shutil.disk_usage(place)
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "respawn": __version__,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "os": platform.platform(),
        "cores": os.cpu_count(),
        "usable_cores": affinity,
        "torch_threads": torch.get_num_threads(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "free_memory_gib": round(psutil.virtual_memory().available / 2**30, 1),
        "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        "cuda": torch.version.cuda,
        "compiler": shutil.which("c++") or shutil.which("g++") or shutil.which("clang++"),
        "runs": str(runs),
        "runs_writable": os.access(place, os.W_OK),
        "free_disk_gib": round(disk.free / 2**30, 1),
    }


def find_problems(facts: dict[str, Any]) -> list[str]:
    """What would get in the way, each with what to do about it."""
    problems = [
        f"{name} is not installed: run 'make setup'" for name, version in facts["packages"].items() if not version
    ]
    if facts["cuda"] and not facts["gpus"] and shutil.which("nvidia-smi"):
        problems.append("torch was built for CUDA and sees no GPU although a driver is here: check its version")
    if facts["free_disk_gib"] < LEAST_DISK_GIB:
        problems.append(
            f"only {facts['free_disk_gib']} GiB are free where runs go: make room, or give --runs elsewhere"
        )
    if not facts["runs_writable"]:
        problems.append(f"the runs folder {facts['runs']} cannot be written: give another with --runs")
    if facts["free_memory_gib"] < LEAST_MEMORY_GIB:
        problems.append(f"only {facts['free_memory_gib']} GiB of memory are free: close something")
    return problems


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _show(facts: dict[str, Any], problems: list[str]) -> None:
    table = Table(show_header=False)
    for name, value in facts.items():
        if name == "packages":
            value = ", ".join(f"{package} {version or 'missing'}" for package, version in value.items())
        if name == "gpus":
            value = ", ".join(value) or "none"
        if name == "compiler":
            value = value or "none (torch.compile falls back to plain torch)"
        table.add_row(name.replace("_", " "), str(value))
    console = Console()
    console.print(table)
    for problem in problems:
        console.print(f"[bold red]problem[/] {problem}", highlight=False)
    if not problems:
        console.print("[green]nothing is wrong[/]")
