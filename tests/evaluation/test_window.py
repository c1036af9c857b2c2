import sys
import types

import numpy as np
import pytest

from respawn.errors import VideoError
from respawn.evaluation.window import opened_window


class FakeTk(types.ModuleType):
    """As much of tkinter as a window needs."""

    class TclError(Exception):
        pass

    def __init__(self, refuses=False):
        super().__init__("tkinter")
        self.refuses, self.images, self.closed = refuses, [], False

    def Tk(self):
        if self.refuses:
            raise self.TclError("no display name and no $DISPLAY environment variable")
        return self

    def Label(self, root, borderwidth):
        return self

    def PhotoImage(self, data, format):
        self.images.append((format, data))
        return self.images[-1]

    def protocol(self, name, handler):
        self.close_button = handler

    def title(self, text):
        self.said = text

    def resizable(self, *ways):
        pass

    def pack(self):
        pass

    def configure(self, image):
        self.shown = image

    def update(self):
        pass

    def destroy(self):
        self.closed = True


def test_frames_are_shown_until_the_window_is_closed(monkeypatch):
    tk = FakeTk()
    monkeypatch.setitem(sys.modules, "tkinter", tk)
    frame = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    with opened_window("mario") as window:
        window.show(frame, "x 40")
        assert tk.shown == ("PPM", b"P6 2 2 255 " + bytes(range(12))) and tk.said == "x 40" and window.is_open
        tk.close_button()
        window.show(frame)
        assert len(tk.images) == 1 and not window.is_open
    assert tk.closed


def test_the_window_is_closed_whatever_happens(monkeypatch):
    tk = FakeTk()
    monkeypatch.setitem(sys.modules, "tkinter", tk)
    with pytest.raises(KeyboardInterrupt), opened_window("mario"):
        raise KeyboardInterrupt
    assert tk.closed


def test_no_display_and_no_tkinter_get_a_sentence_each(monkeypatch):
    monkeypatch.setitem(sys.modules, "tkinter", FakeTk(refuses=True))
    with pytest.raises(VideoError, match=r"no window can be opened here \(no display name"), opened_window("mario"):
        pass
    monkeypatch.setitem(sys.modules, "tkinter", None)
    with pytest.raises(VideoError, match="a window needs tkinter, which this Python lacks"), opened_window("mario"):
        pass
