"""What a machine has, and what of it would get in the way of a run."""

import os
import platform
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
import torch

from respawn import __version__
from respawn.processes.limits import usable_cores

LEAST_PYTHON = (3, 11)
NEWEST_TRIED_PYTHON = (3, 13)
LEAST_DISK_GIB = 2.0
LEAST_MEMORY_GIB = 1.0
LEAST_SHARED_MEMORY_GIB = 0.1
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def examine(runs: Path) -> dict[str, Any]:
    """Versions, devices, cores, memory, disk; plain data."""
    place = runs.absolute()
    while not place.exists():
        place = place.parent
    memory = psutil.virtual_memory()
    return {
        "respawn": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "packages": _packages(),
        "os": platform.platform(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "torch_threads": torch.get_num_threads(),
        "thread_settings": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "memory_gib": _gib(memory.total),
        "free_memory_gib": _gib(memory.available),
        "free_shared_memory_gib": _gib(shutil.disk_usage("/dev/shm").free) if Path("/dev/shm").is_dir() else None,
        "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        "cuda": torch.version.cuda,
        "driver": shutil.which("nvidia-smi"),
        "compiler": _compiler(),
        "runs": str(runs),
        "runs_writable": os.access(place, os.W_OK),
        "free_disk_gib": _gib(shutil.disk_usage(place).free),
    }


def find_problems(facts: dict[str, Any]) -> list[str]:
    """What would keep a run from working, each with what to do about it."""
    problems = []
    if _numbers(facts["python"])[:2] < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        problems.append(
            f"Python is {facts['python']}, and respawn needs {least} or newer: make setup PYTHON=python3.12"
        )
    for name, package in facts["packages"].items():
        if package["version"] is None:
            problems.append(f"{name} is not installed: run 'make setup'")
        elif _numbers(package["version"]) < _numbers(package["least"]):
            problems.append(
                f"{name} is {package['version']}, and respawn needs {package['least']} or newer: run 'make setup'"
            )
    if facts["cuda"] and not facts["gpus"] and facts["driver"]:
        problems.append(
            "torch is built for CUDA and sees no GPU although a driver is here: look at what 'nvidia-smi' says, "
            "and whether CUDA_VISIBLE_DEVICES hides it"
        )
    if not facts["runs_writable"]:
        problems.append(f"the runs folder {facts['runs']} cannot be written: give another with --runs")
    if facts["free_disk_gib"] < LEAST_DISK_GIB:
        problems.append(f"only {facts['free_disk_gib']} GiB are free where runs go: make room, or use --runs elsewhere")
    if facts["free_memory_gib"] < LEAST_MEMORY_GIB:
        problems.append(f"only {facts['free_memory_gib']} GiB of memory are free: close something")
    return problems


def find_warnings(facts: dict[str, Any]) -> list[str]:
    """What would make a run slower, or might surprise, each with what to do about it."""
    warnings = []
    if _numbers(facts["python"])[:2] > NEWEST_TRIED_PYTHON:
        newest = ".".join(map(str, NEWEST_TRIED_PYTHON))
        warnings.append(f"Python is {facts['python']}, and respawn was tried up to {newest}: use that if things fail")
    if facts["driver"] and not facts["cuda"]:
        warnings.append("a GPU's driver is here and torch is built without CUDA: install torch for CUDA to use the GPU")
    for name, value in facts["thread_settings"].items():
        if not value.isdigit() or value == "0":
            warnings.append(f"{name} should be a number of threads and is '{value}': unset it")
        elif int(value) > facts["usable_cores"]:
            warnings.append(
                f"{name} is {value} and only {facts['usable_cores']} cores are usable: "
                "threads would wait for each other; unset it"
            )
    if facts["compiler"] is None:
        warnings.append(
            "there is no C++ compiler, so the NES engine will interpret its games, which is several times slower, and "
            "--learner.compile cannot be used: install g++, or let CXX name a compiler"
        )
    shared = facts["free_shared_memory_gib"]
    if shared is not None and shared < LEAST_SHARED_MEMORY_GIB:
        warnings.append(
            f"only {shared} GiB of shared memory are free, which worker processes talk through: "
            "give a container more by --shm-size, or use --world.workers 0"
        )
    return warnings


def _compiler() -> str | None:
    """The one the user names in CXX, or the first that is installed."""
    named = os.environ.get("CXX", "").split()[:1]
    return next(filter(None, map(shutil.which, named or ("g++", "c++", "clang++"))), None)


def _packages() -> dict[str, dict[str, str | None]]:
    """The packages that respawn needs: the version that is here and the least that will do."""
    needed = (
        re.match(r"([\w.-]+)\s*>=\s*([\d.]+)", line) for line in metadata.requires("respawn") or () if ";" not in line
    )
    return {match[1]: {"version": _version(match[1]), "least": match[2]} for match in needed if match}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.13.0+cpu is (2, 13, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in match[0].split(".")) if match else ()


def _gib(size: int) -> float:
    return round(size / 2**30, 1)
