"""All figures of a study, as far as there is something to draw."""

from collections.abc import Sequence
from pathlib import Path

import optuna

from respawn.evaluation.plots.figure import save_figure
from respawn.sweeps.definition import Definition
from respawn.sweeps.figures import draw_curves, draw_history, draw_importances, draw_slices
from respawn.sweeps.finals import Final
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.rows import TrialRow

FEWEST_FOR_IMPORTANCES = 8
"""Complete trials; with fewer, shares of importance would be those of chance."""


def importances(study: optuna.Study, rows: Sequence[TrialRow]) -> dict[str, float]:
    """Each setting's share in what distinguishes the best of these from the others; empty where too few are complete.

    By PED-ANOVA (Watanabe et al. 2023), which needs no more than NumPy; it says nothing where all are as good.
    """
    values = {row.value for row in rows if row.state == "complete"}
    if sum(row.state == "complete" for row in rows) < FEWEST_FOR_IMPORTANCES or len(values) < 2:
        return {}
    own = optuna.create_study(direction=study.direction)
    numbers = {row.trial for row in rows if row.state == "complete"}
    own.add_trials([trial for trial in study.get_trials(deepcopy=False) if trial.number in numbers])
    return optuna.importance.get_param_importances(own, evaluator=optuna.importance.PedAnovaImportanceEvaluator())


def publish(
    study: optuna.Study,
    definition: Definition,
    folder: StudyFolder,
    rows: Sequence[TrialRow],
    finals: Sequence[Final],
) -> list[Path]:
    """Draw all figures into the study's folder; returns their paths.

    Of trials that respawn drew: one that something else put into the study is never the best, and would here be.
    """
    rows = [row for row in rows if not row.foreign]
    if not any(row.value is not None or row.curve for row in rows):
        return []
    figures = {
        "history.png": draw_history(folder.name, definition, rows, finals),
        "curves.png": draw_curves(folder.name, definition, rows),
        "slices.png": draw_slices(folder.name, definition, rows),
    }
    shares = importances(study, rows)
    if shares:
        complete = sum(row.state == "complete" for row in rows)
        figures["importances.png"] = draw_importances(folder.name, shares, complete)
    for file, figure in figures.items():
        save_figure(figure, folder.path / file)
    return [folder.path / file for file in figures]
