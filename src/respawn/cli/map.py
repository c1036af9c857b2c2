"""respawn map RUN."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.policies import find_policy
from respawn.cli.tables import print_facts
from respawn.evaluation.plots.figure import check_figure_path


@dataclass(frozen=True)
class MapArguments:
    """Play episodes of one level of Mario, and draw where in the level they ended."""

    run: RunName
    """name of the run, path of its folder, or 'mario' for the weights that come with respawn"""
    level: str | None = None
    """such as 1-1; none: the one that the run plays"""
    episodes: int = 100
    """how many episodes to play"""
    seed_base: int = 3_000_000
    """what the level's seeds are counted from, as in 'respawn evaluate', which judges a level on the same episodes"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """the game; none: as the run has it"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    sticky: float | None = None
    """chance that a decision is not heard; none: as the run has it"""
    start_jitter: int | None = None
    """frames by which an episode may begin later; none: as the run has it"""
    lanes: int = 100
    """episodes played at a time; makes no difference to greedy ones"""
    limit_steps: int = 10_000
    """cut episodes that are longer"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.png")] = None
    """where to; none: videos/ in the run's folder, or here for what comes with respawn"""
    device: str = "cpu"
    """where to compute"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Draw a map."""
    arguments = parse(MapArguments, words, "respawn map")
    check_at_least(arguments, {"episodes": 1, "seed_base": 0, "lanes": 1, "limit_steps": 1})
    if arguments.out is not None:
        check_figure_path(arguments.out)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.mapping import MapOrder, make_map

    trained, config = find_policy(arguments)
    order = MapOrder(
        episodes=arguments.episodes,
        lanes=arguments.lanes,
        seed_base=arguments.seed_base,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
    )
    with engine_must_be_built():
        made = make_map(trained, config, order, arguments.out, device_name=arguments.device)
    ends = dict(Counter(ending.end for ending in made.endings).most_common())
    cleared = sum(ending.cleared for ending in made.endings)
    if arguments.json:
        said: dict[str, Any] = {
            "figure": str(made.figure),
            "level": made.level,
            "policy": trained.origin,
            "cleared": cleared,
        }
        said |= {"episodes": len(made.endings), "unfinished": made.unfinished, "ends": ends}
        said |= {"seeds": [made.seeds[0], made.seeds[-1]], "replaced": made.replaced}
        print(json.dumps(said, indent=2))
    else:
        facts = {
            "level": made.level,
            "cleared": f"{cleared} of {len(made.endings)}",
            "unfinished": f"{made.unfinished} more, not shown" if made.unfinished else "",
            "ends": ", ".join(f"{end} {count}" for end, count in ends.items()),
            "seeds": f"{made.seeds[0]} to {made.seeds[-1]}",
            "policy": f"{trained.origin}, {'drawn actions' if arguments.sampled else 'the likeliest actions'}",
            "replaced": "an older map of this name" if made.replaced else "",
        }
        print_facts(str(made.figure), facts)
    return 0
