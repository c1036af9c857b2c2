"""respawn checkpoint verify: whether a run's checkpoints are whole, and what resuming would do with them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.markup import escape
from rich.table import Table

from respawn.checkpoints.resumption import Resumption, what_resuming_run_does
from respawn.checkpoints.store import saved
from respawn.checkpoints.verification import SIDES, Examined, Surroundings, Verdict, examine_all
from respawn.cli.arguments import RunsDirectory, parse
from respawn.cli.checkpoint_names import (
    checkpoint_at,
    find_checkpoint,
    find_run,
    is_run,
    no_checkpoint,
    split_name,
)
from respawn.cli.progress import Tell, progress_bar
from respawn.cli.tables import console, fitting, in_blocks, new_table, number
from respawn.cli.wording import command_for
from respawn.errors import CheckpointError, ConfigError, RespawnError
from respawn.runs.kept_rows import archive_problems
from respawn.runs.layout import RunFolder
from respawn.runs.sizes import size
from respawn.runs.streams import STREAMS

_STYLES = {"whole": "green", "damaged": "red", "unreadable": "red", "let go": "yellow", "unknown": "dim"}


@dataclass(frozen=True)
class VerifyArguments:
    """Check every checkpoint of a run, or one: files, parts, rows, settings.

    Of a run, also every archive of its rows.

    Nothing is changed. The exit code is 1 where anything is damaged.
    """

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|FOLDER")]
    """a run, for all its checkpoints; RUN@best, RUN@u00000100 or RUN@100 for one; or a checkpoint's folder"""
    world: bool = False
    """also put the run together, aside, and compare what is seen and done in its world"""
    runs: RunsDirectory = Path("runs")
    """the folder that holds the runs"""
    json: bool = False
    """print JSON instead of a table"""


@dataclass(frozen=True)
class _Asked:
    """What is to be verified."""

    paths: Sequence[Path]
    folder: RunFolder | None
    whole_run: bool


@dataclass(frozen=True)
class _Found:
    """What was found."""

    folder: RunFolder | None
    examined: Sequence[Examined]
    archives: Sequence[str]
    """what is wrong with the archives of the run's streams"""
    resumption: Resumption | None

    @property
    def is_whole(self) -> bool:
        """Whether nobody need see to anything."""
        return not self.archives and all(each.is_whole for each in self.examined)


def main(words: list[str]) -> int:
    """Verify; 1 where anything is damaged."""
    arguments = parse(VerifyArguments, words, "respawn checkpoint verify")
    asked = _asked(arguments.runs, arguments.checkpoint)
    if arguments.world and asked.folder is None:
        raise ConfigError(f"--world compares with the run, and {arguments.checkpoint} lies in none; leave it out")
    with progress_bar() as tell:
        around = _surroundings(asked.folder, with_world=arguments.world)
        examined = _examined(asked, around, tell)
        archives = _archive_problems(asked.folder, tell)
    goes_on = asked.folder is not None and asked.folder.is_locked()
    resumption = None
    if asked.folder is not None and asked.whole_run and not goes_on:
        resumption = what_resuming_run_does(asked.folder, around, examined)
    found = _Found(asked.folder, examined, archives, resumption)
    if arguments.json:
        print(json.dumps(_as_json(found), indent=2))
    else:
        _show(found, with_world=arguments.world)
        if goes_on:
            print("The run is going on: it makes new checkpoints, and deletes old ones.")
    return 0 if found.is_whole else 1


def _as_json(found: _Found) -> dict[str, Any]:
    """What was found as plain data."""
    resumption = found.resumption
    return {
        "run": None if found.folder is None else found.folder.name,
        "whole": found.is_whole,
        "checkpoints": [
            {
                "name": each.path.name,
                "path": str(each.path),
                "whole": each.is_whole,
                "bytes": each.size_bytes,
                "updates": each.manifest.updates if each.manifest else None,
                "decisions": each.manifest.decisions if each.manifest else None,
                "saved_at": each.manifest.saved_at if each.manifest else None,
                **{side: asdict(verdict) for side, verdict in each.verdicts.items()},
            }
            for each in found.examined
        ],
        "archives": list(found.archives),
        "set_aside": [] if found.folder is None else _set_aside(found.folder),
        "resuming": None
        if resumption is None
        else {**asdict(resumption), "path": resumption.path and str(resumption.path)},
    }


