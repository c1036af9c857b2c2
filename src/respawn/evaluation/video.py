"""Frames to films: mp4 for watching, GIF for pages. What is in the frames is decided elsewhere."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.codec.codec import UnknownCodecError
from PIL import Image

from respawn.contracts.world import Frame
from respawn.errors import VideoError
from respawn.evaluation.out_files import prepare_place, written_aside

SUFFIXES = (".mp4", ".gif")
FRAMES_PER_SECOND = 60
"""What an NTSC console shows, to a sixth of a percent."""

_CODEC = "libx264"
_QUALITY = {"crf": "18", "preset": "veryfast"}  # on pictures like these, slower presets make no smaller films
_BT601, _LIMITED_RANGE = 6, 1  # what swscale makes of RGB, said aloud so that players do not guess otherwise

_PACKING = np.array([1 << 16, 1 << 8, 1], np.uint32)  # a colour as one number

_GIF_LADDER = (
    (1.0, 25.0, 64),
    (1.0, 16.7, 64),
    (1.0, 12.5, 64),
    (0.75, 12.5, 64),
    (0.5, 12.5, 64),
    (0.5, 8.0, 64),
    (0.5, 6.25, 32),
    (0.375, 6.25, 32),
    (0.25, 5.0, 16),
)
"""Scales, frames a second (browsers slow down what is above 50) and colours, tried until the file is small enough."""


def check_film_path(path: Path) -> None:
    """Refuse a file that could not be written, before anything is played for it."""
    if path.suffix.lower() not in SUFFIXES:
        raise VideoError(f"a film is written as {' or '.join(SUFFIXES)}, and {path.name!r} came; name another file")
    if path.is_dir():
        raise VideoError(f"a film needs a file's name, and {path} is a folder; name a file in it")
    if path.suffix.lower() == ".mp4":
        _check_codec(_CODEC)


def write_film(
    path: Path, frames: Iterable[Frame], *, frames_per_second: float = FRAMES_PER_SECOND, most_gif_bytes: int = 1 << 20
) -> int:
    """Write frames to an mp4 or a GIF, as the file's name says; answers how many frames came.

    The file appears whole or not at all.

    Args:
      path: Where to; an older film there is replaced.
      frames: uint8 [height, width, 3], all of one size.
      frames_per_second: How fast they are to be shown.
      most_gif_bytes: A GIF loses frames, then pixels and colours, until it is no larger.
    """
    check_film_path(path)
    prepare_place(path)
    if path.suffix.lower() == ".mp4":
        return write_mp4(path, frames, frames_per_second)
    return write_gif(path, frames, frames_per_second, most_gif_bytes)


def write_mp4(path: Path, frames: Iterable[Frame], frames_per_second: float) -> int:
    """H.264 that plays everywhere, begun as soon as the first frame comes."""
    _check_codec(_CODEC)
    first, rest = _first_and_rest(frames)
    count = 0
    with (
        written_aside(path) as aside,
        av.open(str(aside), "w", format="mp4", options={"movflags": "faststart"}) as out,
    ):
        stream: Any = out.add_stream(_CODEC, rate=round(frames_per_second), options=_QUALITY)
        # Colour is kept for squares of 2×2 pixels, so an odd row or column cannot be.
        stream.height, stream.width = (size - size % 2 for size in first.shape[:2])
        stream.pix_fmt = "yuv420p"
        stream.codec_context.colorspace, stream.codec_context.color_range = _BT601, _LIMITED_RANGE
        for frame in chain([first], rest):
            _check_size(frame, first)
            even = np.ascontiguousarray(frame[: stream.height, : stream.width])
            picture = av.VideoFrame.from_ndarray(even, format="rgb24")
            out.mux(stream.encode(picture))
            count += 1
        out.mux(stream.encode(None))
    return count


def write_gif(path: Path, frames: Iterable[Frame], frames_per_second: float, most_bytes: int) -> int:
    """A GIF of few colours that loops, and has as many frames and pixels as `most_bytes` allow."""
    first, rest = _first_and_rest(frames)
    fastest = min(_GIF_LADDER[0][1], frames_per_second)
    kept: list[bytes] = []
    count = 0
    for frame in chain([first], rest):
        _check_size(frame, first)
        if count * fastest >= len(kept) * frames_per_second:
            # Squeezed, because how small the GIF must become is known only at the end, and films are long.
            kept.append(zlib.compress(np.ascontiguousarray(frame).tobytes(), 1))
        count += 1
    with written_aside(path) as aside:
        for scale, rate, colours in _GIF_LADDER:
            shown = kept[:: max(1, round(fastest / min(rate, fastest)))]
            _save_gif(aside, shown, first.shape, scale, colours, 1000 * count / frames_per_second / len(shown))
            size = aside.stat().st_size
            if size <= most_bytes:
                return count
        raise VideoError(
            f"{count / frames_per_second:.0f} seconds do not fit into a GIF of {most_bytes:,} bytes: the smallest has "
            f"{size:,}; allow more with --gif-kilobytes {-(-size // 1000)}, or write .mp4"
        )


def _save_gif(
    path: Path, frames: list[bytes], shape: tuple[int, ...], scale: float, colours: int, milliseconds: float
) -> None:
    palette = _palette(frames, shape, colours)

    def pictures() -> Iterator[Image.Image]:
        for squeezed in frames:
            picture = _unsqueezed(squeezed, shape)
            if scale != 1.0:
                width, height = round(shape[1] * scale), round(shape[0] * scale)
                picture = picture.resize((width, height), Image.Resampling.BOX)
            yield picture.quantize(palette=palette, dither=Image.Dither.NONE)

    each = pictures()
    opening = next(each)
    opening.save(path, "GIF", save_all=True, append_images=each, duration=milliseconds, loop=0, optimize=False)


def _palette(frames: list[bytes], shape: tuple[int, ...], colours: int) -> Image.Image:
    """One palette for the whole film, from eight frames of it: colours that change flicker, and cost bytes."""
    chosen = frames[:: max(1, len(frames) // 8)]
    together = np.concatenate([np.asarray(_unsqueezed(squeezed, shape)).reshape(-1, 3) for squeezed in chosen])
    packed, counts = np.unique(together.astype(np.uint32) @ _PACKING, return_counts=True)
    # By the root of how often each comes: small things would else lose their colours to what is behind them.
    weighed = np.repeat(packed, np.ceil(np.sqrt(counts)).astype(int))
    pixels = (weighed[None, :, None] // _PACKING % 256).astype(np.uint8)
    return Image.fromarray(pixels).quantize(colours, Image.Quantize.MEDIANCUT, kmeans=1)


def _unsqueezed(squeezed: bytes, shape: tuple[int, ...]) -> Image.Image:
    return Image.fromarray(np.frombuffer(zlib.decompress(squeezed), np.uint8).reshape(shape))


def _first_and_rest(frames: Iterable[Frame]) -> tuple[Frame, Iterator[Frame]]:
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise VideoError("a film needs at least one frame, and none came; play at least one step")
    if first.ndim != 3 or first.shape[2] != 3 or first.dtype != np.uint8:
        raise VideoError(f"frames must be uint8 [height, width, 3], and {first.dtype} {list(first.shape)} came")
    return first, rest


def _check_size(frame: Frame, first: Frame) -> None:
    if frame.shape != first.shape:
        raise VideoError(f"all frames of a film must be {list(first.shape)} as its first, and {list(frame.shape)} came")


def _check_codec(name: str) -> None:
    try:
        av.Codec(name, "w")
    except UnknownCodecError:
        raise VideoError(
            f"this build of PyAV has no H.264 encoder ({name}); install it anew with 'pip install --force-reinstall "
            "av', or write .gif"
        ) from None
