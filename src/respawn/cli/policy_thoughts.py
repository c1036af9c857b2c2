"""The part of `respawn policy` that shows one episode: step by step, and summed up."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from respawn.cli.outcomes import outcome, told
from respawn.cli.policy import SEED, STEPS, TOP
from respawn.cli.result_files import write_result
from respawn.cli.tables import console, new_table, print_facts
from respawn.evaluation.thoughts.steps import Thought, as_csv, thoughts_of
from respawn.evaluation.thoughts.summary import SURE, summarise
from respawn.evaluation.thoughts.watching import Watched
from respawn.training.config import RunConfig
from respawn.training.thoughts import ThoughtsOrder, watch_thoughts
from respawn.training.trained import Trained
from respawn.worlds.fish.config import FishConfig

if TYPE_CHECKING:
    from respawn.cli.policy import PolicyArguments

_SHOWN_NOTES = ("level", "x", "alive", "predator")
"""What worlds note of a step and a table has room for."""
_LEAST_SHOWN = 0.005
"""Actions that are less likely would stand there with 0 %."""


def think_aloud(trained: Trained, config: RunConfig, arguments: "PolicyArguments") -> None:
    """Play the episode, and show, write and draw what the policy thought in it."""
    order = ThoughtsOrder(
        seed=SEED if arguments.seed is None else arguments.seed,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
        fish=ThoughtsOrder.fish if arguments.fish is None else arguments.fish,
        follow=arguments.follow or 0,
    )
    watched = watch_thoughts(trained, config, order, device_name=arguments.device)
    thoughts = thoughts_of(watched, order.follow)
    fish = order.fish if isinstance(config.world, FishConfig) else None
    title = f"{trained.origin}, seed {order.seed}, {'the likeliest' if order.greedy else 'drawn'} actions"
    summary = summarise(watched)
    if arguments.json:
        said = _described(trained, config, order, summary)
        said["outcome"] = outcome(order.seed, watched.episode, fish)
        print(json.dumps({**said, "steps": [thought.as_data() for thought in thoughts]}, indent=2))
    else:
        _show(title, thoughts, watched, arguments)
        facts = {"episode": told(outcome(order.seed, watched.episode, fish))}
        print_facts(_whose(watched, fish), {**facts, **_facts(summary, config.learner.discount)})
    if arguments.csv is not None:
        write_result(arguments.csv, as_csv(thoughts))
    if arguments.figure is not None:
        # Imported only now: matplotlib takes a second to load.
        from respawn.evaluation.plots.thoughts import draw_thoughts

        whose = title if fish is None else f"{title}, fish {order.follow} of {fish}"
        draw_thoughts(whose, thoughts, summary["entropy_greatest"], arguments.figure)


def _described(trained: Trained, config: RunConfig, order: ThoughtsOrder, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "run": trained.name,
        "checkpoint": trained.checkpoint,
        "passed_over": list(trained.passed_over),
        "updates": trained.updates,
        "decisions": trained.decisions,
        "weights_sha256": trained.weights_sha256,
        "seed": order.seed,
        "greedy": order.greedy,
        "discount": config.learner.discount,
        "summary": summary,
        **({"follow": order.follow} if isinstance(config.world, FishConfig) else {}),
    }


def _whose(watched: Watched, fish: int | None) -> str:
    steps = f"all {watched.episode.length:,} steps"
    return steps if fish is None else f"{steps} of all {fish} fish"


def _show(title: str, thoughts: Sequence[Thought], watched: Watched, arguments: "PolicyArguments") -> None:
    shown = thoughts[: STEPS if arguments.steps is None else arguments.steps]
    target = console()
    steps = "step" if len(thoughts) == 1 else "steps"
    many = f"the first {len(shown)} of {len(thoughts):,} {steps}" if len(shown) < len(thoughts) else "every step"
    of_whom = f" of fish {arguments.follow or 0}" if watched.present.shape[1] > 1 else ""
    target.print(f"{title}: {many}{of_whom}", style="bold", markup=False)
    target.print(_table(shown, TOP if arguments.top is None else arguments.top))


def _table(thoughts: Sequence[Thought], top: int) -> Table:
    """A row a step. Where actions are numbers there is no likeliest one, but a mean and a spread."""
    table = new_table()
    choices = bool(thoughts and thoughts[0].probabilities)
    notes = [name for name in _SHOWN_NOTES if _is_worth_a_column(name, thoughts)]
    table.add_column("step", justify="right", no_wrap=True)
    for name in notes:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("action")
    table.add_column("likeliest, in %" if choices else "mean ± spread")
    table.add_column("entropy", justify="right", no_wrap=True)
    for name in ("value", "reward"):
        table.add_column(name, justify="right", no_wrap=True)
    for thought in thoughts:
        share = "" if thought.entropy_share is None else f" {_percent(thought.entropy_share):>4}"
        table.add_row(
            str(thought.step),
            *(_note(thought.noted[name]) for name in notes),
            _action(thought),
            _likeliest(thought, top) if choices else _spreads(thought),
            f"{thought.entropy:z.2f}{share}",
            f"{thought.value:z.2f}",
            f"{thought.reward:z.2f}",
        )
    return table


def _is_worth_a_column(name: str, thoughts: Sequence[Thought]) -> bool:
    """Whether a note is made in this world; a level that stays the same is told by what came of the episode."""
    noted = {thought.noted.get(name) for thought in thoughts}
    return None not in noted and (name != "level" or len(noted) > 1)


def _note(noted: float | str) -> str:
    return f"{noted:z.2f}" if isinstance(noted, float) else str(noted)


def _action(thought: Thought) -> str:
    if thought.probabilities:
        return " ".join(thought.actions)
    return " ".join(f"{float(number):z.2f}" for number in thought.actions)


def _likeliest(thought: Thought, top: int) -> str:
    """Of each choice: names and percents, the likeliest first."""
    return "; ".join(
        ", ".join(f"{name} {100 * chance:.0f}" for name, chance in choice if chance >= _LEAST_SHOWN)
        for choice in thought.likeliest(top)
    )


def _spreads(thought: Thought) -> str:
    return ", ".join(f"{mean:z.2f} ± {spread:.2f}" for mean, spread in zip(thought.means, thought.spreads, strict=True))


def _facts(summary: dict[str, Any], discount: float) -> dict[str, str]:
    """The summary for people."""
    return {
        "entropy": _entropy(summary),
        "sure": _sure(summary),
        "value": _value(summary, discount),
        "cut": "it did not end by itself; what would have followed is the policy's own estimate"
        if summary["is_cut"]
        else "",
        "actions": "; ".join(_shares(choice) for choice in summary.get("actions", ())),
        "numbers": "; ".join(_number(number) for number in summary.get("numbers", ())),
    }


def _entropy(summary: dict[str, Any]) -> str:
    mean, least, most = (summary[f"entropy_{which}"] for which in ("mean", "min", "max"))
    said = f"{mean:z.2f} nats on average, {least:z.2f} to {most:z.2f}"
    if summary["entropy_greatest"] is None:
        return said
    return f"{said}; {_percent(summary['entropy_share'])} of the greatest possible, {summary['entropy_greatest']:z.2f}"


def _sure(summary: dict[str, Any]) -> str:
    if "sure_share" not in summary:
        return ""
    said = f"the likeliest action had over {_percent(SURE)} in {_percent(summary['sure_share'])} of the decisions"
    if summary["likeliest_taken"] == 1.0:
        return said
    return f"{said}, and was taken in {_percent(summary['likeliest_taken'])}"


def _value(summary: dict[str, Any], discount: float) -> str:
    means = f"{summary['value_mean']:z.2f} on average, where {summary['followed_mean']:z.2f} really followed"
    correlation, explained = summary["value_correlation"], summary["value_explained_variance"]
    related = "" if correlation is None else f"; correlation {correlation:z.2f}"
    foretold = "" if explained is None else f", explained variance {explained:z.2f}"
    return f"{means} (discount {discount:g}){related}{foretold}"


def _shares(choice: dict[str, float]) -> str:
    return ", ".join(f"{name} {_percent(share)}" for name, share in choice.items() if share)


def _number(number: dict[str, float]) -> str:
    taken = f"{number['mean']:z.2f} ± {number['std']:z.2f} taken, spread {number['spread']:z.2f}"
    return f"{taken}, clipped in {_percent(number['clipped'])}"


def _percent(share: float) -> str:
    """A share for people; what is not quite none or all is not rounded to it."""
    percent = 100 * share
    if 0 < percent < 0.5:
        return "< 1 %"
    return "> 99 %" if 99.5 <= percent < 100 else f"{percent:.0f} %"
