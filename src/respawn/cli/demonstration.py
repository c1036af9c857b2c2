"""The part of `respawn demo` that needs torch: train, judge, film, draw, and say where everything is."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from respawn.cli.closing import failure_told, tell_closing
from respawn.cli.evaluate_levels import describe_levels
from respawn.cli.progress import progress_bar
from respawn.cli.wording import command_for, command_to_go_on, in_one_line
from respawn.errors import RespawnError
from respawn.evaluation.levels import ALWAYS_RIGHT, GREEDY, RANDOM, LevelScore
from respawn.presets import find_preset
from respawn.runs.layout import RunFolder, default_name
from respawn.runs.reader import read_updates
from respawn.training.config import RunConfig
from respawn.training.drive import Outcome
from respawn.training.judge_levels import LevelsJudgement, LevelTrials, judge_levels
from respawn.training.launch import begin
from respawn.training.trained import Trained, load_run, with_world
from respawn.worlds.mario.config import MarioConfig

if TYPE_CHECKING:
    from respawn.cli.demo import DemoArguments

PRESET = "mario"
LEVEL = "1-1"
RELIABLE = 0.9
"""The demo has worked where the level is cleared this often: in episodes that begin at a chance moment."""
STEADY = LevelTrials(levels=(LEVEL,), sticky=0.0, start_jitter=16, sampled=False)
UNSTEADY = LevelTrials(levels=(LEVEL,), sticky=0.25, start_jitter=16, sampled=False, nulls=False)
"""The same with a controller that does not hear one decision in four: how well what was learned bears disturbance."""


def demonstrate(arguments: "DemoArguments") -> int:
    """Do all of it; returns the exit code."""
    config = demo_config(arguments)
    name = arguments.name or default_name("demo", config.seed, arguments.runs)
    limit = f"at most {arguments.minutes:g} minutes"
    print(f"Mario learns to clear World {LEVEL}, from nothing, in {limit}; Ctrl-C stops it.", flush=True)
    with failure_told(RunFolder(arguments.runs / name)):
        folder, outcome = begin(config, preset=PRESET, runs_dir=arguments.runs, name=name)
    if outcome.status != "finished":
        return tell_closing(folder, outcome)
    try:
        return _show_what_it_learned(folder, outcome)
    except KeyboardInterrupt as error:
        error.add_note(
            f"(The run {folder.path} itself is finished and saved; look at it: {command_for('play', folder)})"
        )
        raise


def _show_what_it_learned(folder: RunFolder, outcome: Outcome) -> int:
    trained = load_run(folder, "newest" if outcome.goal_reached else "best")
    if not (sys.stdout.isatty() and sys.stderr.isatty()):  # no bar is seen, or it is not in what is kept
        print("Judging and filming ...", flush=True)
    with progress_bar() as tell:
        steady = judge_levels(trained, STEADY, tell=lambda doing, part: tell("judging", 0.1))
        unsteady = judge_levels(trained, UNSTEADY, tell=lambda doing, part: tell("judging", 0.3))
        figures = {"jitter": describe_levels(steady, STEADY), "sticky": describe_levels(unsteady, UNSTEADY)}
        judged = folder.videos / "demo.json"
        judged.parent.mkdir(exist_ok=True)
        judged.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        tell("filming", 0.5)
        film = _made(folder.videos / f"demo-{LEVEL}.mp4", lambda path: _film(trained, steady, path))
        tell("drawing", 0.9)
        curve = _made(folder.videos / "demo-curve.png", lambda path: _curve(folder, path))
    made = {"Film": film, "Curve": curve, "Figures": judged}
    return _tell(folder, outcome, steady, unsteady, made)


def demo_config(arguments: "DemoArguments") -> RunConfig:
    """The preset's, with a limit of time and a goal."""
    config = find_preset(PRESET)
    assert isinstance(config.world, MarioConfig)
    evaluation = config.evaluation
    if evaluation.stop_at is None:
        evaluation = replace(evaluation, stop_at=0.95, stop_after=2)
    rom = config.world.rom if arguments.rom is None else str(arguments.rom.expanduser().absolute())
    return replace(
        config,
        seed=arguments.seed,
        minutes=arguments.minutes,
        device=arguments.device,
        world=replace(config.world, levels=(LEVEL,), rom=rom),
        evaluation=evaluation,
    )


