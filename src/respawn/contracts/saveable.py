"""What exact resume asks of anything that remembers."""

from typing import Any, Protocol, TypeAlias

StateTree: TypeAlias = dict[str, Any]
"""A nested dict with string keys whose leaves are tensors, NumPy arrays, None, bool, int, float, str, or lists.

`checkpoints/codec.py` turns it into files and back. Tensors in a state belong to whoever asked: a part that goes on
changing its tensors in place returns clones.
"""


class Saveable(Protocol):
    """A part whose whole memory can be written down and taken up again."""

    def state(self) -> StateTree:
        """All that must be known to go on exactly; asking changes nothing."""
        ...

    def restore(self, state: StateTree) -> None:
        """Go on from `state`, as if nothing had happened."""
        ...
