"""respawn play RUN, or respawn play WORLD RUN."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.named_world import without_world
from respawn.cli.other_worlds import refuse_options
from respawn.cli.outcomes import outcome, told
from respawn.cli.policies import find_policy
from respawn.cli.tables import print_facts
from respawn.cli.video import VideoArguments, film
from respawn.contracts.settings import check_between
from respawn.errors import ConfigError
from respawn.worlds.fish.config import FishConfig

if TYPE_CHECKING:
    from respawn.training.config import RunConfig
    from respawn.training.playback import Playback, Step
    from respawn.training.school_playback import SchoolPlayback
    from respawn.training.trained import Trained


@dataclass(frozen=True)
class PlayArguments:
    """Watch a trained policy play: a run's, or one that comes with respawn ('mario').

    Ctrl-C ends it. Without a terminal episodes are only played and summed up.
    """

    run: RunName
    """name of the run, path of its folder, or 'mario' or 'fish' for weights that come with respawn"""
    level: str | None = None
    """Mario: where to begin, such as 1-1; none: as the run does"""
    window: bool = False
    """show it in a window, for Mario with the panel beside the game, instead of the terminal"""
    speed: float = 1.0
    """times the world's own: Mario's console shows 60 frames a second, a tank of fish 25"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    seed: int = 3_000_000
    """of the first episode; 'respawn evaluate' and 'respawn map' say from which seeds they play a level"""
    episodes: int = 1
    """how many episodes to play, from consecutive seeds"""
    fish: int | None = None
    """fish: how many in the school; none: 96"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """write a film to an .mp4 or a .gif instead of showing it, as 'respawn video' does"""
    sticky: float | None = None
    """Mario: chance that a decision is not heard; none: as the run has it"""
    start_jitter: int | None = None
    """Mario: frames by which an episode may begin later; none: as the run has it"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game; none: as the run has it"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    limit_steps: int = 10_000
    """leave episodes that are longer"""
    device: str = "cpu"
    """where to compute"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""


def main(words: list[str]) -> int:
    """Play a policy."""
    words, world = without_world(words, PlayArguments)
    arguments = parse(PlayArguments, words, "respawn play")
    check_at_least(arguments, {"seed": 0, "episodes": 1, "limit_steps": 1, "fish": 1})
    check_between("--", arguments, {"speed": (0.01, 100.0)})
    if arguments.out is not None:
        return film(_to_film(arguments), world)
    trained, config = find_policy(arguments, world)
    if not isinstance(config.world, FishConfig):
        refuse_options(trained.name, arguments, ("fish",), "fish")
    played: dict[str, str] = {}
    try:
        _play(trained, config, arguments, played)
    finally:
        if played:
            print_facts(trained.origin, played)
    return 0


def _play(trained: "Trained", config: "RunConfig", arguments: PlayArguments, played: dict[str, str]) -> None:
    """Play the episodes; what came of each that ended is noted at once, for Ctrl-C may come."""
    from respawn.cli.showing import shown

    watched = arguments.window or sys.stdout.isatty()
    player, play = _player(trained, config, arguments, watched)
    if not watched:
        print("respawn: there is no terminal here, so nothing is shown; 'respawn video' makes a film", file=sys.stderr)
    with (
        contextlib.closing(player),
        shown(player, trained.name, window=arguments.window, speed=arguments.speed) as show,
    ):
        for seed in range(arguments.seed, arguments.seed + arguments.episodes):
            for step in play(seed):
                if not show(step):
                    return
                if step.episode is not None:
                    fish = None if step.school is None else step.school.fish
                    played[f"seed {seed}"] = told(outcome(seed, step.episode, fish))


def _player(
    trained: "Trained", config: "RunConfig", arguments: PlayArguments, watched: bool
) -> "tuple[Playback | SchoolPlayback, Callable[[int], Iterator[Step]]]":
    """Who plays, and how it plays an episode from a seed."""
    greedy, limit = not arguments.sampled, arguments.limit_steps
    if isinstance(config.world, FishConfig):
        from respawn.cli.showing import tank_painter
        from respawn.training.school_playback import SchoolPlayback

        school = SchoolPlayback(
            trained,
            fish=arguments.fish or SchoolPlayback.DEFAULT_FISH,
            limit_steps=limit,
            painter=tank_painter(window=arguments.window) if watched else None,
            device_name=arguments.device,
        )
        return school, lambda seed: school.play(seed, greedy=greedy)
    from respawn.training.playback import Playback

    with engine_must_be_built():
        playback = Playback(trained, config, watched=watched, device_name=arguments.device)
    return playback, lambda seed: playback.play(seed, greedy=greedy, limit_steps=limit)


def _to_film(arguments: PlayArguments) -> VideoArguments:
    if arguments.window or arguments.speed != 1.0:
        raise ConfigError("--out writes a film and shows nothing; leave out --window and --speed, or --out")
    return VideoArguments(
        run=arguments.run,
        level=arguments.level,
        seed=arguments.seed,
        episodes=arguments.episodes,
        fish=arguments.fish,
        rom=arguments.rom,
        checkpoint=arguments.checkpoint,
        sampled=arguments.sampled,
        sticky=arguments.sticky,
        start_jitter=arguments.start_jitter,
        limit_steps=arguments.limit_steps,
        out=arguments.out,
        device=arguments.device,
        runs=arguments.runs,
    )
