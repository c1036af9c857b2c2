"""`respawn play fish RUN`: the world before a run, which nobody need say and everybody may."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from respawn.cli.options import words_of
from respawn.errors import ConfigError
from respawn.weights import shipped_names

if TYPE_CHECKING:
    from respawn.training.trained import Trained

WORLDS = ("fish", "mario", "recall")


def without_world(words: Sequence[str], kind: type) -> tuple[list[str], str | None]:
    """The words without the world that the first of two names, and that world; None: there is none.

    Args:
      words: what was typed after the command.
      kind: the dataclass of the command's arguments, for it says which words are values of options.
    """
    loose = words_of("", kind).loose_places(words)
    if len(loose) < 2 or words[loose[0]] not in WORLDS:
        return list(words), None
    first = loose[0]
    return [*words[:first], *words[first + 1 :]], words[first]


def check_world(trained: "Trained", world: str | None) -> None:
    """Refuse a policy of another world than the one that was named."""
    kind = trained.config.world.kind
    if world is not None and kind != world:
        raise ConfigError(f"'{world}' was named, and {trained.origin} is in the {kind} world; leave '{world}' out")


def check_shipped(run: str, runs_dir: Path) -> None:
    """Say what to do where a world is named alone, and neither weights come with it nor is a run called so."""
    if run not in WORLDS or run in shipped_names() or (runs_dir / run).is_dir() or Path(run).is_dir():
        return
    preset = "memory-gru" if run == "recall" else run
    raise ConfigError(
        f"a run is wanted after '{run}': no weights of that world come with this copy of respawn, and no run in "
        f"{runs_dir} is called so; train one with 'respawn train {preset}', and name it"
    )
