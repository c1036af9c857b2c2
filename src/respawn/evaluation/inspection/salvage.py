"""Reading as far as a damaged file can be read, and saying what is wrong with it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from respawn.errors import RunFolderError
from respawn.runs.json_files import read_json_object
from respawn.runs.layout import RunFolder

T = TypeVar("T")


class Salvage:
    """Collects what was wrong, while everything that can be read is."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def rows(self, rows: Iterable[T]) -> Iterator[T]:
        """The rows up to the first that cannot be read."""
        try:
            yield from rows
        except RunFolderError as error:
            self.note(str(error))

    def asked(self, question: Callable[[], T], otherwise: T) -> T:
        """What a question about a file answers, or something else where the file does not."""
        try:
            return question()
        except RunFolderError as error:
            self.note(str(error))
            return otherwise

    def note(self, problem: str) -> None:
        """Take note of what is wrong with a file, once."""
        if problem not in self.problems:
            self.problems.append(problem)


def config_number(config: dict[str, Any], room: str, name: str, otherwise: float) -> float:
    """A number that config.json holds; older ones may not have it."""
    settings = config.get(room)
    value = settings.get(name) if isinstance(settings, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def read_config(folder: RunFolder, salvage: Salvage) -> dict[str, Any]:
    """The run's settings as plain data; none where they cannot be read."""
    return salvage.asked(lambda: read_json_object(folder.config), {})
