"""Train a preset from several seeds and judge each policy on seeds that nobody looked at before."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from respawn.evaluation.config import EvaluationConfig
from respawn.observers.config import ObserversConfig
from respawn.training.config import RunConfig
from respawn.training.judge import judge
from respawn.training.launch import begin

JUDGING = EvaluationConfig(episodes=100, num_lanes=50, seed_base=9_000_000)


@dataclass(frozen=True)
class Trained:
    """One policy and how it came to be."""

    preset: str
    seed: int
    decisions: int
    train_seconds: float
    return_mean: float
    return_min: float
    weights_sha256: str


def train_seeds(preset: str, config: RunConfig, seeds: Sequence[int]) -> list[Trained]:
    """One run a seed, in a folder that is thrown away; 100 greedy episodes each from seeds 9,000,000 on."""
    trained = []
    for seed in seeds:
        quiet = replace(config, seed=seed, observers=ObserversConfig(console=False, tensorboard=False))
        with tempfile.TemporaryDirectory() as place:
            began = perf_counter()
            folder, outcome = begin(quiet, preset=preset, runs_dir=Path(place))
            seconds = perf_counter() - began
            judgement = judge(folder, JUDGING)
        trained.append(
            Trained(
                preset=preset,
                seed=seed,
                decisions=outcome.decisions,
                train_seconds=round(seconds, 1),
                return_mean=judgement.metrics["evaluation/return_mean"],
                return_min=judgement.metrics["evaluation/return_min"],
                weights_sha256=judgement.weights_sha256,
            )
        )
        print(f"{preset} seed {seed}: return {trained[-1].return_mean:.1f} after {outcome.decisions:,} decisions")
    return trained
