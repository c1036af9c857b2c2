"""Independent machines to compare with: cynes (a whole console, used as a black box) and py65 (a 6502)."""

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_REVERSED = [int(f"{byte:08b}"[::-1], 2) for byte in range(256)]

_LEAST_CHANGES = 8  # bytes of the saved state: a step that does nothing changes one or two, a frame at least twenty


class CynesConsole:
    """One cynes console on an iNES image.

    What one has to know of cynes 0.1.2:
    - One flag is not initialised: in some processes the first `step()` returns at once, without running, and
      everything seems a frame late. Here that step is noticed (next to nothing changed in the saved state) and
      repeated, so that frame 1 is always the one from power-on to the first vblank.
    - RAM at power-on is not the same in every process, so programs clear what they use.
    - Its button bits are reversed; here bit 0 is A, 1 B, 2 Select, 3 Start, 4 Up, 5 Down, 6 Left, 7 Right.
    """

    def __init__(self, ines: bytes) -> None:
        from cynes import NES

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.nes"
            path.write_bytes(ines)
            self.nes = NES(str(path))
        self._ran = False
        self._picture: NDArray[np.uint8] | None = None

    def frame(self, buttons: int = 0, buttons2: int = 0) -> None:
        """Runs to the end of the frame with these buttons held."""
        self.nes.controller = _REVERSED[buttons] | _REVERSED[buttons2] << 8
        if self._ran:
            self._picture = self.nes.step()
            return
        before = self.nes.save().copy()
        self._picture = self.nes.step()
        if np.count_nonzero(before != self.nes.save()) < _LEAST_CHANGES:
            self._picture = self.nes.step()
        self._ran = True

    def reset(self) -> None:
        """Presses the reset button."""
        self.nes.reset()

    @property
    def jammed(self) -> bool:
        """Whether the processor stopped at an instruction that jams it."""
        return bool(self.nes.has_crashed)

    def ram(self) -> NDArray[np.uint8]:
        """The 2 KiB of RAM."""
        return np.fromiter((self.nes[address] for address in range(0x800)), np.uint8, 0x800)

    def rgb(self) -> NDArray[np.uint8]:
        """The picture of the last frame."""
        if self._picture is None:
            raise RuntimeError("no frame has been run yet")
        return self._picture.copy()
