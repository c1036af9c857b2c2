"""Where the engine and cynes still part, and why. A test that begins to pass must be struck from here."""

_DMA = "OAM DMA: written in an even cycle it takes 513, in an odd one 514; the engine has it the other way round"
_SKIP = "rendering is sampled before a write that falls on dot 338 of the pre-render line"
_NMI_END = "NMI switched on in the very cycle in which the vblank flag falls is not raised"
_CLEARED = "sprite 0 and overflow are cleared at dot 0 of the pre-render line, one dot before vblank"
_ADDRESS = "the second write to $2006 reaches the address three dots later"
_TABLE = "tiles already fetched keep their pattern table when $2000 changes in mid-line"
_PRERENDER = "the horizontal bits are copied at dot 257 of the pre-render line, not with the vertical ones"
_OFF = "what is fetched while drawing goes off and on again within a line"
_FRAME_FLAG = "a read of $4015 in one of the three cycles that set the frame flag does not leave it cleared"
_SAMPLES = "the phase of the DMC's output unit, and when it reads its first byte"
_POLL = "an interrupt sequence does not look for interrupts: one instruction of the handler always runs"
_RESET = "the reset button restarts the PPU too"
_DOUBLE = "two reads of $2007 in two cycles running count as one"
_OAM = "reads of $2004 while drawing show the sprite evaluation at work"

OPEN_FACTS = {
    "dma_length": _DMA,
    "dma_even": _DMA,
    "dma_odd": _DMA,
    "skip_on_after_338_of_vblank_5": _SKIP,
    "skip_off_after_338_of_vblank_5": _SKIP,
    "nmi_on_end_race": _NMI_END,
    "double_reads": _DOUBLE,
}

OPEN = OPEN_FACTS | {
    "dma_nmi": _DMA,
    "dma_nmi_end": _DMA,
    **{
        f"sprite_zero_{name}": _CLEARED
        for name in (
            "full",
            "pixel",
            "flipped_x",
            "flipped_y",
            "clipped_background",
            "clipped_sprites",
            "clipped_both",
            "behind",
            "first_line",
            "last_line",
            "tall",
            "tall_flipped",
            "diagonals",
            "corner",
        )
    },
    "overflow_small": _DMA,
    "overflow_tall": _DMA,
    "overflow_background_only": _DMA,
    "data_read_while_drawing": _ADDRESS,
    "data_write_while_drawing": _ADDRESS,
    "oam_read_while_drawing": _OAM,
    "split_address": _ADDRESS,
    "split_address_by_dots": _ADDRESS,
    "split_address_and_scroll": _ADDRESS,
    "split_table": _TABLE,
    "split_table_by_dots": _TABLE,
    "split_first_line": _PRERENDER,
    "split_all_off": _OFF,
    "split_all_off_by_dots": _OFF,
    "backdrop": _ADDRESS,
    "colours": _ADDRESS,
    "lengths": _FRAME_FLAG,
    "frame_flag": _FRAME_FLAG,
    "frame_flag_odd": _FRAME_FLAG,
    "samples_fast": _SAMPLES,
    "samples_slow": _SAMPLES,
    "sample_cost_fast": _SAMPLES,
    "sample_cost_slow": _SAMPLES,
    "reset_button": _RESET,
    "brk_and_nmi": _POLL,
}
