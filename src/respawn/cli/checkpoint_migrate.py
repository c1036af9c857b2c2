"""respawn checkpoint migrate: step counts of 0 in the metadata of another system's checkpoints are mended."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.markup import escape

from respawn.checkpoints.migration import Mending, Migration, Outcome, Wishes, migrate
from respawn.cli.arguments import check_at_least, parse
from respawn.cli.progress import progress_bar
from respawn.cli.tables import console, new_table, number
from respawn.cli.wording import counted
from respawn.errors import RunFolderError

_TOLD: Mapping[Outcome, str] = {
    "updated": "their step was computed and written",
    "would_update": "their step would be written without --dry-run",
    "no_update_info": "neither they nor their checkpoint say which update it was",
    "missing_num_envs": "neither they nor their checkpoint say how many environments there were",
    "already_has_step": "they have a step already",
    "current_step>=computed": "they have a step that is as high as the computed one",
    "already_reconstructed": "their step was computed before",
    "unreadable": "could not be read",
    "not_written": "could not be written, and are as they were",
}
_STYLES = {"updated": "green", "would_update": "cyan", "unreadable": "red", "not_written": "red"}


@dataclass(frozen=True)
class MigrateArguments:
    """Mend metadata files of the A3C system that this one replaces.

    Where a3c_world1_stage1_0002000.json says that global_step is 0, it is computed:

    updates times environments times the steps of a rollout.

    Checkpoints themselves are only read, and nothing in them is run.
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """where to look, with all folders below it"""
    dry_run: bool = False
    """say what would be done, and do nothing"""
    no_backup: bool = False
    """do not keep each file as it was, as NAME.json.bak"""
    rollout_steps: int | None = None
    """steps of a rollout, where neither metadata nor checkpoint say, and where others were assumed before; none: 64"""
    update_if_lower: bool = False
    """also raise steps that are not 0 and lower than what is computed"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Migrate; 1 where a file could not be read or written."""
    arguments = parse(MigrateArguments, words, "respawn checkpoint migrate")
    check_at_least(arguments, {"rollout_steps": 1})
    if not arguments.folder.is_dir():
        there = "is a file" if arguments.folder.exists() else "does not exist"
        raise RunFolderError(
            f"'respawn checkpoint migrate' wants a folder, and {arguments.folder} {there}; name the one that holds the "
            "checkpoints, such as trained_models"
        )
    wishes = Wishes(
        rollout_steps=arguments.rollout_steps,
        dry_run=arguments.dry_run,
        backup=not arguments.no_backup,
        update_if_lower=arguments.update_if_lower,
    )
    with progress_bar() as tell:
        migration = migrate(arguments.folder, wishes, tell)
    if arguments.json:
        print(json.dumps(as_json(migration, wishes), indent=2))
    else:
        _show(migration, wishes)
    return 1 if migration.has_failed else 0


def as_json(migration: Migration, wishes: Wishes) -> dict[str, Any]:
    """What came of it as plain data."""
    return {
        "folder": str(migration.folder),
        **asdict(wishes),
        "rollout_steps": wishes.assumed_steps,
        "outcomes": migration.outcomes,
        "passed_over": migration.passed_over,
        "problems": list(migration.problems),
        "files": [{**asdict(each), "path": str(each.path)} for each in migration.files],
    }


def _show(migration: Migration, wishes: Wishes) -> None:
    worth_telling = [each for each in migration.files if each.step_after is not None or each.note]
    if worth_telling:
        _show_files(migration.folder, worth_telling)
        print()
    for each in migration.files:
        if each.note:
            print(f"{_within(migration.folder, each.path)}: {each.note}")
    for problem in migration.problems:
        print(problem)
    for outcome, count in migration.outcomes.items():
        print(f"{outcome}: {number(count)} ({_TOLD[outcome]})")
    print(_in_the_end(migration, wishes))


def _show_files(folder: Path, files: Sequence[Mending]) -> None:
    table = new_table()
    table.add_column("file", overflow="fold")
    table.add_column("outcome", no_wrap=True)
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("computed", justify="right", no_wrap=True)
    for place, within in groupby(files, key=lambda each: each.path.parent):
        if place != folder:
            table.add_row(f"[dim]{escape(_within(folder, place))}/[/]")
        for each in within:
            style = _STYLES.get(each.outcome, "default")
            step, computed = number(each.step_before), number(each.step_after)
            table.add_row(escape(each.path.name), f"[{style}]{each.outcome}[/]", step, computed)
    console().print(table)


def _in_the_end(migration: Migration, wishes: Wishes) -> str:
    passed_over, verb = migration.passed_over, "was" if migration.passed_over == 1 else "were"
    other = f"; {counted(passed_over, 'other JSON file')} {verb} passed over" if passed_over else ""
    if not migration.files:
        return f"There is no such metadata in {migration.folder}{other}."
    assumed = sum(each.rollout_steps_from == "assumed" for each in migration.files if each.step_after is not None)
    said = f"{counted(len(migration.files), 'metadata file')}{other}."
    if assumed:
        said += f" In {number(assumed)} of them rollouts of {wishes.assumed_steps} steps were assumed: "
        said += "say --rollout-steps if they were longer or shorter."
    if wishes.dry_run:
        return f"{said} Nothing was changed: a dry run."
    kept = any(each.outcome == "updated" for each in migration.files) and wishes.backup
    return f"{said} What files were before is beside them as NAME.json.bak." if kept else said


def _within(folder: Path, path: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
