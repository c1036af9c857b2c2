"""The same names in Weights & Biases, for those who have it: an extra, `pip install 'respawn[wandb]'`."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from respawn.contracts.records import EvaluationReport, Record, ResourceReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.errors import ConfigError
from respawn.observers.ruling_numbers import ruling_numbers
from respawn.observers.throttle import EverySeconds
from respawn.observers.whereabouts import Whereabouts


def import_wandb() -> Any:
    """The package; raises ConfigError where it is not installed."""
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise ConfigError(
            "observers.wandb-project wants the package wandb, which is not installed; "
            "pip install 'respawn[wandb]', or leave the setting out"
        ) from error


class WandB:
    """Mirrors what TensorBoard draws. A run that is resumed goes on in the same place."""

    def __init__(self, wandb: Any, folder: Path, project: str, name: str, run_id: str, every_seconds: float) -> None:
        try:
            self._run = wandb.init(project=project, name=name, id=run_id, resume="allow", dir=str(folder))
        except wandb.Error as error:
            why = str(error).rstrip(".")
            raise ConfigError(
                f"observers.wandb-project wants Weights & Biases, which does not begin ({why}); log in with "
                "'wandb login', or keep the curves on this machine with WANDB_MODE=offline, or leave the setting out"
            ) from error
        self._run.define_metric("decisions")
        self._run.define_metric("*", step_metric="decisions")
        self._throttle = EverySeconds(every_seconds)
        self._where = Whereabouts()
        self._untold: UpdateReport | None = None

    def receive(self, record: Record) -> None:
        """Mirror an evaluation, a sample, a ruling, or an update if the last one is long enough ago."""
        self._where.note(record)
        if isinstance(record, UpdateReport):
            self._untold = record
            if self._throttle.due():
                self._tell_update()
        elif isinstance(record, EvaluationReport | ResourceReport):
            self._log(record.metrics, record.update, record.decisions)
        elif isinstance(record, Ruling):
            self._log(ruling_numbers(record), *self._where.update_and_decisions())

    def state(self) -> StateTree:
        """How far the run is; Weights & Biases keeps what it was told."""
        return self._where.state()

    def restore(self, state: StateTree) -> None:
        """Know how far the run is. Rows that are made again are told again, at the same decisions."""
        self._where.restore(state)

    def close(self) -> None:
        """Mirror the last update and take leave; safe to call twice."""
        self._tell_update()
        if self._run is not None:
            self._run.finish()
            self._run = None

    def _tell_update(self) -> None:
        if self._untold is not None:
            report, self._untold = self._untold, None
            self._log(report.metrics, report.update, report.decisions)

    def _log(self, metrics: Mapping[str, float], update: int, decisions: int) -> None:
        if self._run is not None:
            self._run.log({**metrics, "update": update, "decisions": decisions})
