"""The part of `respawn evaluate` that is for fish: whole schools, beside those that have learned nothing."""

import json
from typing import TYPE_CHECKING, Any

from respawn.cli.policies import warn_of_damage
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table
from respawn.errors import ConfigError
from respawn.evaluation.intervals import without_false_ends
from respawn.training.judge_fish import SchoolTrials, describe_schools, judge_fish
from respawn.training.trained import Trained

if TYPE_CHECKING:
    from respawn.cli.evaluate import EvaluateArguments

COLUMNS = {
    "survival": "survival_mean",
    "interval": "",
    "worst": "survival_worst",
    "p10 death": "death_p10",
    "dead < 100": "early_death_100",
    "step one": "step_one_ratio",
}


def evaluate_fish(trained: Trained, arguments: "EvaluateArguments") -> int:
    """Play, and print a table or JSON."""
    if arguments.sampled:
        raise ConfigError("schools of fish are judged greedily and by drawn actions at once; leave --sampled out")
    trials = SchoolTrials(
        episodes=arguments.episodes,
        fish=SchoolTrials.fish if arguments.fish is None else arguments.fish,
        seed_base=arguments.seed_base,
        sampled=not arguments.only_greedy,
        nulls=not (arguments.only_greedy or arguments.no_null_policies),
    )
    with progress_bar() as tell:
        judgement = judge_fish(trained, trials, device_name=arguments.device, tell=tell)
    warn_of_damage(trained.passed_over)
    found = _without_false_ends({"run": trained.name, **describe_schools(judgement, trained, trials)})
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        _show(found)
    return 0


def _without_false_ends(found: dict[str, Any]) -> dict[str, Any]:
    """The same, where one school was judged without intervals: of each policy."""
    others = {name: without_false_ends(numbers) for name, numbers in found["null_policies"].items()}
    sampled = None if found["sampled"] is None else without_false_ends(found["sampled"])
    return {**without_false_ends(found), "sampled": sampled, "null_policies": others}


def _show(found: dict[str, Any]) -> None:
    target = console()
    last = found["seed_base"] + found["episodes"] - 1
    target.print(
        f"{found['run']}: {found['episodes']:,} schools of {found['fish']} fish, seeds {found['seed_base']:,} to "
        f"{last:,}, checkpoint {found['checkpoint']}",
        markup=False,
    )
    table = new_table()
    table.add_column("policy", no_wrap=True)
    for label in COLUMNS:
        table.add_column(label, justify="right", no_wrap=True)
    table.add_row("greedy", *_row(found))
    if found["sampled"] is not None:
        table.add_row("sampled", *_row(found["sampled"]))
    for name, numbers in found["null_policies"].items():
        table.add_row(name.replace("_", " "), *_row(numbers), style="dim")
    target.print(table)
    target.print(
        f"{100 * found['doomed_fraction']:.2f} % are doomed: caught in their first step whatever they do. So "
        f"{found['ceiling']:.4f} is the most that can survive, and the policy is {found['survival_gap']:.4f} below it.",
        markup=False,
    )


def _row(numbers: dict[str, Any]) -> list[str]:
    low, high = numbers["survival_low"], numbers["survival_high"]
    return [
        f"{numbers['survival_mean']:.4f}",
        "-" if low is None else f"{max(low, 0.0):.3f}-{min(high, 1.0):.3f}",
        f"{numbers['survival_worst']:.3f}",
        f"{numbers['death_p10']:.0f}",
        f"{numbers['early_death_100']:.4f}",
        f"{numbers['step_one_ratio']:.4f}",
    ]
