"""The best few trials once more, on seeds that nothing in the sweep was judged by.

The best of many is partly the luckiest: its value was chosen for being high. On fresh seeds that luck is gone.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

import optuna

from respawn.checkpoints.store import WEIGHTS, Found, check_identity, read_part
from respawn.contracts.learner import Weights
from respawn.errors import CheckpointError, LearningError, RespawnError
from respawn.learners.out_of_memory import gpu_is_full, host_is_full, in_short
from respawn.observers.hub import ObserverHub
from respawn.runs.layout import RunFolder, find
from respawn.sweeps.definition import Definition
from respawn.sweeps.rows import TrialRow
from respawn.training.assemble import assemble, identity_of
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.judge import check_fresh_seeds, find_checkpoint
from respawn.training.recorded import load_config
from respawn.training.trial import without_actors

FRESH_SEED_BASE = 5_000_000
"""Above those of evaluations (1,000,000) and of 'respawn evaluate' (3,000,000), far below scouts' (1,000,000,000)."""

FINALS = "respawn_finals"
"""The study's attribute that says what the best came to on fresh seeds."""


@dataclass(frozen=True)
class Final:
    """What a trial's policy came to on fresh seeds."""

    number: int
    run: str
    checkpoint: str
    weights_sha256: str
    value: float
    episodes: int
    seed_base: int


def judge_again(row: TrialRow, definition: Definition, runs_dir: Path, episodes: int) -> Final:
    """Play episodes from fresh seeds with the policy that the trial's value is about; raises where it is gone.

    Args:
      row: the trial.
      definition: what the study is.
      runs_dir: the folder that holds the runs.
      episodes: how many.
    """
    folder = find(runs_dir, row.run)
    config = load_config(folder)
    check_fresh_seeds(config, FRESH_SEED_BASE, FRESH_SEED_BASE + episodes - 1)
    found = _checkpoint_of(row, definition, folder, config)
    fresh = replace(config.evaluation, episodes=episodes, seed_base=FRESH_SEED_BASE, worst_films=0)
    device = resolve_device(config.device, wants_gpu=config.wants_gpu)
    prepare_torch(device, config.threads)
    with TemporaryDirectory(prefix="respawn-finals-") as aside:
        judging = replace(without_actors(config), evaluation=fresh)
        parts = assemble(judging, RunFolder(Path(aside)), ObserverHub({}), device)
        try:
            check_identity(found, identity_of(config, parts.world))
            # Knobs say how fast schools begin and which levels are open, so they must be those of that moment.
            for name in (WEIGHTS, "clock", "director"):
                parts.parts[name].restore(read_part(found.path, found.manifest, name))
            weights = Weights(version=found.manifest.updates, tensors=parts.weights.state())
            report = parts.evaluator.evaluate(weights, parts.clock, parts.director.knobs(parts.clock))
        finally:
            parts.close()
    value = report.metrics.get(definition.objective)
    if value is None or not isfinite(value):
        raise LearningError(f"run {row.run} says no {definition.objective} on fresh seeds")
    weights_sha256 = found.manifest.weights_sha256
    return Final(row.trial, row.run, found.path.name, weights_sha256, value, episodes, FRESH_SEED_BASE)


def _checkpoint_of(row: TrialRow, definition: Definition, folder: RunFolder, config: RunConfig) -> Found:
    """The trial's last checkpoint, or its best; raises CheckpointError where the run has gone on since, or lost it."""
    found = find_checkpoint(folder, config, "best" if definition.score == "best" else f"u{row.updates or 0:08d}")
    is_last = found.manifest.weights_sha256 == row.weights_sha256
    if not is_last and (definition.score != "best" or found.manifest.updates > (row.updates or 0)):
        raise CheckpointError(f"run {row.run} has other weights than the trial ended with; it was trained on since")
    return found


def kept_finals(study: optuna.Study, rows: Sequence[TrialRow]) -> list[Final]:
    """Those of these trials that were judged before."""
    complete = {row.trial for row in rows if row.state == "complete"}
    kept = [Final(**plain) for plain in study.user_attrs.get(FINALS, [])]
    return [final for final in kept if final.number in complete]


def finals_of(
    study: optuna.Study,
    definition: Definition,
    best: Sequence[TrialRow],
    runs_dir: Path,
    episodes: int,
    tell: Callable[[str], None],
) -> list[Final]:
    """Judge the best trials again, those that were not before; each is kept in the study as soon as it is judged.

    Args:
      study: the study.
      definition: what it is.
      best: the trials to judge.
      runs_dir: the folder that holds the runs.
      episodes: how many each plays.
      tell: is told what is being done, and what could not be.
    """
    kept = {final.number: final for final in kept_finals(study, best) if final.episodes == episodes}
    finals: list[Final] = []
    for row in best:
        if row.trial not in kept:
            tell(f"Judging trial {row.trial} again, on {episodes} fresh seeds.")
            try:
                kept[row.trial] = judge_again(row, definition, runs_dir, episodes)
            except RespawnError as error:  # its run may lie on another machine, or have been cleared away
                tell(f"Trial {row.trial} cannot be judged again: {error}")
                continue
            except (RuntimeError, MemoryError) as error:
                if not gpu_is_full(error) and not host_is_full(error):
                    raise
                tell(f"Trial {row.trial} cannot be judged again, for want of memory: {in_short(error)}")
                continue
            _keep(study, kept[row.trial])
        finals.append(kept[row.trial])
    return finals


def _keep(study: optuna.Study, final: Final) -> None:
    """Put it among what the study knows now: others judge trials too, and other trials were the best before."""
    kept = {plain["number"]: plain for plain in study.user_attrs.get(FINALS, [])}
    kept[final.number] = asdict(final)
    study.set_user_attr(FINALS, list(kept.values()))
