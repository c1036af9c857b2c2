"""The part of `respawn plan` that needs torch: checking all stages, training them in turn, and summing up."""

import errno
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from respawn.cli.closing import failure_told
from respawn.cli.description import describe, evaluation_of_late, newest_count
from respawn.cli.pipes import forget_stdout
from respawn.cli.tables import console, new_table, number, print_facts
from respawn.cli.train import DEFAULT_PRESET
from respawn.cli.wording import command_for
from respawn.errors import RespawnError
from respawn.presets import check_preset_name, find_preset
from respawn.training.drive import Outcome
from respawn.training.launch import begin, take_up
from respawn.training.plan_file import Plan, PlanOrder, check_stage_name, make_plan, read_plan_file
from respawn.training.plan_progress import Progress, in_stage, only, progress_of, try_what_is_left
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.mario.config import MarioConfig

if TYPE_CHECKING:
    from respawn.cli.plan import PlanArguments


def carry_out(arguments: "PlanArguments", words: Sequence[str]) -> int:
    """Do all that is left of the plan, or say what that is; returns the exit code.

    Args:
      arguments: what was asked for.
      words: the same as it was typed, to be typed again.
    """
    file = read_plan_file(arguments.file.expanduser())
    preset = file.preset or DEFAULT_PRESET
    check_preset_name(preset)
    order = PlanOrder(arguments.name, arguments.overrides, arguments.updates, arguments.first)
    plan = make_plan(file, find_preset(preset), preset, order)
    if arguments.only is not None:
        check_stage_name(file, arguments.only, "--only")
    progress = progress_of(plan, arguments.runs)
    chosen = progress if arguments.only is None else only(progress, arguments.only)
    try_what_is_left(chosen, arguments.runs)
    if arguments.dry_run:
        _show_what_would_be_done(chosen)
        return 0
    for one in chosen:
        outcome = _train(one, plan, arguments)
        if outcome is not None and outcome.status != "finished":
            return _tell_stop(one, outcome, words)
    _sum_up(chosen)
    return 0


def _train(progress: Progress, plan: Plan, arguments: "PlanArguments") -> Outcome | None:
    """Begin a stage or go on with it; None if there is nothing to do."""
    stage, folder = progress.stage, progress.folder
    title = f"Stage {stage.number}, {stage.name}"
    if progress.state == "finished":
        _say(f"{title}: run {stage.run} is finished {progress.where}; passed over.")
        return None
    if progress.state == "gone":
        _say(f"{title}: run {stage.run} is gone, and a later stage has gone on from it; passed over.")
        return None
    if progress.state == "begun":
        _say(f"{title}: going on with run {stage.run} to update {stage.config.last_update:,}.")
        with _stage_named(progress), failure_told(folder):
            return take_up(folder, device=arguments.device, rom=arguments.rom)
    _say(f"{title}: run {stage.run} begins with {_source(progress)}.")
    with _stage_named(progress), failure_told(folder):
        return begin(stage.config, preset=plan.preset, runs_dir=arguments.runs, name=stage.run)[1]


@contextmanager
def _stage_named(progress: Progress) -> Iterator[None]:
    try:
        yield
    except RespawnError as error:
        raise in_stage(progress.stage, error) from error


def _source(progress: Progress) -> str:
    source = progress.stage.config.weights_from
    return f"the weights of {source}" if source else "fresh weights"


def _tell_stop(progress: Progress, outcome: Outcome, words: Sequence[str]) -> int:
    stage = progress.stage
    _say(
        f"Stopped in stage {stage.number}, {stage.name}, at update {outcome.updates}, and saved.",
        f"Run folder: {progress.folder.path}",
        f"Go on:      {shlex.join(['respawn', 'plan', *words])}",
    )
    return outcome.exit_code


def _say(*lines: str) -> None:
    """Tell people; if nobody hears it, the reader or the terminal being gone, the plan goes on all the same."""
    try:
        print(*lines, sep="\n", flush=True)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        forget_stdout()


def _show_what_would_be_done(progress: Sequence[Progress]) -> None:
    table = new_table()
    for name in ("stage", "run"):
        table.add_column(name, overflow="fold")
    table.add_column("updates", justify="right", no_wrap=True)
    for name in ("weights from", "state"):
        table.add_column(name, overflow="fold")
    runs = {one.stage.run: one.stage.name for one in progress}
    for one in progress:
        stage, source = one.stage, one.stage.config.weights_from
        cells = (
            f"{stage.number} {stage.name}",
            stage.run,
            number(stage.config.last_update),
            f"stage {runs[source]}" if source in runs else source or "fresh",
            {"begun": "goes on"}.get(one.state, one.state),
        )
        table.add_row(*(escape(cell) for cell in cells))
    console().print(table)
    print_facts("\nWhat differs:", {one.stage.name: _differing(one.stage.own) for one in progress})
    left = sum(one.state in ("new", "begun") for one in progress)
    print(f"\nNothing was trained; {left} of {len(progress)} stages are left to do, and can be done.")


def _differing(own: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in own.items()) or "nothing"


def _sum_up(progress: Sequence[Progress]) -> None:
    table = new_table()
    table.add_column("stage", overflow="fold")
    for name in ("updates", "decisions", "last evaluation"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("run folder", overflow="fold")
    for one in progress:
        stage = f"{one.stage.number} {one.stage.name}"
        if one.state == "gone":
            table.add_row(escape(stage), "", "", "", "gone")
            continue
        described = describe(one.folder)
        cells = (
            stage,
            number(newest_count(described, "updates")),
            number(newest_count(described, "decisions")),
            evaluation_of_late(described),
            str(one.folder.path),
        )
        table.add_row(*(escape(cell) for cell in cells))
    console().print(table)
    last = progress[-1]
    if last.state == "gone":
        return
    print(f"Judge it:   {command_for('evaluate', last.folder)}")
    if isinstance(last.stage.config.world, FishConfig | MarioConfig):
        print(f"Watch it:   {command_for('play', last.folder)}")
