"""The weights that a run begins with, where they are not fresh: those of another run, or shipped ones."""

from pathlib import Path
from typing import Any

from respawn.contracts.records import Event
from respawn.errors import CheckpointError, ConfigError, RespawnError
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_meta
from respawn.training.config import RunConfig
from respawn.training.run import Run
from respawn.training.trained import SHIPPED, Trained, find_trained
from respawn.training.trial import Fitting, fitting_of, try_out


def find_first_weights(config: RunConfig, runs_dir: Path) -> Trained | None:
    """What `weights_from` means, known to fit the run; None where it begins with fresh weights.

    Raises:
      ConfigError: they are of another world or model.
    """
    if not config.weights_from:
        return None
    source = find_trained(runs_dir, *named_source(config.weights_from))
    check_fit(source, config, try_out(config))
    return source


def check_fit(source: Trained, config: RunConfig, wanted: Fitting) -> None:
    """Raise ConfigError if a run, whose trial came to `wanted`, cannot begin with these weights."""
    misfit = fitting_of(source.config, source.world, source.tensors).misfit(wanted)
    if misfit is not None:
        raise ConfigError(
            f"--weights-from {config.weights_from}: the weights of {source.origin} are {misfit}; name a run with the "
            "same observations, actions and model, or change the settings"
        )


def named_source(text: str, wanted_by: str = "--weights-from") -> tuple[str, str]:
    """The run and which of its checkpoints; a path may have an @ in one of its folders' names.

    Args:
      text: RUN or RUN@NAME.
      wanted_by: which option or command it was typed for.
    """
    name, at, which = text.rpartition("@")
    if not at or "/" in which:
        return text, "newest"
    if not name or not which:
        raise ConfigError(f"{wanted_by} wants RUN, RUN@best or a checkpoint as RUN@u00000100, not '{text}'")
    return name, which


def origin_of(source: Trained) -> dict[str, Any]:
    """What meta.json says of the weights that a run began with."""
    return {
        "run": source.name,
        "checkpoint": source.checkpoint,
        "updates": source.updates,
        "decisions": source.decisions,
        "weights_sha256": source.weights_sha256,
    }


def begin_with(run: Run, source: Trained) -> None:
    """Put the weights into a run that has learned nothing yet, and say so."""
    run.weights.restore(dict(source.tensors))
    for reason in source.passed_over:
        run.tell(Event("damaged_checkpoint", f"{source.name}: passed over a damaged checkpoint, {reason}", "warning"))
    message = f"begins with the weights of {source.origin} ({source.updates:,} updates)"
    run.tell(Event("weights_from", message, facts=origin_of(source)))


def find_again(folder: RunFolder, config: RunConfig) -> Trained | None:
    """The very weights that a run was to begin with, which was left before it saved them; None: fresh ones.

    Raises:
      CheckpointError: they are no longer there.
    """
    if not config.weights_from:
        return None
    recorded = read_meta(folder).weights_from or {}
    checkpoint = recorded.get("checkpoint")
    try:
        name, _ = named_source(config.weights_from)
        source = find_trained(folder.path.parent, name, "newest" if checkpoint in (None, SHIPPED) else checkpoint)
        if source.weights_sha256 != recorded.get("weights_sha256"):
            raise CheckpointError(f"{source.origin} has others now")
    except RespawnError as error:
        raise CheckpointError(
            f"run {folder.name} was left before its first checkpoint, and the weights that it begins with, of "
            f"{config.weights_from}, cannot be had again ({error}); delete {folder.path} and begin it anew"
        ) from error
    return source
