"""respawn evaluate RUN."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from respawn.cli.arguments import parse
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import find
from respawn.training.judge import Judgement, judge


@dataclass(frozen=True)
class EvaluateArguments:
    """Play episodes with a run's policy, each from a seed of its own, and sum them up."""

    run: Annotated[str, tyro.conf.Positional]
    """name of the run, or path of its folder"""
    runs: Path = Path("runs")
    """the folder that holds the runs"""
    episodes: int = 100
    """how many episodes to play"""
    seed_base: int = 3_000_000
    """episode i is played from seed-base + i"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    lanes: int = 50
    """episodes played at a time; makes no difference to greedy ones"""
    limit_steps: int = 10_000
    """cut episodes longer than this, and count them as unfinished"""
    device: str = "cpu"
    """where to compute"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Evaluate a run."""
    arguments = parse(EvaluateArguments, words, "respawn evaluate")
    folder = find(arguments.runs, arguments.run)
    evaluation = EvaluationConfig(
        episodes=arguments.episodes,
        num_lanes=arguments.lanes,
        seed_base=arguments.seed_base,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
    )
    judgement = judge(folder, evaluation, which=arguments.checkpoint, device_name=arguments.device)
    summary = {"run": folder.name, **_summary(judgement), "seed_base": arguments.seed_base, "greedy": evaluation.greedy}
    if arguments.json:
        returns = [episode.episode_return for episode in judgement.episodes]
        lengths = [episode.length for episode in judgement.episodes]
        print(json.dumps({**summary, "returns": returns, "lengths": lengths}, indent=2))
    else:
        _show(summary)
    return 0


def _summary(judgement: Judgement) -> dict[str, Any]:
    return {
        "checkpoint": judgement.checkpoint,
        "updates": judgement.updates,
        "decisions": judgement.decisions,
        "weights_sha256": judgement.weights_sha256,
        **{name.removeprefix("evaluation/"): value for name, value in judgement.metrics.items()},
        "episodes": len(judgement.episodes),
        "ends": dict(Counter(episode.end for episode in judgement.episodes)),
    }


def _show(summary: dict[str, Any]) -> None:
    table = Table(title=f"{summary['run']}: {summary['episodes']} episodes", show_header=False)
    ends = ", ".join(f"{end} {count}" for end, count in summary["ends"].items())
    interval = f"{summary['return_low']:.2f} to {summary['return_high']:.2f}"
    for label, value in {
        "return": f"{summary['return_mean']:.2f} ± {summary['return_std']:.2f}",
        "95 % interval of the mean": interval,
        "lowest, highest": f"{summary['return_min']:.2f}, {summary['return_max']:.2f}",
        "length": f"{summary['length_mean']:.1f} steps",
        "ends": ends,
        "policy": f"{'greedy' if summary['greedy'] else 'sampled'}, checkpoint {summary['checkpoint']}",
        "seeds": f"{summary['seed_base']} to {summary['seed_base'] + summary['episodes'] - 1}",
    }.items():
        table.add_row(label, value)
    Console().print(table)
