"""Which of the listed levels episodes may begin in now, as two knobs turn it."""

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.errors import KnobError

FIRST_LEVEL, LAST_LEVEL = "first_level", "last_level"


class LevelWindow:
    """The open levels: places in the list of levels, counted from 0 here and from 1 by the knobs."""

    def __init__(self, num_levels: int) -> None:
        self._num_levels = num_levels
        self.first = 0
        self.count = num_levels

    @property
    def knobs(self) -> tuple[KnobSpec, ...]:
        """Both ends of the window; none where there is but one level, and so nothing to open."""
        if self._num_levels == 1:
            return ()
        last = float(self._num_levels)
        return (KnobSpec("first_level", 1.0, 1.0, last), KnobSpec("last_level", last, 1.0, last))

    def apply(self, knobs: Knobs) -> None:
        """Open what the knobs say; knobs that say nothing of levels leave all of them open."""
        first, count = open_levels(knobs, self._num_levels)
        self.first, self.count = first, count

    def holds(self, level: int) -> bool:
        """Whether a level is open."""
        return self.first <= level < self.first + self.count


def open_levels(knobs: Knobs, num_levels: int) -> tuple[int, int]:
    """The place, from 0, of the first open level, and how many are open."""
    first = round(knobs.values.get(FIRST_LEVEL, 1.0))
    last = round(knobs.values.get(LAST_LEVEL, float(num_levels)))
    if not 1 <= first <= last <= num_levels:
        raise KnobError(
            f"'{FIRST_LEVEL}' and '{LAST_LEVEL}' must be places in the list of {num_levels} levels, the first one not "
            f"behind the last, and a schedule set them to {first} and {last}"
        )
    return first - 1, last - first + 1
