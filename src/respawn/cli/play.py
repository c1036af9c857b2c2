"""respawn play RUN."""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.outcomes import outcome, told
from respawn.cli.policies import find_policy
from respawn.cli.tables import print_facts
from respawn.contracts.settings import check_between

if TYPE_CHECKING:
    from respawn.training.config import RunConfig
    from respawn.training.trained import Trained


@dataclass(frozen=True)
class PlayArguments:
    """Watch a trained policy play: a run's, or one that comes with respawn ('mario').

    Ctrl-C ends it. Without a terminal the episodes are only played and summed up.
    """

    run: RunName
    """name of the run, path of its folder, or 'mario' for the weights that come with respawn"""
    level: str | None = None
    """Mario: where to begin, such as 1-1; none: as the run does"""
    window: bool = False
    """show it in a window, with the panel beside the game, instead of the terminal"""
    speed: float = 1.0
    """times the console's own 60 frames a second"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    seed: int = 3_000_000
    """of the first episode; 'respawn evaluate' and 'respawn map' say from which seeds they play a level"""
    episodes: int = 1
    """how many episodes to play, from consecutive seeds"""
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
    arguments = parse(PlayArguments, words, "respawn play")
    check_at_least(arguments, {"seed": 0, "episodes": 1, "limit_steps": 1})
    check_between("--", arguments, {"speed": (0.01, 100.0)})
    trained, config = find_policy(arguments)
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
    from respawn.training.playback import Playback

    watched = arguments.window or sys.stdout.isatty()
    with engine_must_be_built():
        playback = Playback(trained, config, watched=watched, device_name=arguments.device)
    if not watched:
        print("respawn: there is no terminal here, so nothing is shown; 'respawn video' makes a film", file=sys.stderr)
    with (
        contextlib.closing(playback),
        shown(playback, trained.name, window=arguments.window, speed=arguments.speed) as show,
    ):
        for seed in range(arguments.seed, arguments.seed + arguments.episodes):
            steps = playback.play(seed, greedy=not arguments.sampled, limit_steps=arguments.limit_steps)
            for step in steps:
                if not show(step):
                    return
                if step.episode is not None:
                    played[f"seed {seed}"] = told(outcome(seed, step.episode))
