// The picture chip: its registers and its time. It is not run; it catches up when somebody looks or writes.
//
// A time `at` means: every dot before it is done. Between two catch-ups nothing changed, so what happened meanwhile
// follows in closed form: the scroll address, the two sprite flags, and, if this frame is drawn, its pixels.
#pragma once

#include <cstdint>

#include "nes/machine.h"
#include "nes/types.h"

namespace nes {

enum Control : std::uint8_t {
    kDownwards = 0x04,       // $2007 steps by 32
    kSpritePatterns = 0x08,  // 8x8 sprites come from the second half
    kBackPatterns = 0x10,
    kTallSprites = 0x20,
    kNmiOn = 0x80,
};

enum Mask : std::uint8_t {
    kGreyscale = 0x01,
    kBackLeft = 0x02,
    kSpritesLeft = 0x04,
    kShowBack = 0x08,
    kShowSprites = 0x10,
    kRendering = kShowBack | kShowSprites,
};

enum Foreseen : std::uint8_t { kHitForeseen = 1, kOverflowForeseen = 2 };

enum PpuFlag : std::uint8_t { kOverflowed = 0x20, kSpriteZero = 0x40, kVblank = 0x80 };

constexpr std::uint8_t kAttributeBits = 0xE3;  // of a sprite's third byte; the others do not exist
constexpr std::uint16_t kScrollX = 0x041F;     // the bits of an address that each line takes anew from t

struct Ppu {
    Dot vblank_dot;            // when the current frame's vblank began: line 241, dot 1
    Dot line0_dot;             // line 0, dot 0 of the current frame
    Dot next_vblank;           // when the next begins
    Dot synced;                // everything before this dot is accounted for
    Dot hit_dot;               // foreseen: sprite 0 hits; kNever: not in this frame
    Dot overflow_dot;          // foreseen: a ninth sprite is found
    Dot data_read;             // when $2007 was last read
    std::uint16_t v;           // the address: of $2007, and while rendering of the next tile
    std::uint16_t t;           // what is copied to it
    std::uint16_t stream;      // the address that tile `stream_tile` of line `stream_line` is fetched with
    std::int16_t stream_line;  // -1: line 0 will begin with t
    std::uint8_t stream_tile;
    std::uint8_t fine_x;
    std::uint8_t second_write;  // $2005 and $2006 are written in pairs
    std::uint8_t control;
    std::uint8_t mask;
    std::uint8_t flags;         // PpuFlag
    std::uint8_t cleared;       // the flags' clearing at line 261 is done
    std::uint8_t foreseen;      // kHitForeseen: hit_dot holds; kOverflowForeseen: overflow_dot does
    std::uint8_t unset_vblank;  // $2002 was read just as the flag would have been set: it will not be
    std::uint8_t odd;           // this frame loses a dot if it is rendered
    std::uint8_t oam_address;
    std::uint8_t read_buffer;
    std::uint8_t bus;  // the last byte that went over the chip's pins
    std::uint8_t unused[3];
    std::uint8_t palette[32];
    std::uint8_t oam[256];
    std::uint8_t vram[2048];

    void power_on();
    void reset(Dot now);  // the picture begins anew, too

    bool rendering() const { return (mask & kRendering) != 0; }
    Dot prerender_dot() const { return vblank_dot - 1 + (kPrerenderLine - kVblankLine) * kDotsPerLine; }

    // Brings v, the flags and the picture to `at`, which is never past next_vblank.
    void catch_up(Dot at, const Machine& machine);

    // The vblank at next_vblank begins. Answers whether the flag was set.
    bool begin_vblank(const Machine& machine);

    // $2000-$2007, by the low three bits of the address.
    std::uint8_t read(int port, Dot at, const Machine& machine);
    void write(int port, std::uint8_t value, Dot at, const Machine& machine);

    // OAM is about to be rewritten from outside.
    void before_dma(Dot at, const Machine& machine) { before_change(at, machine, 0); }

