"""respawn doctor worlds."""

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.markup import escape
from rich.table import Table

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.tables import console, fitting, in_blocks, new_table
from respawn.contracts.settings import check_above, check_between, option_name
from respawn.errors import ConfigError, RespawnError

if TYPE_CHECKING:
    from respawn.training.world_backends import TrialPlan

_LONGEST_SECONDS = 1_000_000.0
_TIMES = {"construct_seconds": "construct", "reset_seconds": "reset", "step_seconds": "all steps"}
_SPREAD = {"min": "least", "mean": "mean", "max": "most"}
_OUTPUT_BYTES = 1_500
_OWN = {
    "env_id": ("gymnasium",),
    "imports": ("gymnasium",),
    "workers": ("gymnasium", "gym-super-mario-bros"),
}
"""Options that are for some backends only."""


@dataclass(frozen=True)
class DoctorWorldsArguments:
    """Make worlds again and again, reset them and step them with random actions.

    Each trial is a process, and good only if the file says so that it leaves.

    One that hangs is ended with all that it started.

    Of those that fail, marks, stacks and output of all processes are kept.

    The exit code is 1 if a trial failed.
    """

    backend: Literal["engine", "fish", "gymnasium", "gym-super-mario-bros", "all"] = "all"
    """engine: Super Mario Bros. on our console; fish: a school; both in the trial's process. gymnasium: --env-id, and
    gym-super-mario-bros: its 1-1 on nes-py, both in worker processes"""
    trials: int = 5
    """how often, each"""
    lanes: int = 8
    """parallel environments; of fish: how many are in the school"""
    workers: int = 8
    """processes that share the lanes, where there are any; 0: none"""
    steps: int = 1_000
    """how many, after the reset"""
    timeout: float = 600.0
    """seconds that a trial may take; half of it for one stage of a worker"""
    seed: int = 0
    """of the first trial; each further one has the next"""
    env_id: str = "CartPole-v1"
    """the environment of the backend gymnasium"""
    imports: tuple[str, ...] = ()
    """modules to import first, so that the ids of other packages are registered"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """where report.jsonl, summary.json and what failed trials leave go; none: a temporary folder, kept if one failed"""
    json: bool = False
    """print the summary as JSON instead of a table"""


def main(words: list[str]) -> int:
    """Try."""
    arguments = parse(DoctorWorldsArguments, words, "respawn doctor worlds")
    check_at_least(arguments, {"trials": 1, "lanes": 1, "workers": 0, "steps": 1, "seed": 0})
    check_above("--", arguments, {"timeout": 0})
    check_between("--", arguments, {"timeout": (0, _LONGEST_SECONDS)})
    if (
        arguments.out is not None
        and arguments.out.exists()
        and (not arguments.out.is_dir() or any(arguments.out.iterdir()))
    ):
        raise ConfigError(f"--out wants a folder that is empty or not there yet, and {arguments.out} is neither")
    _refuse_strangers(arguments)
    plans = _plans(arguments)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.world_trials import run_trials, summarize

    with _folder(arguments.out) as out:
        records = run_trials(plans, out, lambda record: _tell(record, arguments.trials))
        summary = summarize(records)
        if arguments.json:
            print(json.dumps({**summary, "records": records}, indent=2))
        else:
            _show(summary, records)
    kept = arguments.out is not None or summary["failed"]
    if kept and not arguments.json:
        console().print(f"[dim]report and summary are in {escape(str(out))}[/]")
    return 1 if summary["failed"] else 0


def _refuse_strangers(arguments: DoctorWorldsArguments) -> None:
    """Refuse options of other backends, which would have no effect, and what is no environment's id."""
    for name, backends in _OWN.items():
        is_given = getattr(arguments, name) != DoctorWorldsArguments.__dataclass_fields__[name].default
        if is_given and arguments.backend not in (*backends, "all"):
            whose = " and ".join(backends)
            raise ConfigError(f"{option_name('--', name)} is for {whose}, and '{arguments.backend}' came; leave it out")
    if arguments.backend == "gymnasium":
        _check_environment(arguments)


def _check_environment(arguments: DoctorWorldsArguments) -> None:
    """Refuse what is no environment, as far as can be said without importing or making any: that may be what hangs."""
    from respawn.worlds.foreign.config import ForeignConfig
    from respawn.worlds.foreign.making import check_registered

    world = ForeignConfig(env_id=arguments.env_id, imports=arguments.imports)
    if not arguments.imports and ":" not in arguments.env_id:
        check_registered(world.plan)


