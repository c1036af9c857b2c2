"""Judging a run's saved policy, apart from its training."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from respawn.checkpoints.store import WEIGHTS, Found, check_identity, find_best, find_newest, read_part, saved
from respawn.contracts.learner import Weights
from respawn.contracts.records import Episode
from respawn.contracts.world import WorldSpec
from respawn.errors import CheckpointError, ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.evaluator import Evaluator, summarise
from respawn.learners.trainee import ModelWeights
from respawn.runs.layout import RunFolder
from respawn.training.assemble import identity_of, make_judging_world
from respawn.training.collecting import fresh_model
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.recorded import load_config


@dataclass(frozen=True)
class Judgement:
    """What a policy did, and which policy it was."""

    checkpoint: str
    updates: int
    decisions: int
    weights_sha256: str
    passed_over: tuple[str, ...]
    """newer checkpoints that are damaged, and how"""
    metrics: Mapping[str, float]
    episodes: tuple[Episode, ...]


def judge(
    folder: RunFolder, evaluation: EvaluationConfig, *, which: str = "newest", device_name: str = "cpu"
) -> Judgement:
    """Play the episodes that `evaluation` asks for with a run's policy.

    Args:
      folder: the run.
      evaluation: how many episodes, on which seeds.
      which: 'newest', 'best', or the name of a checkpoint.
      device_name: where to compute.
    """
    config = load_config(folder)
    device = resolve_device(device_name, wants_gpu=False)
    prepare_torch(device, config.threads)
    found = find_checkpoint(folder, config, which)
    world = make_judging_world(
        config, min(evaluation.num_lanes, evaluation.episodes), folder, lambda event: None, device
    )
    try:
        weights = load_weights(config, found, world.spec, device)
        evaluator = Evaluator(lambda num_lanes: world, fresh_model(config, world.spec, device), evaluation, device)
        episodes = evaluator.play(weights)
    finally:
        world.close()
    manifest = found.manifest
    return Judgement(
        checkpoint=found.path.name,
        updates=manifest.updates,
        decisions=manifest.decisions,
        weights_sha256=manifest.weights_sha256,
        passed_over=found.passed_over,
        metrics=summarise(episodes),
        episodes=tuple(episodes),
    )


def check_fresh_seeds(config: RunConfig, first: int, last: int, of_what: str = "") -> None:
    """Refuse seeds by which the run was judged while it learned: its best checkpoint was chosen by them."""
    watched = config.evaluation
    last_watched = watched.seed_base + watched.episodes - 1
    if watched.every_updates > 0 and first <= last_watched and watched.seed_base <= last:
        raise ConfigError(
            f"fresh seeds are wanted, and of {first} to {last}{of_what}, some are among those that the run was judged "
            f"by while it learned ({watched.seed_base} to {last_watched}); name another --seed-base"
        )
    if watched.scout.episodes > 0 and last >= watched.scout.seed_base:
        raise ConfigError(
            f"fresh seeds are wanted, and of {first} to {last}{of_what}, some may be among those that hard starts were "
            f"harvested from ({watched.scout.seed_base} and on); name a lower --seed-base"
        )


def find_checkpoint(folder: RunFolder, config: RunConfig, which: str) -> Found:
    """The checkpoint that `which` means; raises CheckpointError where there is none."""
    if which == "best":
        found = find_best(folder.checkpoints, config.checkpoints)
    elif which == "newest":
        found = find_newest(folder.checkpoints)
    else:
        found = find_newest(folder.checkpoints, only=which)
    if found is None:
        there = ", ".join(path.name for path in saved(folder.checkpoints))
        what = f"no checkpoint '{which}'; there are: {there}" if there else "no checkpoint; train it first"
        raise CheckpointError(f"run {folder.name} has {what}")
    return found


def load_weights(config: RunConfig, found: Found, spec: WorldSpec, device: torch.device) -> Weights:
    """The checkpoint's weights, known to be this run's."""
    check_identity(found, identity_of(config, spec))
    part = ModelWeights(fresh_model(config, spec, device))
    part.restore(read_part(found.path, found.manifest, WEIGHTS))
    return Weights(version=found.manifest.updates, tensors=part.state())
