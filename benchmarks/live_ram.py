"""The memory of nes-py's console, read so that NumPy 2 can calculate with it, and still the console's own.

nes-py 8.2.1 hands out an array of bytes that lies over the running console's memory, once, when it is made. Whoever
calculates with single bytes of it (0x100 * ram[0x6D]) is refused by NumPy 2 with an OverflowError, and whoever
calculates with several at once gets numbers that have silently gone round. A wider copy of the array would be right
for one frame and then never again. So the array stays what it is, and every read is made wide when it is made.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class WidenedRam:
    """A console's memory: reads are integers of Python's, or arrays of int64; writes reach the console.

    It is no array itself, so that no calculation can get at the bytes behind it.
    """

    def __init__(self, live: NDArray[np.uint8]) -> None:
        if live.dtype != np.uint8 or live.ndim != 1:
            raise TypeError(f"expected the console's bytes in a row, got {live.dtype} {live.shape}")
        self._live = live

    def __len__(self) -> int:
        return len(self._live)

    def __getitem__(self, where: Any) -> Any:
        found = self._live[where]
        return found.astype(np.int64) if isinstance(found, np.ndarray) else int(found)

    def __setitem__(self, where: Any, value: Any) -> None:
        self._live[where] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self._live.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A copy as it is now, wide unless it is asked for otherwise."""
        if copy is False:
            raise ValueError("the console's memory is read as a copy: what is made wide lies elsewhere")
        return self._live.astype(np.int64 if dtype is None else dtype)

    def as_bytes(self) -> NDArray[np.uint8]:
        """A copy as it is now, in bytes, for those who make it wide themselves."""
        return self._live.copy()
