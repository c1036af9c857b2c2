"""Files and folders that results are written to: refused before any work is done for them, and never a run's own."""

from pathlib import Path

from respawn.errors import ConfigError, VideoError
from respawn.evaluation.out_files import prepare_place
from respawn.runs.layout import RunFolder
from respawn.runs.whole_files import write_text

_RESULTS = (".csv", ".md")
"""Endings that no file has which a run writes about itself: such a one in its folder may be replaced."""


def check_result_file(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written, or holds something else than results. Nothing is left there.

    Args:
      option: by which it was asked for.
      path: of the file; None: none was asked for.
    """
    problem = None if path is None else _why_not(path)
    if problem is not None:
        raise ConfigError(f"{option} wants a file for the results, and {path} {problem}; name another")


def write_result(path: Path, text: str) -> None:
    """Write a file that was checked; a link stays one, and what it leads to is written."""
    write_text(path.resolve(), text)


def run_around(path: Path) -> RunFolder | None:
    """The run whose folder a path is, or lies in; None: it is of none."""
    place = path.resolve()
    folders = (RunFolder(folder) for folder in (place, *place.parents))
    return next((folder for folder in folders if folder.meta.is_file() and folder.config.is_file()), None)


def _why_not(path: Path) -> str | None:
    place = path.resolve()
    if place.is_dir():
        return "is a folder"
    if place.exists() and not place.is_file():
        return "is no file"
    run = run_around(place.parent)
    if run is not None and place.exists() and place.suffix.lower() not in _RESULTS:
        return f"is a file of the run {run.name}"
    try:
        prepare_place(next(parent for parent in place.parents if parent.exists()) / place.name)
    except VideoError as error:
        return f"cannot be written ({getattr(error.__cause__, 'strerror', error)})"
    return None
