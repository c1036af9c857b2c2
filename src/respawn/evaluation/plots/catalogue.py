"""Which figures there are, and drawing all that a run has the data for."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from respawn.errors import ConfigError, RunFolderError
from respawn.evaluation.artefacts.probe_rows import death_histogram_path
from respawn.evaluation.plots.curve import draw_learning_curve
from respawn.evaluation.plots.curve_film import draw_curve_film
from respawn.evaluation.plots.figure import save_figure
from respawn.evaluation.plots.fish_probes import (
    NO_PROBES,
    draw_death_histogram,
    draw_probe_deaths,
    draw_probe_timeline,
)
from respawn.evaluation.plots.fish_training import (
    draw_first_death,
    draw_penalty_and_entropy,
    draw_penalty_and_first_death,
    draw_survival,
)
from respawn.evaluation.plots.gate_timeline import draw_gate_timeline
from respawn.evaluation.plots.health import draw_learning_health
from respawn.evaluation.plots.index_page import write_index
from respawn.evaluation.plots.shown_run import Drawn, ShownRun
from respawn.evaluation.plots.step_one import draw_heading_polar, draw_stage_distribution
from respawn.evaluation.plots.tail_warning import draw_tail_warning
from respawn.evaluation.run_record import RunRecord, read_record
from respawn.runs.layout import RunFolder

FIGURES: dict[str, Callable[[ShownRun], Drawn]] = {
    "survival": draw_survival,
    "first_death": draw_first_death,
    "penalty_vs_first_death": draw_penalty_and_first_death,
    "penalty_vs_entropy": draw_penalty_and_entropy,
    "multi_eval_timeline": draw_probe_timeline,
    "death_histogram": draw_death_histogram,
    "step_one_heading_polar": draw_heading_polar,
    "step_one_stage_distribution": draw_stage_distribution,
    "tail_stage_warning": draw_tail_warning,
    "gate_timeline": draw_gate_timeline,
    "learning_health": draw_learning_health,
}
HISTOGRAMS, LEARNING_CURVE, FILM = "multi_eval_hist", "learning_curve", "curve_gif"
OF_FISH = (*FIGURES, HISTOGRAMS, FILM)
OF_ANY_WORLD = (LEARNING_CURVE, "learning_health")


@dataclass
class DrawnFigures:
    """What was drawn, and what was not."""

    paths: list[Path] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """by the figure's name: why"""


def figure_names(record: RunRecord) -> tuple[str, ...]:
    """Names of what can be drawn of a run, the film included."""
    return OF_FISH if record.is_fish else OF_ANY_WORLD


def check_names(record: RunRecord, names: Collection[str], also: Collection[str] = ()) -> None:
    """Refuse names that nothing is called by.

    Args:
      record: the run.
      names: what was asked for.
      also: other names that are known.
    """
    known = (*figure_names(record), *also)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(
            f"run {record.name} has no figure called {' or '.join(unknown)}; choose from {', '.join(known)}"
        )


def draw_all(
    folder: RunFolder,
    *,
    record: RunRecord | None = None,
    svg: bool = True,
    gif: bool = True,
    only: Collection[str] = (),
    tell: Callable[[str, float], None] = lambda doing, part: None,
) -> DrawnFigures:
    """Draw everything that a run has the data for into its plots/ and media/, and a page that shows it.

    Args:
      folder: the run, which may be going on; figures of an earlier time are replaced.
      record: what was read from it, if it was already.
      svg: write each figure as an SVG too.
      gif: make the film of the learning curve too.
      only: names of those to draw; none: all.
      tell: is told what is being done, and which part of all is done.
    """
    record = read_record(folder) if record is None else record
    check_names(record, only)
    run, drawn = ShownRun(record), DrawnFigures()
    wanted = [name for name in figure_names(record) if (not only or name in only) and (gif or name != FILM)]
    for place, name in enumerate(wanted):
        tell(f"drawing {name}", place / len(wanted))
        if name == FILM:
            path = folder.path / "media" / f"{run.name}_curve.gif"
            _keep(drawn, name, path, draw_curve_film(run, path))
        elif name == LEARNING_CURVE:
            _draw_curve(folder, drawn, svg)
        elif name == HISTOGRAMS:
            _draw_histograms(run, drawn, svg)
        else:
            _save(drawn, name, FIGURES[name](run), _stem(run, name), svg)
    drawn.paths.append(write_index(run, drawn.left_out))
    return drawn


def plots_folder(folder: RunFolder) -> Path:
    """Where a run's figures are."""
    return folder.path / "plots"


def _stem(run: ShownRun, name: str) -> Path:
    return plots_folder(run.record.folder) / f"{run.name}_{name}"


def _draw_histograms(run: ShownRun, drawn: DrawnFigures, svg: bool) -> None:
    if not run.probes:
        drawn.left_out[HISTOGRAMS] = NO_PROBES
    for probe in run.probes:
        path = run.record.folder.path / death_histogram_path(run.name, probe.iteration)
        _save(drawn, HISTOGRAMS, draw_probe_deaths(run, probe), path.with_suffix(""), svg)


def _draw_curve(folder: RunFolder, drawn: DrawnFigures, svg: bool) -> None:
    stem = plots_folder(folder) / f"{folder.name}_{LEARNING_CURVE}"
    for path in _paths(stem, svg):
        try:
            draw_learning_curve(folder, path)
        except RunFolderError as error:
            drawn.left_out[LEARNING_CURVE] = str(error)
            return
        drawn.paths.append(path)


def _save(drawn: DrawnFigures, name: str, made: Drawn, stem: Path, svg: bool) -> None:
    for path in _paths(stem, svg):
        if not isinstance(made, str):
            save_figure(made, path)
        _keep(drawn, name, path, made if isinstance(made, str) else None)


def _keep(drawn: DrawnFigures, name: str, path: Path, why_not: str | None) -> None:
    if why_not is None:
        drawn.paths.append(path)
        return
    path.unlink(missing_ok=True)  # of a run that was set back to before it had the data
    drawn.left_out[name] = why_not


def _paths(stem: Path, svg: bool) -> Iterator[Path]:
    # Not with_suffix: a run's name may have dots in it.
    yield stem.with_name(f"{stem.name}.png")
    if svg:
        yield stem.with_name(f"{stem.name}.svg")
