"""respawn policy RUN: what a policy thinks, step by step, and what it comes to when it is played in other ways."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.named_world import without_world
from respawn.cli.other_worlds import refuse_options
from respawn.cli.policies import find_policy
from respawn.cli.result_files import check_result_file
from respawn.contracts.settings import option_name
from respawn.errors import ConfigError, VideoError
from respawn.evaluation.out_files import prepare_place
from respawn.worlds.fish.config import FishConfig

if TYPE_CHECKING:
    from respawn.training.config import RunConfig
    from respawn.training.trained import Trained

COMMAND = "respawn policy"
SEED, STEPS, TOP, EPISODES = 3_000_000, 20, 3, 100
ONE_EPISODE = ("seed", "steps", "top", "sampled", "follow", "csv", "figure")
COMPARISON = ("episodes", "temperatures", "seed_base")


@dataclass(frozen=True)
class PolicyArguments:
    """Show what a policy thinks in an episode, or compare ways to play it."""

    run: RunName
    """RUN or RUN@best: a run's name or folder; or 'mario' or 'fish' for the weights that come with respawn"""
    compare: bool = False
    """play the same seeds in all ways and sum them up, instead of showing one episode"""
    seed: int | None = None
    """of the episode; the same seed is the same episode in 'respawn play'; none: 3000000"""
    steps: int | None = None
    """how many steps to show; none: 20"""
    top: int | None = None
    """how many of the likeliest actions to show; none: 3"""
    sampled: bool = False
    """draw the episode's actions as in training instead of taking the likeliest"""
    follow: int | None = None
    """fish: whose thoughts to show, by its number from 0; what is summed up is the whole school; none: 0"""
    csv: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """write every step to this file, with a column for each action's probability"""
    figure: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """draw value, entropy and probabilities over the episode, as .png or .svg"""
    episodes: int | None = None
    """with --compare: how many to play in each way; Mario: in each level; none: 100"""
    temperatures: tuple[float, ...] = ()
    """with --compare: above 1 the policy is more daring, below 1 surer; none: 0.5 and 2"""
    seed_base: int | None = None
    """with --compare: episode i is played from seed-base + i, Mario's levels 10,000 apart; none: 4000000"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100; the same as RUN@NAME"""
    level: str | None = None
    """Mario: where to begin, such as 1-1; none: as the run does"""
    sticky: float | None = None
    """Mario: chance that a decision is not heard; none: as the run has it"""
    start_jitter: int | None = None
    """Mario: frames by which an episode may begin later; none: as the run has it"""
    fish: int | None = None
    """fish: how many in the school; none: 96"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game; none: as the run has it"""
    limit_steps: int = 10_000
    """leave episodes that are longer"""
    device: str = "cpu"
    """where to compute"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON, every step of it, instead of tables"""


def main(words: list[str]) -> int:
    """Look into a policy."""
    words, world = without_world(words, PolicyArguments)
    arguments = parse(PolicyArguments, words, COMMAND)
    _check(arguments)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    arguments = _with_checkpoint(arguments)
    trained, config = find_policy(arguments, world)
    if not isinstance(config.world, FishConfig):
        refuse_options(trained.name, arguments, ("fish", "follow"), "fish")
    with engine_must_be_built():
        _answer(trained, config, arguments)
    return 0


def _answer(trained: "Trained", config: "RunConfig", arguments: PolicyArguments) -> None:
    if arguments.compare:
        from respawn.cli.policy_compare import compare

        compare(trained, config, arguments)
    else:
        from respawn.cli.policy_thoughts import think_aloud

        think_aloud(trained, config, arguments)


def _check(arguments: PolicyArguments) -> None:
    """Refuse what cannot be, and what would have no effect, before anything is loaded."""
    needless, wanted = (ONE_EPISODE, "a single episode") if arguments.compare else (COMPARISON, "--compare")
    for name in needless:
        if getattr(arguments, name) not in (None, False, ()):
            option = option_name("--", name)
            mend = f"leave out {option} or --compare" if arguments.compare else f"add --compare, or leave out {option}"
            raise ConfigError(f"{option} has an effect with {wanted} only; {mend}")
    least = {"seed": 0, "steps": 1, "top": 1, "follow": 0, "episodes": 1, "seed_base": 0, "fish": 1, "limit_steps": 1}
    check_at_least(arguments, least)
    check_result_file("--csv", arguments.csv)
    if arguments.figure is not None:
        _check_figure(arguments.figure)


def _check_figure(path: Path) -> None:
    """Refuse a figure that could not be written; folders that it needs are made when it is drawn, and not before."""
    from respawn.evaluation.plots.figure import check_figure_path

    check_figure_path(path)
    there = next(parent for parent in path.parents if parent.exists())
    try:
        prepare_place(there / path.name)
    except VideoError as error:
        why = getattr(error.__cause__, "strerror", error)
        raise VideoError(f"{path} cannot be written ({why}); name a file elsewhere with --figure") from error


def _with_checkpoint(arguments: PolicyArguments) -> PolicyArguments:
    """The run and its checkpoint apart, where RUN@NAME came."""
    from respawn.training.first_weights import named_source

    name, which = named_source(arguments.run, f"'{COMMAND}'")
    if name == arguments.run:
        return arguments
    if arguments.checkpoint != "newest":
        raise ConfigError(
            f"'{arguments.run}' and --checkpoint {arguments.checkpoint} both name a checkpoint; leave one of them out"
        )
    return replace(arguments, run=name, checkpoint=which)