def _asked(runs_dir: Path, word: str) -> _Asked:
    name, which = split_name(word)
    if which or (not is_run(runs_dir / name) and checkpoint_at(Path(name)) is not None):
        named = find_checkpoint(runs_dir, word)
        # Those that were passed over are what was asked for, or may be.
        passed_over = [named.path.with_name(reason.partition(":")[0]) for reason in named.passed_over]
        return _Asked(sorted([*passed_over, named.path]), named.folder, whole_run=False)
    folder = find_run(runs_dir, name)
    paths = saved(folder.checkpoints)
    if not paths:
        raise no_checkpoint(folder)
    return _Asked(paths, folder, whole_run=True)


def _surroundings(folder: RunFolder | None, *, with_world: bool) -> Surroundings:
    """What the run around its checkpoints is now."""
    if folder is None:
        return Surroundings()
    # Imported only now: torch takes seconds to load, and a mistake should be told at once.
    from respawn.training.surroundings import surroundings_of

    around = surroundings_of(folder)
    return _with_world(around, folder) if with_world and not around.settings_problem else around


def _with_world(around: Surroundings, folder: RunFolder) -> Surroundings:
    from respawn.training.recorded import load_config
    from respawn.training.trial import try_out

    try:
        return replace(around, world=try_out(replace(load_config(folder), device="cpu")).world)
    except RespawnError as error:
        return replace(around, world_problem=f"the run cannot be put together here: {error}")


def _examined(asked: _Asked, around: Surroundings, tell: Tell) -> list[Examined]:
    """Every checkpoint that was asked for; of a run, those that are there now."""
    folder = asked.folder if asked.whole_run else None
    examined = examine_all(lambda: asked.paths if folder is None else saved(folder.checkpoints), around, tell)
    if not examined:
        raise CheckpointError(
            f"{asked.paths[-1]} was deleted while it was looked at, as a run that goes on does; try again"
        )
    return examined


def _archive_problems(folder: RunFolder | None, tell: Tell) -> list[str]:
    """What is wrong with the archives of all streams, the history included; resuming reads few of them."""
    if folder is None:
        return []
    problems = []
    for done, (name, stream) in enumerate(STREAMS.items()):
        tell(f"archives of {name}", done / len(STREAMS))
        problems += archive_problems(stream.path_in(folder))
    return problems


def _set_aside(folder: RunFolder) -> list[str]:
    return sorted(path.name for path in folder.checkpoints.glob("damaged-*"))


def _show(found: _Found, *, with_world: bool) -> None:
    folder, examined = found.folder, found.examined
    _show_table(examined, [side for side in SIDES if with_world or side != "world"])
    print()
    for each in examined:
        for problem in each.problems:
            print(f"{each.path.name}: {problem}")
    for problem in found.archives:
        print(f"rows: {problem}")
    if folder is not None and (aside := _set_aside(folder)):
        print(f"Set aside as damaged when the run was resumed: {', '.join(aside)}")
    damaged = [each for each in examined if not each.is_whole]
    but = ", but not all rows of the run" if found.archives and not damaged else ""
    print(f"{len(damaged)} of {len(examined)} damaged." if damaged else f"{_all(len(examined))} whole{but}.")
    if folder is not None and found.resumption is not None:
        print(_about_resuming(folder, found.resumption))


def _all(count: int) -> str:
    return {1: "It is", 2: "Both are"}.get(count, f"All {number(count)} are")


def _show_table(examined: Sequence[Examined], sides: Sequence[str]) -> None:
    """A line for each; where room is short, without what its name or 'checkpoint inspect' says too."""
    target = console()
    facts = {each.path.name: _facts(each, sides) for each in examined}
    tables = (_table(facts, [*kept, *sides]) for kept in (("update", "size"), ("size",), ()))
    target.print(fitting(tables, in_blocks(facts.items()), target))


def _facts(each: Examined, sides: Sequence[str]) -> dict[str, str]:
    return {
        "update": number(each.manifest.updates) if each.manifest else "",
        "size": size(each.size_bytes),
        **{side: _state(side, each.verdicts.get(side)) for side in sides},
    }


def _table(facts: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> Table:
    table = new_table()
    table.add_column("checkpoint", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right" if name in ("update", "size") else "left", no_wrap=True)
    for checkpoint, told in facts.items():
        table.add_row(escape(checkpoint), *(told[name] for name in names))
    return table


def _state(side: str, verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    compared = {"whole": "same", "damaged": "other"} if side in ("settings", "world") else {}
    return f"[{_STYLES[verdict.state]}]{compared.get(verdict.state, verdict.state)}[/]"


def _about_resuming(folder: RunFolder, resumption: Resumption) -> str:
    passed_over = f"would pass over {', '.join(resumption.passed_over)} and " if resumption.passed_over else "would "
    if resumption.path is None:
        return f"'{command_for('resume', folder)}' {passed_over}be refused: {resumption.refusal}"
    return f"'{command_for('resume', folder)}' {passed_over}go on from {resumption.path.name}."
