"""Pictures in a window of its own, through tkinter, which comes with most Pythons."""

import contextlib
from collections.abc import Iterator
from typing import Any

from respawn.contracts.world import Frame
from respawn.errors import VideoError


class Window:
    """A window that shows one frame after the other; made by `opened_window`."""

    def __init__(self, root: Any, make_image: Any, canvas: Any) -> None:
        self._root = root
        self._make_image = make_image
        self._canvas = canvas
        self._image: Any = None
        self.is_open = True
        root.protocol("WM_DELETE_WINDOW", self._close)

    def show(self, frame: Frame, *status: str) -> None:
        """Show a frame, and what there is to say about it in the title."""
        if not self.is_open:
            return
        height, width = frame.shape[:2]
        # Kept, for tkinter does not keep what it shows.
        self._image = self._make_image(data=b"P6 %d %d 255 " % (width, height) + frame.tobytes(), format="PPM")
        self._canvas.configure(image=self._image)
        if status:
            self._root.title(status[0])
        self._root.update()

    def _close(self) -> None:
        self.is_open = False


@contextlib.contextmanager
def opened_window(title: str) -> Iterator[Window]:
    """Open a window, and close it however this ends."""
    try:
        import tkinter
    except ImportError:
        raise VideoError(
            "a window needs tkinter, which this Python lacks; install it (Debian: apt install python3-tk), or leave "
            "out --window and watch in the terminal"
        ) from None
    try:
        root = tkinter.Tk()
    except tkinter.TclError as error:
        raise VideoError(
            f"no window can be opened here ({error}); leave out --window and watch in the terminal, or make a film "
            "with 'respawn video'"
        ) from None
    root.title(title)
    root.resizable(False, False)
    canvas = tkinter.Label(root, borderwidth=0)
    canvas.pack()
    try:
        yield Window(root, tkinter.PhotoImage, canvas)
    finally:
        with contextlib.suppress(tkinter.TclError):  # gone already
            root.destroy()
