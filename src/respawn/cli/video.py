"""respawn video RUN, or respawn video WORLD RUN."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from respawn.cli.arguments import RunName, RunsDirectory, check_at_least, parse
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.named_world import without_world
from respawn.cli.other_worlds import refuse_options
from respawn.cli.outcomes import outcome, told
from respawn.cli.policies import find_policy
from respawn.cli.progress import progress_bar
from respawn.cli.tables import print_facts
from respawn.errors import ConfigError
from respawn.evaluation.video import check_film_path
from respawn.worlds.fish.config import FishConfig

if TYPE_CHECKING:
    from respawn.training.config import RunConfig
    from respawn.training.film import FilmOrder, Take
    from respawn.training.trained import Trained


@dataclass(frozen=True)
class VideoArguments:
    """Film a trained policy: a run's, or one that comes with respawn ('mario')."""

    run: RunName
    """name of the run, path of its folder, or 'mario' or 'fish' for weights that come with respawn"""
    level: str | None = None
    """Mario: where to begin, such as 1-1; none: as the run does"""
    seed: int = 3_000_000
    """of the first episode; 'respawn evaluate' and 'respawn map' say from which seeds they play a level"""
    episodes: int = 1
    """how many episodes to film, one after the other"""
    best_of: int | None = None
    """play so many and film the best: who clears the level, the quickest first, then who gets furthest; fish: the
    schools of which most survive"""
    worst_of: int | None = None
    """fish: play so many and film the worst, exactly as they were played"""
    fish: int | None = None
    """fish: how many in each school; none: 96"""
    rom: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Mario: the game; none: as the run has it"""
    checkpoint: str = "newest"
    """newest, best, or a checkpoint's name such as u00000100"""
    sampled: bool = False
    """draw actions as in training instead of taking the likeliest"""
    sticky: float | None = None
    """Mario: chance that a decision is not heard; none: as the run has it"""
    start_jitter: int | None = None
    """Mario: frames by which an episode may begin later; none: as the run has it"""
    plain: bool = False
    """Mario: the game alone, without the panel beside it"""
    limit_steps: int = 10_000
    """leave episodes that are longer"""
    gif_kilobytes: int = 1000
    """a GIF loses frames, then pixels and colours, until it is no larger"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """an .mp4 or a .gif; none: an .mp4 in videos/ of the run's folder, or here for what comes with respawn;
    fish, if nothing but the run is named: media/RUN_multi_fish_eval.mp4"""
    movie: Annotated[Path | None, tyro.conf.arg(metavar="FILE.fm2")] = None
    """Mario, 1-1: also write the first episode filmed as a controller movie, for 'respawn movie' and FCEUX"""
    must_clear: bool = False
    """exit with 1 unless every episode filmed clears its level"""
    device: str = "cpu"
    """where to compute"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Film a policy."""
    words, world = without_world(words, VideoArguments)
    return film(parse(VideoArguments, words, "respawn video"), world)


def film(arguments: VideoArguments, world: str | None = None) -> int:
    """Film a policy, of `world` if one is named, and say what is seen in the film."""
    least = {"seed": 0, "episodes": 1, "best_of": 1, "worst_of": 1, "fish": 1, "limit_steps": 1, "gif_kilobytes": 1}
    check_at_least(arguments, least)
    if arguments.best_of is not None and arguments.best_of < arguments.episodes:
        raise ConfigError(
            f"--best-of must be at least --episodes, which is {arguments.episodes}, and {arguments.best_of} came"
        )
    if arguments.out is not None:
        check_film_path(arguments.out)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    trained, config = find_policy(arguments, world)
    if isinstance(config.world, FishConfig):
        from respawn.cli.video_fish import film_fish

        refuse_options(trained.name, arguments, ("plain", "movie", "must_clear"), "Mario")
        said = film_fish(trained, arguments)
    else:
        refuse_options(trained.name, arguments, ("fish", "worst_of"), "fish")
        said = _film(trained, config, arguments)
    said = {"policy": trained.origin, "greedy": not arguments.sampled, **said}
    if arguments.json:
        print(json.dumps(said, indent=2))
    else:
        _show(said)
    return 1 if arguments.must_clear and not all(episode["cleared"] for episode in said["episodes"]) else 0


def _film(trained: "Trained", config: "RunConfig", arguments: VideoArguments) -> dict[str, Any]:
    """Film episodes of one lane each."""
    from respawn.training.film import make_film
    from respawn.training.movies import check_movie, write_take

    out = arguments.out or _default_out(trained, config, arguments)
    replaced = out.exists()
    with engine_must_be_built(), progress_bar() as tell:
        if arguments.movie is not None:
            check_movie(arguments.movie, config)
        takes = make_film(trained, config, _order(arguments), out, device_name=arguments.device, tell=tell)
        if arguments.movie is not None:
            write_take(arguments.movie, config, takes[0], f"respawn {trained.origin}, seed {takes[0].seed}")
    return {
        "film": str(out),
        "movie": None if arguments.movie is None else str(arguments.movie),
        "episodes": [_said(take) for take in takes],
        "replaced": replaced,
    }


def _order(arguments: VideoArguments) -> "FilmOrder":
    from respawn.training.film import FilmOrder

    return FilmOrder(
        seed=arguments.seed,
        episodes=arguments.episodes,
        best_of=arguments.best_of,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
        panel=not arguments.plain,
        most_gif_bytes=1000 * arguments.gif_kilobytes,
    )


def _default_out(trained: "Trained", config: "RunConfig", arguments: VideoArguments) -> Path:
    """A name that says what is filmed; filming the same again replaces it."""
    from respawn.training.file_names import default_file

    words = [f"s{arguments.seed}", *([] if arguments.best_of is None else [f"best-of-{arguments.best_of}"])]
    return default_file(trained, config, words, ".mp4", greedy=not arguments.sampled)


def _said(take: "Take") -> dict[str, Any]:
    assert take.episode is not None
    return outcome(take.seed, take.episode)


def _show(said: dict[str, Any]) -> None:
    lines = {f"seed {episode['seed']}": told(episode) for episode in said["episodes"]}
    actions = "the likeliest actions" if said["greedy"] else "drawn actions"
    replaced = "an older film of this name" if said["replaced"] else ""
    facts = {"policy": f"{said['policy']}, {actions}", "movie": said.get("movie") or "", "replaced": replaced}
    print_facts(said["film"], {**lines, **facts})
