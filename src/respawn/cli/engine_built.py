"""What the commands that need the compiled engine say where it is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from respawn.errors import WorldError


@contextmanager
def engine_must_be_built() -> Iterator[None]:
    """Around imports of the engine, which come late: mistakes in the arguments need no compiled code."""
    try:
        yield
    except ImportError as error:
        raise WorldError(f"the NES engine is not built here ({error}); run 'make setup'") from None
