"""What is said when training ends, well or not: what was learned, where it is, and how to go on."""

import errno
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from respawn.checkpoints.store import find_newest
from respawn.cli.closing_fish import drawn_at_the_end, learned_by_fish
from respawn.cli.pipes import forget_stdout
from respawn.cli.wording import command_for, command_to_go_on, in_one_line
from respawn.errors import CheckpointError, RespawnError, RunFolderError
from respawn.evaluation.config import EvaluationConfig
from respawn.evaluation.intervals import wilson_interval
from respawn.evaluation.levels import count_courses
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder
from respawn.training.drive import Outcome
from respawn.training.failures import NOT_KEPT, NOT_RECORDED, is_noted
from respawn.training.judge import Judgement, judge
from respawn.training.recorded import load_config
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import WorldConfig

CLOSING_EVALUATION = EvaluationConfig(episodes=100, num_lanes=50, seed_base=2_000_000)
"""Other seeds than those watched during training, so that what is said at the end was not chosen by looking at it."""

INTERRUPTED = 130
"""What a process answers that Ctrl-C ended."""


def tell_closing(folder: RunFolder, outcome: Outcome) -> int:
    """Judge the final policy, unless somebody is waiting for the process to leave, and say how to go on.

    Returns:
      The exit code.
    """
    try:
        return _tell(folder, outcome)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        # Nobody hears it, the reader or the terminal is gone; how the run ended is the same.
        forget_stdout()
        return outcome.exit_code


def _tell(folder: RunFolder, outcome: Outcome) -> int:
    exit_code = outcome.exit_code
    if outcome.status == "finished":
        config = load_config(folder)
        try:
            if isinstance(config.world, FishConfig):
                print(learned_by_fish(folder, config.device, outcome))
                if config.observers.figures:
                    print(drawn_at_the_end(folder))
            else:
                print(_learned(_judged(folder, config.device), outcome, config.world))
        except KeyboardInterrupt:
            print("Judging it was interrupted; the run itself is finished and saved.")
            exit_code = INTERRUPTED
        print(f"Run folder: {folder.path}")
        print(f"Judge it:   {command_for('evaluate', folder)}")
        if isinstance(config.world, FishConfig):
            print(f"Draw it:    {command_for('plot', folder)}")
        if isinstance(config.world, FishConfig | MarioConfig):
            print(f"Watch it:   {command_for('play', folder)}")
            print(f"Film it:    {command_for('video', folder)}")
        print(f"Go on:      {command_to_go_on(folder, outcome.updates)}")
    else:
        print(f"Stopped at update {outcome.updates}, and saved.")
        print(f"Run folder: {folder.path}")
        print(f"Go on:      {command_for('resume', folder)}")
    return exit_code


@contextmanager
def failure_told(folder: RunFolder) -> Iterator[None]:
    """While inside, a failure of the run becomes one sentence: the cause, the traceback's place and how to go on.

    A run that could not even begin is left to whoever catches its error: it left nothing that could be told about.
    """
    before = _ended_badly_at(folder)
    try:
        yield
    except BaseException as error:
        # A disk that refuses keeps no record either; that the run failed is on the error then.
        if _ended_badly_at(folder) == before and not is_noted(error, NOT_RECORDED):
            raise
        told = RespawnError(_failed(folder, error))
        if isinstance(error, KeyboardInterrupt):
            told.exit_code = getattr(error, "exit_code", INTERRUPTED)
        raise told from error


def _judged(folder: RunFolder, device: str) -> Judgement:
    print(f"Judging the final policy on {CLOSING_EVALUATION.episodes} fresh seeds ...", flush=True)
    try:
        return judge(folder, CLOSING_EVALUATION, device_name=device)
    except RespawnError as error:
        error.add_note(f"(The run {folder.path} itself is finished and saved; only judging it failed.)")
        raise


def _learned(judgement: Judgement, outcome: Outcome, world: WorldConfig) -> str:
    made = f"after {outcome.decisions:,} decisions in {outcome.updates:,} updates"
    why = ", where its goal was reached" if outcome.goal_reached else ""
    return f"Learned: {_reached(judgement, world)}, {made}{why}."


def _reached(judgement: Judgement, world: WorldConfig) -> str:
    """How often levels were cleared, or games won, in Mario's world; else the return."""
    metrics, episodes = judgement.metrics, judgement.episodes
    if isinstance(world, MarioConfig):
        cleared = sum(episode.facts["cleared"] == 1.0 for episode in episodes)
        low, high = wilson_interval(cleared, len(episodes))
        what, how_far = (
            (f"won {cleared} of {len(episodes)} greedy games", f"{metrics['evaluation/flags']:.1f} flags")
            if world.whole_game
            else (f"cleared {cleared} of {len(episodes)} greedy episodes", f"x {metrics['evaluation/x']:,.0f}")
        )
        return (
            f"{what} on fresh seeds (95 % interval {100 * low:.0f} to {100 * high:.0f} %; "
            f"{count_courses(episodes)} different), {how_far} on average"
        )
    return (
        f"return {metrics['evaluation/return_mean']:.1f} on average "
        f"(95 % interval {metrics['evaluation/return_low']:.1f} to {metrics['evaluation/return_high']:.1f}) "
        f"over {int(metrics['evaluation/episodes'])} greedy episodes on fresh seeds"
    )


def _failed(folder: RunFolder, error: BaseException) -> str:
    interrupted = isinstance(error, KeyboardInterrupt)
    what = "was interrupted in the middle of an update" if interrupted else f"failed: {in_one_line(error)}"
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    is_kept = not interrupted and folder.failure.exists() and not is_noted(error, NOT_KEPT)
    traceback = f"the traceback is in {shlex.quote(str(folder.failure))}, " if is_kept else ""
    return f"run {folder.name} {what}{notes}; {traceback}{_way_on(folder)}"


def _way_on(folder: RunFolder) -> str:
    try:
        found = find_newest(folder.checkpoints)
    except CheckpointError as error:
        return str(error)
    if found is None:
        return f"there is no checkpoint yet; begin it again with: {command_for('resume', folder)}"
    return f"the newest checkpoint is {found.path.name}, go on from it with: {command_for('resume', folder)}"


def _ended_badly_at(folder: RunFolder) -> int | None:
    """When it was last recorded that the run failed, or stopped and was not saved; None: that is not what it says."""
    try:
        return folder.status.stat().st_mtime_ns if "cause" in read_json_object(folder.status) else None
    except (OSError, RunFolderError):
        return None