def _plans(arguments: DoctorWorldsArguments) -> "list[TrialPlan]":
    """What is to be done; backends that cannot be tried are left out with a sentence, unless they were asked for."""
    from respawn.training.world_backends import BACKENDS, TrialPlan, check_backend, uses_workers

    plans = []
    for backend in BACKENDS if arguments.backend == "all" else (arguments.backend,):
        try:
            check_backend(backend)
        except RespawnError as problem:
            if arguments.backend != "all":
                raise
            print(f"respawn: {backend} is left out: {problem}", file=sys.stderr)
            continue
        for trial in range(arguments.trials):
            plan = TrialPlan(
                trial=trial + 1,
                backend=backend,
                num_lanes=arguments.lanes,
                workers=min(arguments.workers, arguments.lanes) if uses_workers(backend) else 0,
                seed=arguments.seed + trial,
                steps=arguments.steps,
                limit_seconds=arguments.timeout,
                env_id=arguments.env_id,
                imports=arguments.imports,
            )
            plans.append(plan)
    return plans


@contextlib.contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    """Where everything goes. One of our own is removed again if nothing failed, and then nothing in it is of use."""
    if named is not None:
        yield named.resolve()
        return
    own = Path(tempfile.mkdtemp(prefix="respawn-worlds-"))
    yield own
    kept = [path for path in own.iterdir() if path.is_dir()]  # what a failed trial left
    if not kept:
        for path in own.iterdir():
            path.unlink()
        own.rmdir()


def _tell(record: dict[str, Any], trials: int) -> None:
    """A line for each trial as soon as it is over."""
    done = f"{record['num_lanes']} x {record['steps_done']:,} steps in {record['duration_seconds']:.1f} s"
    how = f"ok, {done}" if record["ok"] else f"FAILED after {done}: {record['error']}"
    print(f"{record['backend']} {record['trial']} of {trials}: {how}", file=sys.stderr, flush=True)


def _show(summary: dict[str, Any], records: list[dict[str, Any]]) -> None:
    target = console()
    backends = summary["backends"]
    target.print(fitting([_table(backends)], in_blocks((name, _facts(backends[name])) for name in backends), target))
    for found in summary["backends"].values():
        for error in found["top_errors"]:
            target.print(f"[bold red]problem[/]: {error['trials']} x {escape(error['error'])}")
    _show_first_failure(records)


def _table(backends: dict[str, Any]) -> Table:
    table = new_table()
    for label in ("world", "good", "seconds"):
        table.add_column(label, no_wrap=True)
    for label in (*_SPREAD.values(), "episodes"):
        table.add_column(label, justify="right", no_wrap=True)
    for name, found in backends.items():
        cells = [(name, _good(found), f"{found['episodes']:,}"), *[("", "", "")] * len(_TIMES)]
        for (stage, what), (world, good, episodes) in zip(_TIMES.items(), cells, strict=False):
            times = found[stage] or {}
            spread = (_short(times[which]) if which in times else "" for which in _SPREAD)
            table.add_row(world, good, what, *spread, episodes)
    return table


def _facts(found: dict[str, Any]) -> dict[str, str]:
    """The same of one world, for a window that is too narrow for the table."""
    stages = {what: found[stage] or {} for stage, what in _TIMES.items()}
    times = {
        f"{what}, s": ", ".join(f"{_SPREAD[which]} {_short(spread[which])}" for which in _SPREAD if which in spread)
        for what, spread in stages.items()
    }
    return {"good": _good(found), **times, "episodes": f"{found['episodes']:,}"}


def _good(found: dict[str, Any]) -> str:
    return f"{found['ok']} of {found['trials']}"


def _short(seconds: float) -> str:
    """Five characters, so that the table fits a terminal."""
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.3f}"


def _show_first_failure(records: list[dict[str, Any]]) -> None:
    """The end of what the first one that failed printed: often all that is needed."""
    failed = next((record for record in records if not record["ok"]), None)
    if failed is None:
        return
    from respawn.training.world_trials import last_output

    printed = last_output(failed, _OUTPUT_BYTES).strip()
    target = console()
    target.print(f"[dim]the first to fail left its marks, stacks and output in {escape(failed['diagnostics'])}[/]")
    if printed:
        target.print(printed, markup=False, style="dim")