    // The first dot after `at` with which $2002 reads otherwise, if it is only read.
    Dot flags_change(Dot at, const Machine& machine);

    // What lies at an address of the PPU's own memory, read without consequences.
    std::uint8_t peek(std::uint16_t address, const Machine& machine) const;

    // The address the given line begins with, if nothing else is written before.
    std::uint16_t line_address(int line) const;

    // Where a nametable address lies in vram.
    static int vram_index(std::uint16_t address, Mirroring mirroring) {
        const int page = mirroring == Mirroring::Vertical ? address & 0x400 : (address & 0x800) >> 1;
        return page | (address & 0x3FF);
    }

    static int palette_index(std::uint16_t address) { return address & ((address & 3) ? 0x1F : 0x0F); }

  private:
    struct Place {
        int line;  // -2: in vblank; -1: the pre-render line
        int dot;
    };

    struct Fetching {
        int line;  // whose tiles are being fetched; kVisibleLines: none
        int tile;  // the one in the making: those before it are there
        int done;  // how many of its eight dots
    };

    Place place_of(Dot at) const;
    Fetching fetching_at(Dot at) const;
    bool working_at(Dot at) const;
    void begin_at(Dot now);
    void set_lengths();
    void settle(Dot at, const Machine& machine);
    void before_change(Dot at, const Machine& machine, int keeps);  // `keeps`: what is foreseen nevertheless
    void advance(Dot at);
    void advance_line(int line, int from, int to);
    void restart_stream(Dot at);
    void draw_to(Dot at, const Machine& machine) const;
    void draw_fetched_tiles(Dot at, const Machine& machine) const;
    void draw_torn_tile(Dot at, std::uint16_t old_v, std::uint8_t old_control, const Machine& machine) const;
    Scene scene(const Machine& machine) const;
    Dot find_hit(Dot from, const Machine& machine) const;
    Dot find_overflow(Dot from) const;

    std::uint8_t read_status(Dot at, const Machine& machine);
    std::uint8_t read_data(Dot at, const Machine& machine);
    void write_control(std::uint8_t value, Dot at, const Machine& machine);
    void write_mask(std::uint8_t value, Dot at);
    void write_oam(std::uint8_t value, Dot at);
    void write_scroll(std::uint8_t value);
    void write_address(std::uint8_t value, Dot at, const Machine& machine);
    void write_data(std::uint8_t value, Dot at, const Machine& machine);
    void step_address(Dot at, const Machine& machine);
    void move_stream(std::uint16_t address, Dot at, const Machine& machine);
};

// -- arithmetic on scroll addresses

constexpr std::uint16_t next_tile(std::uint16_t v) {
    return static_cast<std::uint16_t>((v & 0x1F) == 0x1F ? (v & ~0x1F) ^ 0x400 : v + 1);
}

// The address `tiles` to the right, or to the left if negative.
constexpr std::uint16_t step_tiles(std::uint16_t v, int tiles) {
    const int column = ((v & 0x1F) | (v & 0x400) >> 5) + tiles;
    return static_cast<std::uint16_t>((v & ~kScrollX) | (column & 0x1F) | (column & 0x20) << 5);
}

// The address `lines` further down. Rows 30 and 31 hold attributes: whoever scrolls there wraps without changing page.
constexpr std::uint16_t step_lines(std::uint16_t v, int lines) {
    int y = (v >> 2 & 0xF8) | (v >> 12 & 7);
    int page = v >> 11 & 1;
    if (y >= 240 && y + lines >= 256) {
        lines -= 256 - y;
        y = 0;
    }
    y += lines;
    if (y >= 240 && y - lines < 240) {
        page ^= (y / 240) & 1;
        y %= 240;
    }
    return static_cast<std::uint16_t>((v & kScrollX) | (y & 7) << 12 | page << 11 | (y & 0xF8) << 2);
}

constexpr std::uint16_t with_scroll_x(std::uint16_t v, std::uint16_t t) {
    return static_cast<std::uint16_t>((v & ~kScrollX) | (t & kScrollX));
}

}  // namespace nes
