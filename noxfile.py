"""Does Respawn work with other versions of torch, Gymnasium, NumPy and Python? What came of it: docs/compatibility.md.

    nox                               all combinations, one after the other: some gigabytes for each torch
    nox -s "compatibility(newest)"    one of them
    nox -- --to FOLDER                results as JSON to a folder; without it, to build/compatibility
    python tools/compatibility_table.py FOLDER    the table

A combination needs its Python on the path; where that is missing, nox passes it over and says so.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import nox

nox.options.sessions = ["compatibility"]
nox.options.stop_on_first_error = False
nox.options.error_on_missing_interpreters = False

ROOT = Path(__file__).parent
RESULTS = ROOT / "build" / "compatibility"
WATCHED = ("torch", "gymnasium", "numpy")
PEERS = ("gym-super-mario-bros==7.4.0", "nes-py==8.2.1", "gym==0.26.2", "pyglet==1.5.21", "tqdm")
"""The last two are what nes-py asks for; without dependencies, for gym would choose the NumPy."""
EXTRAS = ("pettingzoo", "sweep")


@dataclass(frozen=True)
class Combination:
    """Versions that are tried together."""

    name: str
    python: str
    torch: str
    gymnasium: str
    numpy: str
    floor: bool = False
    """every other package at the lowest version that pyproject.toml allows, too"""
    also: tuple[str, ...] = ()
    """what else must be of certain versions"""


COMBINATIONS = (
    Combination("floor", "3.11", "2.6.0", "1.1.0", "2.0.0", floor=True),
    Combination("pinned", "3.11", "2.13.0", "1.4.0", "2.4.6"),
    Combination("middle", "3.12", "2.9.1", "1.2.3", "2.1.3"),
    Combination("new-torch-old-rest", "3.12", "2.15.0", "1.1.1", "2.0.2"),
    Combination("old-torch-new-rest", "3.13", "2.6.0", "1.4.0", "2.5.4"),
    Combination("newest", "3.13", "2.15.0", "1.4.0", "2.5.4"),
    # Below what pyproject.toml allows, to see whether it is right.
    Combination("torch-below", "3.11", "2.5.1", "1.4.0", "2.4.6"),
    Combination("gymnasium-below", "3.11", "2.13.0", "1.0.0", "2.4.6"),
    Combination("numpy-below", "3.11", "2.13.0", "1.4.0", "1.26.4"),
    Combination("numpy-below-and-pyarrow", "3.11", "2.13.0", "1.4.0", "1.26.0", also=("pyarrow<26",)),
)


def dependencies() -> list[str]:
    """What the package asks for, extras that are tested included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [requirement for extra in EXTRAS for requirement in project["optional-dependencies"][extra]]
    return [*project["dependencies"], *extras]


def package_of(requirement: str) -> str:
    """The name in a requirement such as 'torch>=2.6'."""
    found = re.match(r"[A-Za-z0-9_-]+", requirement)
    assert found is not None
    return found.group()


def wanted(combination: Combination) -> list[str]:
    """What is installed for a combination, beside the package itself."""
    pinned = [f"{name}=={getattr(combination, name)}" for name in WATCHED]
    others = [requirement for requirement in dependencies() if package_of(requirement) not in WATCHED]
    lowest = [requirement.replace(">=", "==") for requirement in others]
    return [*pinned, *(lowest if combination.floor else others), *combination.also]


@nox.session
@nox.parametrize(
    ["python", "combination"],
    [nox.param(each.python, each, id=each.name) for each in COMBINATIONS],
)
def compatibility(session: nox.Session, combination: Combination) -> None:
    """Install a combination, and see what works."""
    to = Path(session.posargs[1]).resolve() if session.posargs[:1] == ["--to"] else RESULTS
    session.install("setuptools<81", "wheel")  # gym and nes-py are no longer maintained, and build as was usual then
    session.install(*wanted(combination))
    # Without dependencies: they are there, and pip would refuse to go below the versions that the package asks for.
    session.install("--no-deps", wheel_for(session, combination.python))
    session.install("--no-deps", "--no-build-isolation", *PEERS)
    out = to / f"{combination.name}.json"
    session.run("python", "tools/compatibility_smoke.py", "--name", combination.name, "--out", str(out))


def wheel_for(session: nox.Session, python: str) -> str:
    """The package as a wheel; one that is newer than all that it is made of is taken as it is."""
    kind = "3.11" if python == "3.11" else "3.12-and-later"  # see [tool.scikit-build] in pyproject.toml
    folder = RESULTS / f"wheel-{kind}"
    newest = max(path.stat().st_mtime for path in made_of())
    for wheel in folder.glob("respawn-*.whl"):
        if wheel.stat().st_mtime > newest:
            return str(wheel)
        wheel.unlink()
    session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("respawn-*.whl")
    return str(wheel)


def made_of() -> list[Path]:
    """The files that a wheel is made of."""
    files = [path for room in ("src", "native") for path in (ROOT / room).rglob("*") if path.suffix != ".pyc"]
    return [*(path for path in files if path.is_file()), ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
