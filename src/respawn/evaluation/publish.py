"""All that is to be seen of a run, made from its folder: figures, a film, a page and the reference's files.

What to call when a run ends, and what `respawn plot` calls at any other time.
"""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from respawn.errors import RunFolderError
from respawn.evaluation.artefacts.write import FOLDER as ARTEFACTS
from respawn.evaluation.artefacts.write import WrittenArtefacts, write_artefacts
from respawn.evaluation.learning_health import entropy_limit, learning_health
from respawn.evaluation.plots.catalogue import DrawnFigures, check_names, draw_all
from respawn.evaluation.run_record import read_record
from respawn.runs.layout import RunFolder

_SHARE_OF_FIGURES = 0.95


@dataclass(frozen=True)
class Published:
    """What was made."""

    figures: DrawnFigures
    artefacts: WrittenArtefacts
    """nothing, for other worlds than fish"""
    health: dict[str, Any]
    """see `learning_health`"""


def publish(
    folder: RunFolder,
    *,
    svg: bool = True,
    gif: bool = True,
    only: Collection[str] = (),
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> Published:
    """Draw and write everything that a run has the data for; what was made earlier is replaced.

    Args:
      folder: the run, which may be going on.
      svg: write each figure as an SVG too.
      gif: make the film of the learning curve too.
      only: names of figures, or 'artefacts' for the reference's files; none: all.
      tell: is told what is being done, and which part of all is done.
    """
    if not os.access(folder.path, os.W_OK):
        raise RunFolderError(
            f"figures go into the run's own folder, and {folder.path} cannot be written; copy it first"
        )
    record = read_record(folder)
    also = (ARTEFACTS,) if record.is_fish else ()
    check_names(record, only, also)
    figures, artefacts = DrawnFigures(), WrittenArtefacts()
    drawn = [name for name in only if name not in also]
    if drawn or not only:
        figures = draw_all(
            folder,
            record=record,
            svg=svg,
            gif=gif,
            only=drawn,
            tell=lambda doing, part: tell(doing, _SHARE_OF_FIGURES * part),
        )
    if record.is_fish and (not only or ARTEFACTS in only):
        # After the figures: the history says where each probe's is.
        artefacts = write_artefacts(
            folder,
            record=record,
            tell=lambda doing, part: tell(doing, _SHARE_OF_FIGURES + (1 - _SHARE_OF_FIGURES) * part),
        )
    return Published(figures, artefacts, learning_health(record.updates, entropy_limit(record.config)))
