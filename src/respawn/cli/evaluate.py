"""respawn evaluate RUN."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.other_worlds import refuse_options
from respawn.cli.policies import warn_of_damage
from respawn.cli.tables import print_facts
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.intervals import without_false_ends
from respawn.runs.layout import find
from respawn.weights import is_shipped
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig

if TYPE_CHECKING:
    from respawn.training.judge import Judgement
    from respawn.training.trained import Trained

LANES = 50
_LEVELS = re.compile(r"(\d+-\d+,?)+")


@dataclass(frozen=True)
class EvaluateArguments:
    """Play episodes with a run's policy, each from a seed of its own, and sum up.

    Mario is judged level by level, fish by schools, beside null policies.
    """

    run: RunName
    """name of the run, path of its folder, or 'mario' or 'fish' for the weights that come with respawn"""
    episodes: int = 100
    """how many episodes to play; Mario: in each level; fish: schools"""
    seed_base: int = 3_000_000
    """episode i is played from seed-base + i; Mario: each level's seeds begin 10,000 after those of the level before"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest; Mario and fish are judged both ways without it"""
    levels: Annotated[str | None, tyro.conf.arg(metavar="LEVELS")] = None
    """Mario: 1-1, several as 1-1,1-2 or 1-1 1-2, or all; none: those that the run learned in"""
    sticky: float | None = None
    """Mario: chance that a decision is not heard and the one before it goes on; none: as the run has it"""
    start_jitter: int | None = None
    """Mario: an episode begins after 0 to this many frames of standing still; none: as the run has it"""
    only_greedy: bool = False
    """Mario and fish: play the likeliest actions and nothing beside them"""
    no_null_policies: bool = False
    """Mario and fish: leave out the policies that know nothing"""
    fish: int | None = None
    """fish: how many in each school; none: 96"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game; none: as the run has it"""
    lanes: int | None = None
    """episodes played at a time; makes no difference to greedy ones; none: 50, Mario 100"""
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
    arguments = parse(EvaluateArguments, with_levels_in_one_word(words), "respawn evaluate")
    check_at_least(arguments, {"episodes": 1, "seed_base": 0, "lanes": 1, "limit_steps": 1})
    if is_shipped(arguments.runs, arguments.run):
        from respawn.training.trained import load_shipped

        return _evaluate_trained(load_shipped(arguments.run, arguments.checkpoint), arguments)
    folder = find(arguments.runs, arguments.run)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.judge import check_fresh_seeds, judge
    from respawn.training.recorded import load_config
    from respawn.training.trained import load_run

    config = load_config(folder)
    if isinstance(config.world, FishConfig | MarioConfig):
        return _evaluate_trained(load_run(folder, arguments.checkpoint), arguments)
    refuse_options(folder.name, arguments, ("levels", "sticky", "start_jitter", "rom"), "Mario")
    refuse_options(folder.name, arguments, ("only_greedy", "no_null_policies"), "Mario or fish")
    refuse_options(folder.name, arguments, ("fish",), "fish")
    check_fresh_seeds(config, arguments.seed_base, arguments.seed_base + arguments.episodes - 1)
    evaluation = EvaluationConfig(
        episodes=arguments.episodes,
        num_lanes=arguments.lanes or LANES,
        seed_base=arguments.seed_base,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
    )
    judgement = judge(folder, evaluation, which=arguments.checkpoint, device_name=arguments.device)
    warn_of_damage(judgement.passed_over)
    summary = {"run": folder.name, **_summary(judgement), "seed_base": arguments.seed_base, "greedy": evaluation.greedy}
    if arguments.json:
        returns = [episode.episode_return for episode in judgement.episodes]
        lengths = [episode.length for episode in judgement.episodes]
        print(json.dumps({**summary, "returns": returns, "lengths": lengths}, indent=2))
    else:
        _show(summary)
    return 0


def with_levels_in_one_word(words: list[str]) -> list[str]:
    """The same words with 1-1,1-2 for 1-1 1-2 after --levels; what is no level may be the run."""
    joined: list[str] = []
    for word in words:
        if len(joined) > 1 and joined[-2] == "--levels" and _LEVELS.fullmatch(joined[-1]) and _LEVELS.fullmatch(word):
            joined[-1] += f",{word}"
        else:
            joined.append(word)
    return joined


def _evaluate_trained(trained: "Trained", arguments: EvaluateArguments) -> int:
    """Judge a policy of one of the worlds that have a way of their own."""
    if not isinstance(trained.config.world, FishConfig):
        refuse_options(trained.name, arguments, ("fish",), "fish")
        return _evaluate_levels(trained, arguments)
    from respawn.cli.evaluate_fish import evaluate_fish

    refuse_options(trained.name, arguments, ("levels", "sticky", "start_jitter", "rom"), "Mario")
    return evaluate_fish(trained, arguments)


def _evaluate_levels(trained: "Trained", arguments: EvaluateArguments) -> int:
    from respawn.cli.evaluate_levels import evaluate_levels
    from respawn.cli.levels_table import show_levels

    if arguments.sampled:
        raise ConfigError("a Mario run is judged greedily and by drawn actions at once; leave --sampled out")
    found = evaluate_levels(trained, arguments)
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        show_levels(found)
    return 0


def _summary(judgement: "Judgement") -> dict[str, Any]:
    summary = {
        "checkpoint": judgement.checkpoint,
        "passed_over": list(judgement.passed_over),
        "updates": judgement.updates,
        "decisions": judgement.decisions,
        "weights_sha256": judgement.weights_sha256,
        **{name.removeprefix("evaluation/"): value for name, value in judgement.metrics.items()},
        "episodes": len(judgement.episodes),
        "ends": dict(Counter(episode.end for episode in judgement.episodes)),
    }
    return without_false_ends(summary)


def _show(summary: dict[str, Any]) -> None:
    low, high = summary["return_low"], summary["return_high"]
    facts = {
        "return": f"{summary['return_mean']:.2f} ± {summary['return_std']:.2f}",
        "95 % interval": "" if low is None else f"{low:.2f} to {high:.2f} (of the mean)",
        "range": f"{summary['return_min']:.2f} to {summary['return_max']:.2f}",
        "length": f"{summary['length_mean']:.1f} steps on average",
        "ends": ", ".join(f"{end} {count}" for end, count in summary["ends"].items()),
        "seeds": f"{summary['seed_base']} to {summary['seed_base'] + summary['episodes'] - 1}",
        "policy": f"{'greedy' if summary['greedy'] else 'sampled'}, checkpoint {summary['checkpoint']}",
        "weights": summary["weights_sha256"],
    }
    print_facts(f"{summary['run']}: {summary['episodes']:,} episodes", facts)
