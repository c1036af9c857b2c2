"""The part of `respawn video` that is for fish: whole schools, the first, the best or the worst of some."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from respawn.cli.outcomes import outcome
from respawn.cli.progress import progress_bar
from respawn.training.file_names import default_file
from respawn.training.school_film import SchoolFilmOrder, film_schools
from respawn.training.trained import Trained

if TYPE_CHECKING:
    from respawn.cli.video import VideoArguments


def film_fish(trained: Trained, arguments: "VideoArguments") -> dict[str, Any]:
    """Film, and answer what there is to say about it."""
    order = SchoolFilmOrder(
        fish=arguments.fish or SchoolFilmOrder.fish,
        seed=arguments.seed,
        episodes=arguments.episodes,
        best_of=arguments.best_of,
        worst_of=arguments.worst_of,
        greedy=not arguments.sampled,
        limit_steps=arguments.limit_steps,
        most_gif_bytes=1000 * arguments.gif_kilobytes,
    )
    out = arguments.out or _default_out(trained, order, arguments.checkpoint)
    replaced = out.exists()
    with progress_bar() as tell:
        takes = film_schools(trained, order, out, device_name=arguments.device, tell=tell)
    for take in takes:
        if not take.as_played:
            print(
                f"respawn: seed {take.seed} went otherwise when it was filmed than when it was chosen; this device "
                "does not compute the same twice, film it with --device cpu",
                file=sys.stderr,
            )
    return {
        "film": str(out),
        "fish": order.fish,
        "episodes": [{**outcome(take.seed, take.episode, take.fish), "as_played": take.as_played} for take in takes],
        "replaced": replaced,
    }


def _default_out(trained: Trained, order: SchoolFilmOrder, checkpoint: str) -> Path:
    """The reference's name for the film of a finished run; a name that says what is filmed where anything was asked."""
    plain = SchoolFilmOrder(most_gif_bytes=order.most_gif_bytes)
    if trained.folder is not None and order == plain and checkpoint == "newest":
        return trained.folder.media / f"{trained.name}_multi_fish_eval.mp4"
    words = [f"s{order.seed}"]
    words += [] if order.best_of is None else [f"best-of-{order.best_of}"]
    words += [] if order.worst_of is None else [f"worst-of-{order.worst_of}"]
    words += [] if order.fish == plain.fish else [f"fish{order.fish}"]
    return default_file(trained, trained.config, words, ".mp4", greedy=order.greedy)