def _film(trained: Trained, judgement: LevelsJudgement, path: Path) -> None:
    """Film the first of the judged episodes that cleared the level; the first of all where none did."""
    from respawn.training.film import FilmOrder, make_film

    judged = judgement.levels[LEVEL]
    cleared = [episode.lane for episode in judged.episodes[GREEDY] if episode.facts.get("cleared") == 1.0]
    config = with_world(trained.config, level=LEVEL, sticky=0.0, start_jitter=STEADY.start_jitter)
    make_film(trained, config, FilmOrder(seed=judged.seeds[cleared[0] if cleared else 0]), path)


def _curve(folder: RunFolder, path: Path) -> None:
    from respawn.evaluation.plots.curve import draw_learning_curve

    draw_learning_curve(folder, path)


def _made(path: Path, make: Callable[[Path], None]) -> Path | None:
    """The path of something made; None where that failed, which is said, and keeps nothing else from being made."""
    try:
        make(path)
    except RespawnError as error:
        print(f"respawn: {path.name} could not be made: {in_one_line(error)}", file=sys.stderr)
        return None
    return path


def _tell(
    folder: RunFolder,
    outcome: Outcome,
    steady: LevelsJudgement,
    unsteady: LevelsJudgement,
    made: dict[str, Path | None],
) -> int:
    scores = steady.levels[LEVEL].scores
    score = scores[GREEDY]
    learned = score.clear_rate >= RELIABLE
    print()
    if learned:
        print(f"World {LEVEL} is learned, from nothing, in {_trained(folder)} and {outcome.decisions:,} decisions.")
    else:
        print(
            f"World {LEVEL} is not learned after {_trained(folder)}: it should be cleared in "
            f"{100 * RELIABLE:.0f} of 100 episodes. Go on with "
            f"'{command_to_go_on(folder, outcome.updates)}', or try another --seed."
        )
    rows: dict[str, str] = {
        "Cleared": f"{_rate(score)} on fresh seeds ({_first_and_last(steady)}), each begun at a chance moment",
        "  sticky": f"{_rate(unsteady.levels[LEVEL].scores[GREEDY])} where one decision in four is not heard",
        "  beside": ", ".join(
            f"{name} {scores[key].cleared}" for key, name in ((ALWAYS_RIGHT, "always right"), (RANDOM, "random"))
        ),
        **{label: str(path) for label, path in made.items() if path is not None},
        "Run": str(folder.path),
    }
    for label, text in rows.items():
        print(f"{label + ':':<10} {text}")
    print("\nNow try:" if shutil.which("respawn") else f"\nNow try ('respawn' is {sys.argv[0]}):")
    for what, command in _next(folder).items():
        print(f"  {what:<26} {command}")
    return 0 if learned and all(path is not None for path in made.values()) else 1


def _rate(score: LevelScore) -> str:
    low, high = score.interval
    interval = f"95 % interval {100 * low:.0f} to {100 * high:.0f} %"
    return f"{score.cleared} of {score.episodes} ({interval}; {score.courses} different episodes)"


def _first_and_last(judgement: LevelsJudgement) -> str:
    seeds = judgement.levels[LEVEL].seeds
    return f"{seeds[0]} to {seeds[-1]}"


def _trained(folder: RunFolder) -> str:
    *_, last = read_updates(folder)
    return f"{last.metrics['time/total_seconds']:.0f} seconds"


def _next(folder: RunFolder) -> dict[str, str]:
    return {
        "watch it in the terminal": command_for("play", folder),
        "levels it has never seen": f"{command_for('evaluate', folder)} --levels all",
        "teach it another level": "respawn train mario --world.levels 1-2",
        "all there is to train": "respawn train --help",
    }
