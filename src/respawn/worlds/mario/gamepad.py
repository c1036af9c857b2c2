"""A drawing of the controller, with what is pressed lit up."""

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from respawn.worlds.mario.buttons import BUTTONS

_DRAWN_WIDTH, _DRAWN_HEIGHT, _SMOOTHING = 228, 96, 4
_BODY, _FACE, _UP, _LIT = (198, 200, 208), (38, 40, 48), (78, 82, 94), (255, 196, 61)
_RED, _RED_LIT = (168, 38, 46), (255, 92, 72)
_LABEL = (232, 96, 88)

_ARM, _REACH = 9, 26
_CROSS = (48, 50)
_PILLS = {"SELECT": (98, 58), "START": (131, 58)}
_ROUNDS = {"B": (170, 56), "A": (203, 56)}
_RADIUS = 13


@lru_cache(maxsize=256)
def draw_gamepad(held: int, width: int, background: tuple[int, int, int]) -> Image.Image:
    """The controller while the buttons of the byte `held` are down, `width` pixels wide."""
    picture = Image.new("RGB", (_DRAWN_WIDTH * _SMOOTHING, _DRAWN_HEIGHT * _SMOOTHING), background)
    draw = ImageDraw.Draw(picture)
    pressed = {name for name, bit in BUTTONS.items() if held & bit}
    draw.rounded_rectangle(_scaled(0, 0, _DRAWN_WIDTH - 1, _DRAWN_HEIGHT - 1), 7 * _SMOOTHING, fill=_BODY)
    draw.rounded_rectangle(_scaled(7, 15, _DRAWN_WIDTH - 8, _DRAWN_HEIGHT - 9), 4 * _SMOOTHING, fill=_FACE)
    _draw_cross(draw, pressed)
    for name, (x, y) in _PILLS.items():
        colour = _LIT if name in pressed else _UP
        draw.rounded_rectangle(_scaled(x - 12, y - 4, x + 12, y + 4), 4 * _SMOOTHING, fill=colour)
        _label(draw, x, y + 14, name, 7)
    for name, (x, y) in _ROUNDS.items():
        draw.rounded_rectangle(_scaled(x - 16, y - 16, x + 16, y + 16), 3 * _SMOOTHING, fill=_BODY)
        colour = _RED_LIT if name in pressed else _RED
        draw.ellipse(_scaled(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS), fill=colour)
        if name in pressed:
            draw.ellipse(_scaled(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS), outline=_LIT, width=10)
        _label(draw, x, y + 23, name, 9)
    return picture.resize((width, width * _DRAWN_HEIGHT // _DRAWN_WIDTH), Image.Resampling.LANCZOS)


def _draw_cross(draw: ImageDraw.ImageDraw, pressed: set[str]) -> None:
    x, y = _CROSS
    arms = {
        "LEFT": (x - _REACH, y - _ARM, x - _ARM, y + _ARM),
        "RIGHT": (x + _ARM, y - _ARM, x + _REACH, y + _ARM),
        "UP": (x - _ARM, y - _REACH, x + _ARM, y - _ARM),
        "DOWN": (x - _ARM, y + _ARM, x + _ARM, y + _REACH),
    }
    draw.rectangle(_scaled(x - _ARM, y - _ARM, x + _ARM, y + _ARM), fill=_UP)
    for name, box in arms.items():
        draw.rounded_rectangle(_scaled(*box), 2 * _SMOOTHING, fill=_LIT if name in pressed else _UP)
    draw.ellipse(_scaled(x - 5, y - 5, x + 5, y + 5), fill=_FACE)


def _label(draw: ImageDraw.ImageDraw, x: float, y: float, text: str, size: int) -> None:
    font = ImageFont.load_default(size * _SMOOTHING)
    draw.text((x * _SMOOTHING, y * _SMOOTHING), text, _LABEL, font, anchor="mm")


def _scaled(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
    return left * _SMOOTHING, top * _SMOOTHING, right * _SMOOTHING, bottom * _SMOOTHING
