"""Updates whose numbers are not finite: the batch is kept for whoever looks into it, and the run stops or goes on."""

import json
import shutil
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

from torch import Tensor

from respawn.checkpoints.codec import encode
from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.learner import Weights
from respawn.contracts.records import Event, LearnReport, Rollout
from respawn.contracts.saveable import StateTree
from respawn.errors import LearningError
from respawn.learners.soundness import explain, not_finite
from respawn.memory.rollouts import rollout_state
from respawn.training.faults_config import FaultsConfig

MOST_KEPT = 5
"""Batches that are kept: those that first went wrong say most, and they may be large."""


class NumberGuard:
    """Lets sound updates pass. Remembers how many were dropped in a row."""

    def __init__(self, config: FaultsConfig, folder: Path, notify: Callable[[Event], None]) -> None:
        self._config = config
        self._folder = folder
        self._notify = notify
        self._in_a_row = 0

    def passed(
        self, learned: LearnReport, rollout: Rollout, knobs: Knobs, clock: Clock, weights: Callable[[], Weights]
    ) -> LearnReport:
        """What the learner said, with whether the update was dropped; raises LearningError where that is not to be.

        Args:
          learned: of the update that was just made.
          rollout: what it learned from.
          knobs: what held.
          clock: not advanced yet.
          weights: asked only where something is wrong; the bad steps have not moved them.
        """
        broken = not_finite(learned.metrics)
        if not broken:
            self._in_a_row = 0
            return LearnReport({**learned.metrics, "learn/dropped": 0.0})
        self._in_a_row += 1
        update = clock.updates + 1
        sentence = f"{explain(learned.metrics, rollout)} at update {update}"
        kept = self._keep(update, sentence, learned, rollout, knobs, weights())
        if kept is not None:
            sentence += f"; the batch is in {kept.parent.name}/{kept.name}"
        facts = {"update": update, "in_a_row": self._in_a_row, "kept": None if kept is None else str(kept)}
        if self._config.not_finite == "stop" or self._in_a_row > self._config.most_dropped:
            again = f", {self._in_a_row} times in a row" if self._in_a_row > 1 else ""
            setting = (
                "set faults.not_finite to go-on" if self._config.not_finite == "stop" else "raise faults.most_dropped"
            )
            raise LearningError(
                f"{sentence}{again}; the weights were not moved by it and this update is not saved: mend what caused "
                f"it, or {setting} in config.json, then resume"
            )
        sentence += "; the update is dropped, and the run goes on with the weights as they were"
        self._notify(Event("update_dropped", sentence, "warning", facts))
        return LearnReport({**learned.metrics, "learn/dropped": 1.0})

    def _keep(
        self, update: int, sentence: str, learned: LearnReport, rollout: Rollout, knobs: Knobs, weights: Weights
    ) -> Path | None:
        """Write the batch, the weights and all numbers aside; None where enough of them are there already."""
        final = self._folder / f"u{update:08d}"
        others = [path for path in self._folder.glob("u*") if path != final] if self._folder.exists() else []
        if len(others) >= MOST_KEPT:
            return None
        aside = self._folder / f".writing-{final.name}"
        try:
            for leftover in self._folder.glob(".writing-*"):  # of a process that was killed
                shutil.rmtree(leftover)
            aside.mkdir(parents=True)
            for name, state in {"rollout": rollout_state(rollout), "weights": dict(weights.tensors)}.items():
                for suffix, content in encode(state).items():
                    (aside / f"{name}{suffix}").write_bytes(content)
            told = {
                "sentence": sentence,
                "metrics": {name: _writable(value) for name, value in learned.metrics.items()},
                "knobs": dict(knobs.values),
                "weights_version": weights.version,
                "not_finite": _where(rollout),
            }
            (aside / "facts.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(final, ignore_errors=True)  # the same update, made again after a resume
            aside.rename(final)
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            self._notify(Event("batch_not_kept", f"the batch of update {update} could not be kept: {error}", "warning"))
            return None
        return final

    def state(self) -> StateTree:
        """How many updates were dropped in a row."""
        return {"in_a_row": self._in_a_row}

    def restore(self, state: StateTree) -> None:
        """Count on."""
        self._in_a_row = int(state["in_a_row"])


def _writable(value: float) -> float | str:
    """A number that JSON has, or the word for one that it lacks, as in updates.jsonl."""
    return value if isfinite(value) else str(value)


def _where(rollout: Rollout) -> dict[str, Any]:
    """Of each tensor with numbers that are not finite, how many, and where the first is: step and lane come first."""
    tensors: dict[str, Tensor] = {
        "observations": rollout.observations,
        "cut_observations": rollout.cut_observations,
        "rewards": rollout.rewards,
        "behaviour_log_probs": rollout.behaviour_log_probs,
        **{f"memory.{name}": tensor for name, tensor in rollout.memory.items()},
    }
    found = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():  # pictures are whole numbers, and many
            continue
        bad = (~tensor.isfinite()).nonzero()
        if len(bad):
            found[name] = {"count": len(bad), "first": bad[0].tolist(), "of": list(tensor.shape)}
    return found
