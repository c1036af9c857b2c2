"""respawn evaluate RUN."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.tables import print_facts
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import find

if TYPE_CHECKING:
    from respawn.training.judge import Judgement


@dataclass(frozen=True)
class EvaluateArguments:
    """Play episodes with a run's policy, each from a seed of its own, and sum them up."""

    run: RunName
    """name of the run, or path of its folder"""
    episodes: int = 100
    """how many episodes to play"""
    seed_base: int = 3_000_000
    """episode i is played from seed-base + i"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    lanes: int = 50
    """episodes played at a time; makes no difference to greedy ones"""
    limit_steps: int = 10_000
    """cut episodes longer than this, and count them as unfinished"""
    device: str = "cpu"
    """where to compute"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Evaluate a run."""
    arguments = parse(EvaluateArguments, words, "respawn evaluate")
    check_at_least(arguments, {"episodes": 1, "seed_base": 0, "lanes": 1, "limit_steps": 1})
    folder = find(arguments.runs, arguments.run)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.saved_config import check_saved_config
    from respawn.training.judge import judge

    check_saved_config(folder)
    evaluation = EvaluationConfig(
        episodes=arguments.episodes,
        num_lanes=arguments.lanes,
        seed_base=arguments.seed_base,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
    )
    judgement = judge(folder, evaluation, which=arguments.checkpoint, device_name=arguments.device)
    for damaged in judgement.passed_over:
        print(f"respawn: passed over a damaged checkpoint, {damaged}", file=sys.stderr)
    summary = {"run": folder.name, **_summary(judgement), "seed_base": arguments.seed_base, "greedy": evaluation.greedy}
    if arguments.json:
        returns = [episode.episode_return for episode in judgement.episodes]
        lengths = [episode.length for episode in judgement.episodes]
        print(json.dumps({**summary, "returns": returns, "lengths": lengths}, indent=2))
    else:
        _show(summary)
    return 0


def _summary(judgement: "Judgement") -> dict[str, Any]:
    return {
        "checkpoint": judgement.checkpoint,
        "passed_over": list(judgement.passed_over),
        "updates": judgement.updates,
        "decisions": judgement.decisions,
        "weights_sha256": judgement.weights_sha256,
        **{name.removeprefix("evaluation/"): value for name, value in judgement.metrics.items()},
        "episodes": len(judgement.episodes),
        "ends": dict(Counter(episode.end for episode in judgement.episodes)),
    }


def _show(summary: dict[str, Any]) -> None:
    facts = {
        "return": f"{summary['return_mean']:.2f} ± {summary['return_std']:.2f}",
        "95 % interval": f"{summary['return_low']:.2f} to {summary['return_high']:.2f} (of the mean)",
        "range": f"{summary['return_min']:.2f} to {summary['return_max']:.2f}",
        "length": f"{summary['length_mean']:.1f} steps on average",
        "ends": ", ".join(f"{end} {count}" for end, count in summary["ends"].items()),
        "seeds": f"{summary['seed_base']} to {summary['seed_base'] + summary['episodes'] - 1}",
        "policy": f"{'greedy' if summary['greedy'] else 'sampled'}, checkpoint {summary['checkpoint']}",
        "weights": summary["weights_sha256"],
    }
    print_facts(f"{summary['run']}: {summary['episodes']:,} episodes", facts)
