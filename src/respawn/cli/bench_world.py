"""respawn bench world fish|mario|ID."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import tyro

from respawn.cli.arguments import check_at_least, parse
from respawn.cli.bench_files import FileOption, ResultFiles
from respawn.cli.bench_rows import Keep, Measured, carry_through, check_sizes, print_rows
from respawn.cli.engine_built import engine_must_be_built
from respawn.cli.progress import Tell
from respawn.cli.wording import counted
from respawn.contracts.settings import check_above, check_between
from respawn.errors import ConfigError

if TYPE_CHECKING:
    from respawn.worlds.registry import WorldConfig

Observation: TypeAlias = Literal["tiles", "pixels"]

LANES = (1, 8, 64)
LONGEST_SECONDS = 1800
"""A world that takes much longer for a turn is taken to hang."""
OWN = {
    "fish": ("fish", "schools", "no_reference"),
    "mario": ("lanes", "observation"),
    "other": ("lanes", "workers", "imports"),
}
"""Options that are for some worlds only."""
NOTE = (
    "Steps of all lanes together in a second, with random actions and no policy, beginnings of new episodes included; "
    "every row is a process of its own, and rows of the same lanes are measured in turn."
)
FISH_NOTE = (
    "Steps of all living fish together in a second, with random actions, beginnings of new episodes included. One by "
    "one: the plain program on which the world is tested, on one core. Ratio: to it, median of the turns."
)


@dataclass(frozen=True)
class WorldArguments:
    """Steps a second of a world by itself, with random actions.

    Beginnings of new episodes are included. All is measured in turn.

    Of fish every living one counts, beside a plain program that moves one by one.

    One that fails becomes a row with its error, and the exit code is 1.
    """

    world: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[WORLD]")] = "fish"
    """which world: fish, mario, or a Gymnasium id such as CartPole-v1"""
    lanes: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = ()
    """mario and others: lanes that are stepped together, each number measured by itself; none: 1 8 64"""
    observation: Annotated[tuple[Observation, ...], tyro.conf.arg(metavar="KIND [KIND]")] = ("tiles", "pixels")
    """mario: what is seen, each measured by itself"""
    workers: int = 0
    """others: worker processes that share the lanes; 0: none"""
    imports: Annotated[tuple[str, ...], tyro.conf.arg(metavar="MODULE [MODULE ...]")] = ()
    """others: modules to import first, which register the id"""
    fish: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N [N ...]")] = (25, 96)
    """fish: in a school, each number measured by itself"""
    schools: int | None = None
    """fish: schools that are stepped together; none: as many as make about 160,000 fish, on a GPU 4 million"""
    no_reference: bool = False
    """fish: leave the plain program out"""
    rounds: int = 5
    """how often each is measured"""
    seconds: float = 2.0
    """how long, each time"""
    device: str = "cpu"
    """where the world is stepped"""
    csv: FileOption = None
    """write all rows to a CSV file"""
    markdown: FileOption = None
    """write a table with the machine, the command and the commit to a Markdown file"""
    json: bool = False
    """print JSON instead of a table"""


def main(words: list[str]) -> int:
    """Measure."""
    arguments = parse(WorldArguments, words, "respawn bench world")
    check_at_least(arguments, {"rounds": 1, "schools": 1, "workers": 0})
    check_above("--", arguments, {"seconds": 0})
    check_between("--", arguments, {"seconds": (0, LONGEST_SECONDS)})
    check_sizes(arguments, {"lanes": 1, "fish": 1})
    if not arguments.fish or not arguments.observation:
        raise ConfigError(f"--{'observation' if arguments.fish else 'fish'} wants at least one, and nothing came")
    _refuse_strangers(arguments)
    is_fish = arguments.world == "fish"
    title = f"{arguments.world} on {arguments.device}: {counted(arguments.rounds, 'turn')} of {arguments.seconds:g} s"
    files = ResultFiles(arguments.csv, arguments.markdown, f"World: {title}", (FISH_NOTE if is_fish else NOTE,))
    measure = _measure_fish if is_fish else _measure_lanes
    return carry_through(
        files,
        lambda tell, keep: measure(arguments, tell, keep),
        lambda measured: print_rows(title, measured["rows"], without=() if is_fish else ("of", "threads")),
        as_json=arguments.json,
    )


def _refuse_strangers(arguments: WorldArguments) -> None:
    """Refuse options of another world, which would have no effect."""
    kind = arguments.world if arguments.world in OWN else "other"
    for name in sorted({name for names in OWN.values() for name in names} - set(OWN[kind])):
        if getattr(arguments, name) != WorldArguments.__dataclass_fields__[name].default:
            of = " and ".join(world for world, names in OWN.items() if name in names).replace("other", "other worlds")
            raise ConfigError(f"--{name.replace('_', '-')} is for {of}, and '{arguments.world}' came; leave it out")


def _measure_lanes(arguments: WorldArguments, tell: Tell, keep: Keep) -> Measured:
    worlds = _worlds(arguments)
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.training.bench_world import WorldPlan, measure_worlds
    from respawn.training.device import resolve_device

    resolve_device(arguments.device, wants_gpu=False)
    plan = WorldPlan(arguments.lanes or LANES, arguments.rounds, arguments.seconds, arguments.device)

    def about(rows: list[dict[str, Any]]) -> Measured:
        said = {"world": arguments.world, "device": arguments.device, "rounds": arguments.rounds}
        return {**said, "seconds": arguments.seconds, "rows": rows}

    return about(measure_worlds(arguments.world, worlds, plan, tell, lambda rows: keep(about(rows))))


def _worlds(arguments: WorldArguments) -> "dict[str, WorldConfig]":
    if arguments.world == "mario":
        with engine_must_be_built():
            from respawn.worlds.mario.config import MarioConfig
            from respawn.worlds.mario.rom import find_rom

        find_rom(expect="ntsc")  # refused once, not once a cell
        return {kind: MarioConfig(observation=kind) for kind in dict.fromkeys(arguments.observation)}
    from respawn.worlds.foreign.config import ForeignConfig
    from respawn.worlds.foreign.making import import_modules, make_env

    world = ForeignConfig(env_id=arguments.world, imports=arguments.imports, workers=arguments.workers)
    # One that is not there is refused in a sentence, before processes are started.
    import_modules(world.plan)
    make_env(world.plan).close()
    return {arguments.world: world}


def _measure_fish(arguments: WorldArguments, tell: Tell, keep: Keep) -> Measured:
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.testing.bench_fish import FishPlan, measure_fish

    plan = FishPlan(
        sizes=arguments.fish,
        schools=arguments.schools,
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        device=arguments.device,
        with_reference=not arguments.no_reference,
    )
    return measure_fish(plan, tell, keep)
