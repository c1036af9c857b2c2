"""The part of `respawn policy` that compares ways to play one policy."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from respawn.cli.policy import EPISODES
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table, print_facts
from respawn.evaluation.intervals import without_false_ends
from respawn.evaluation.levels import GREEDY, SAMPLED
from respawn.evaluation.tempered import TEMPERATURE
from respawn.training.compare_ways import SEED_BASE, Compared, WaysOrder, compare_ways
from respawn.training.config import RunConfig
from respawn.training.trained import Trained
from respawn.worlds.mario.config import MarioConfig

if TYPE_CHECKING:
    from respawn.cli.policy import PolicyArguments

Numbers = Mapping[str, Any]
Columns = dict[str, Callable[[Numbers], str]]

_CLEARED: Columns = {
    "cleared": lambda way: f"{way['cleared']}/{way['episodes']}",
    "95 %": lambda way: _interval(*way["interval"]),
    "x": lambda way: "" if way["x_mean"] is None else f"{way['x_mean']:,.0f}",
    "return": lambda way: f"{way['return_mean']:.2f} ± {way['return_std']:.2f}",
    "steps": lambda way: f"{way['length_mean']:,.0f}",
    "different": lambda way: str(way["courses"]),
}
_SURVIVAL: Columns = {
    "survival": lambda way: f"{100 * way['survival_mean']:.2f} ± {100 * way['survival_std']:.2f} %",
    "95 %": lambda way: _interval(way["survival_low"], way["survival_high"], ".1f"),
    "worst": lambda way: f"{100 * way['survival_worst']:.1f} %",
    "return": lambda way: f"{way['return_mean']:.2f}",
    "step one": lambda way: f"{100 * way['step_one_ratio']:.2f} %",
}
_RETURN: Columns = {
    "return": lambda way: f"{way['return_mean']:.2f} ± {way['return_std']:.2f}",
    "95 %": lambda way: "-" if way["return_low"] is None else f"{way['return_low']:.2f} to {way['return_high']:.2f}",
    "worst": lambda way: f"{way['return_min']:.2f}",
    "best": lambda way: f"{way['return_max']:.2f}",
    "steps": lambda way: f"{way['length_mean']:,.1f}",
}
_COLUMNS: dict[str, Columns] = {"cleared": _CLEARED, "survival": _SURVIVAL, "return": _RETURN}
_WORDS = {
    "cleared": "cleared: of the episodes, and between which rates 95 % of such counts lie (Wilson); return: mean ± "
    "spread; different: episodes that were not the same",
    "survival": "survival: mean ± spread over schools, and the 95 % interval of the mean; step one: caught at once",
    "return": "return: mean ± spread over episodes, and the 95 % interval of the mean",
}


def compare(trained: Trained, config: RunConfig, arguments: "PolicyArguments") -> None:
    """Play, and print a table or JSON."""
    order = WaysOrder(
        episodes=EPISODES if arguments.episodes is None else arguments.episodes,
        temperatures=arguments.temperatures or WaysOrder.temperatures,
        seed_base=SEED_BASE if arguments.seed_base is None else arguments.seed_base,
        limit_steps=arguments.limit_steps,
        fish=WaysOrder.fish if arguments.fish is None else arguments.fish,
    )
    with progress_bar() as tell:
        compared = compare_ways(trained, config, order, device_name=arguments.device, tell=tell)
    ways = {name: without_false_ends(numbers) for name, numbers in compared.ways.items()}
    compared = replace(compared, ways=ways)
    if arguments.json:
        print(json.dumps(_described(trained, config, order, compared), indent=2))
    else:
        _show(trained, config, order, compared)


def _described(trained: Trained, config: RunConfig, order: WaysOrder, compared: Compared) -> dict[str, Any]:
    return {
        "run": trained.name,
        "checkpoint": trained.checkpoint,
        "passed_over": list(trained.passed_over),
        "updates": trained.updates,
        "decisions": trained.decisions,
        "weights_sha256": trained.weights_sha256,
        "measure": compared.measure,
        "episodes": order.episodes,
        "temperatures": list(order.temperatures),
        "seeds": {level: list(seeds) for level, seeds in compared.seeds.items()},
        **_chance(config),
        **({"fish": order.fish} if compared.measure == "survival" else {}),
        "ways": compared.ways,
        **({"levels": compared.levels} if compared.levels else {}),
    }


def _chance(config: RunConfig) -> dict[str, Any]:
    """Mario: what makes greedy episodes differ."""
    world = config.world
    if not isinstance(world, MarioConfig):
        return {}
    return {"start_jitter": world.start_jitter, "noop_starts": world.noop_starts, "sticky": world.sticky}


def _show(trained: Trained, config: RunConfig, order: WaysOrder, compared: Compared) -> None:
    target = console()
    what = f"schools of {order.fish} fish" if compared.measure == "survival" else "episodes"
    each = f" in each of {len(compared.levels)} levels" if len(compared.levels) > 1 else ""
    target.print(f"{trained.origin}: {order.episodes:,} {what}{each}, each way", style="bold", markup=False)
    columns = _COLUMNS[compared.measure]
    table = new_table()
    table.add_column("policy", no_wrap=True)
    for label in columns:
        table.add_column(label, justify="right", overflow="fold")
    for name, numbers in compared.ways.items():
        cells = [cell(numbers) for cell in columns.values()]
        table.add_row(name.replace("_", " "), *cells, style=None if _is_own(name) else "dim")
    target.print(table)
    if len(compared.levels) > 1:
        target.print(_by_level(compared))
    facts = {
        "columns": _WORDS[compared.measure],
        "policies": "temperatures below 1 are surer than 'sampled', those above more daring; having learned nothing: "
        + ", ".join(name.replace("_", " ") for name in compared.ways if not _is_own(name)),
        "seeds": _seeds(compared),
        "chance": ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in _chance(config).items()),
        "weights": trained.weights_sha256,
    }
    print_facts("", facts)


def _is_own(way: str) -> bool:
    """Whether it is the policy that is played in this way, and not one that knows nothing."""
    return way in (GREEDY, SAMPLED) or way.startswith(TEMPERATURE)


def _by_level(compared: Compared) -> Any:
    """Clear rates, a row a level."""
    table = new_table()
    table.add_column("level", no_wrap=True)
    for way in compared.ways:
        table.add_column(way.replace("_", " "), justify="right")
    for level, ways in compared.levels.items():
        table.add_row(level, *(f"{100 * numbers['clear_rate']:.0f} %" for numbers in ways.values()))
    return table


def _seeds(compared: Compared) -> str:
    (first, last), *others = compared.seeds.values()
    return f"{first} to {last}" + (f" in {next(iter(compared.seeds))}; as many in each level" if others else "")


def _interval(low: float | None, high: float, form: str = ".0f") -> str:
    return "-" if low is None else f"{100 * low:{form}}-{100 * min(high, 1.0):{form}} %"
