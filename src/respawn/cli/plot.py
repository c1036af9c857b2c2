"""respawn plot RUN."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, parse
from respawn.cli.progress import progress_bar
from respawn.cli.tables import print_facts
from respawn.evaluation import learning_health
from respawn.runs.layout import RunFolder, find


@dataclass(frozen=True)
class PlotArguments:
    """Draw how a run went, also while it goes on: figures, a film and a page."""

    run: RunName
    """name of the run, or path of its folder"""
    only: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FIGURE-NAME [FIGURE-NAME ...]")] = ()
    """names of figures to draw, such as survival; 'artefacts' for the JSON and TensorBoard files of fish; none: all"""
    no_svg: bool = False
    """write figures as PNG alone"""
    no_gif: bool = False
    """leave out the film of the learning curve"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Draw."""
    arguments = parse(PlotArguments, words, "respawn plot")
    folder = find(arguments.runs, arguments.run)
    # Imported only now: matplotlib takes a second to load, and a name that is wrong should be told at once.
    from respawn.evaluation.publish import publish

    with progress_bar() as tell:
        made = publish(folder, svg=not arguments.no_svg, gif=not arguments.no_gif, only=arguments.only, tell=tell)
    written = [*made.figures.paths, *made.artefacts.paths]
    left_out = {**made.figures.left_out, **made.artefacts.left_out}
    if arguments.json:
        said: dict[str, Any] = {"run": folder.name, "written": [str(path) for path in written]}
        print(json.dumps({**said, "left_out": left_out, "health": made.health}, indent=2))
        return 0
    page = next((path for path in made.figures.paths if path.suffix == ".md"), None)
    facts = {
        "page": "" if page is None else str(page),
        **_by_folder(folder, written),
        "learning": learning_health.told(made.health),
        "left out": _why(left_out),
    }
    print_facts(folder.name, facts)
    return 0


def _by_folder(folder: RunFolder, written: Sequence[Path]) -> dict[str, str]:
    """How many files of each sort were written to each folder of the run."""
    counts: dict[str, Counter[str]] = {}
    for path in written:
        place = path.relative_to(folder.path).parts[0]
        sort = "TensorBoard" if "tfevents" in path.name else path.suffix.removeprefix(".")
        counts.setdefault(place, Counter())[sort] += 1
    told = {}
    for place, sorts in counts.items():
        del sorts["md"]  # the page, which has a line of its own
        if sorts:
            files = ", ".join(f"{count} {sort}" for sort, count in sorts.items())
            told[place] = f"{files} in {folder.path / place}"
    return told


def _why(left_out: dict[str, str]) -> str:
    """What was not made, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
