"""Where the engine and cynes still part, and why. A test that begins to pass must be struck from here."""

_FETCH = "what is fetched when drawing goes off and on again within a line"
_BRANCH = "a taken branch within its page looks for interrupts a cycle early, as on hardware; on cynes it does not"
_FRAME_FLAG = (
    "after a write to $4017 in an odd cycle, cynes raises the frame flag in two cycles running, hardware in three"
)
_SAMPLES = "the phase of the DMC's output unit at power-on, which no program can rely on"
_RESET = "the loop after the reset button ends a round apart from cynes' in the third frame"
_OAM = "reads of $2004 while drawing show the sprite evaluation at work"

OPEN_FACTS: dict[str, str] = {}

OPEN = {
    "dma_nmi": _BRANCH,
    "split_all_off": _FETCH,
    "split_all_off_by_dots": _FETCH,
    "frame_flag_odd": _FRAME_FLAG,
    "samples_fast": _SAMPLES,
    "sample_cost_fast": _SAMPLES,
    "sample_cost_slow": _SAMPLES,
    "reset_button": _RESET,
    "oam_read_while_drawing": _OAM,
}
