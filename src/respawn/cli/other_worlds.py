"""Options that are for policies of another world than the one at hand."""

from collections.abc import Iterable

from respawn.contracts.settings import option_name
from respawn.errors import ConfigError


def refuse_options(name: str, arguments: object, options: Iterable[str], world: str) -> None:
    """Refuse options that were given and are for another world.

    Args:
      name: of the run, or of shipped weights.
      arguments: what was given.
      options: fields of it; None and False are what nobody gave.
      world: which one they are for, such as 'Mario'.
    """
    for option in options:
        given = getattr(arguments, option)
        if given is not None and given is not False:
            raise ConfigError(
                f"{option_name('--', option)} is for runs in the {world} world, and {name} is in another one; "
                "leave it out"
            )
