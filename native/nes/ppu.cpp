#include "nes/ppu.h"

#include <algorithm>

namespace nes {

namespace {

constexpr Dot kFrameDots = Dot{kLines} * kDotsPerLine;
constexpr int kLastPixelDot = 256;  // pixel x comes out with dot x + 1
constexpr int kCopyXDot = 257;
constexpr int kCopyYDot = 304;  // the last of the dots 280 to 304 that copy
// Dots of a tile's eight after which each part of it is there.
constexpr int kNameFetched = 1;
constexpr int kAttributesFetched = 3;
constexpr int kLowFetched = 5;
constexpr int kHighFetched = 7;
constexpr Dot kVisibleDots = Dot{kVisibleLines} * kDotsPerLine;

}  // namespace

void Ppu::power_on() {
    *this = Ppu{};
    flags = kVblank | kOverflowed;
    begin_at(0);
}

void Ppu::reset(Dot now) {
    control = mask = second_write = fine_x = read_buffer = 0;
    t = 0;
    begin_at(now);
}

// Line 0, dot 0: as if the vblank before had begun in time.
void Ppu::begin_at(Dot now) {
    vblank_dot = now - ((kLines - kVblankLine) * kDotsPerLine - 1);
    odd = unset_vblank = foreseen = 0;
    cleared = 1;
    stream_line = 0;
    stream_tile = 0;
    stream = v;
    synced = now;
    set_lengths();
}

// -- time

void Ppu::set_lengths() {
    const Dot lost = odd && rendering() ? 1 : 0;
    line0_dot = vblank_dot - 1 + (kLines - kVblankLine) * kDotsPerLine - lost;
    next_vblank = vblank_dot + kFrameDots - lost;
}

Ppu::Place Ppu::place_of(Dot at) const {
    if (at >= line0_dot) {
        const auto since = static_cast<std::uint32_t>(at - line0_dot);
        return {static_cast<int>(since / kDotsPerLine), static_cast<int>(since % kDotsPerLine)};
    }
    const Dot since = at - prerender_dot();
    return since > 0 ? Place{-1, static_cast<int>(since)} : Place{-2, 0};
}

bool Ppu::working_at(Dot at) const { return rendering() && at > prerender_dot() && at <= line0_dot + kVisibleDots; }

void Ppu::catch_up(Dot at, const Machine& machine) {
    if (at <= synced) return;
    settle(at, machine);
    if (machine.drawing) draw_to(at, machine);
    if (rendering()) advance(at);
    synced = at;
}

bool Ppu::begin_vblank(const Machine& machine) {
    catch_up(next_vblank, machine);
    const bool sets = !unset_vblank;
    if (sets) flags |= kVblank;
    unset_vblank = 0;
    cleared = 0;
    foreseen = 0;
    stream_line = -1;
    vblank_dot = next_vblank;
    odd ^= 1;
    set_lengths();
    return sets;
}

void Ppu::before_change(Dot at, const Machine& machine, int keeps) {
    if (at > prerender_dot()) catch_up(at, machine);
    foreseen &= static_cast<std::uint8_t>(keeps);
}

// -- the flags

void Ppu::settle(Dot at, const Machine& machine) {
    if (!cleared && at > prerender_dot()) {
        // The sprite flags fall with dot 0 of line 261, the vblank flag with dot 1.
        flags &= kVblank;
        if (at > prerender_dot() + 1) {
            flags = 0;
            cleared = 1;
        }
    }
    constexpr std::uint8_t kBoth = kSpriteZero | kOverflowed;
    if (!cleared || !rendering() || (flags & kBoth) == kBoth || at <= line0_dot) return;
    const Dot from = std::max(synced, line0_dot);
    if (!(foreseen & kHitForeseen)) hit_dot = find_hit(from, machine);
    if (!(foreseen & kOverflowForeseen)) overflow_dot = find_overflow(from);
    foreseen = kHitForeseen | kOverflowForeseen;
    if (hit_dot < at) flags |= kSpriteZero;
    if (overflow_dot < at) flags |= kOverflowed;
}

Dot Ppu::flags_change(Dot at, const Machine& machine) {
    settle(at, machine);
    if (!cleared) return flags ? prerender_dot() : std::min(line0_dot, next_vblank - 1);
    Dot change = next_vblank - 1;  // a read at the dot before already has its consequences
    if (at <= line0_dot) return std::min(change, line0_dot);
    if (rendering() && foreseen) {
        if (!(flags & kSpriteZero)) change = std::min(change, hit_dot);
        if (!(flags & kOverflowed)) change = std::min(change, overflow_dot);
    }
    return change;
}

// -- the address while rendering

std::uint16_t Ppu::line_address(int line) const {
    if (stream_line < 0) {
        // Line 0 has its columns already from dot 257 of the pre-render line on.
        const bool copied = line == 0 && synced > prerender_dot() + kCopyXDot;
        return with_scroll_x(step_lines(t, line), copied ? v : t);
    }
    const int further = line - stream_line;
    if (further <= 0) return step_tiles(stream, -stream_tile);
    return with_scroll_x(step_lines(stream, further), t);
}

void Ppu::advance(Dot at) {
    Place from = place_of(std::max(synced, prerender_dot() + 1));
    const Place to = place_of(std::min(at, line0_dot + kVisibleDots));
    if (to.line < -1) return;
    if (working_at(at)) oam_address = 0;
    if (from.line == to.line) {
        advance_line(from.line, from.dot, to.dot);
        return;
    }
    if (from.line < to.line) {
        advance_line(from.line, from.dot, kDotsPerLine);
        ++from.line;
    }
    if (const int whole = to.line - from.line; whole > 0) {
        v = with_scroll_x(step_lines(v, whole), t);
        stream = v;
        stream_line = static_cast<std::int16_t>(to.line);
        stream_tile = 0;
        v = step_tiles(v, 2);
    }
    advance_line(to.line, 0, to.dot);
}

// What dots from..to-1 of a line do to v.
void Ppu::advance_line(int line, int from, int to) {
    const auto passes = [from, to](int dot) { return from <= dot && dot < to; };
    const auto tiles_until = [](int dot) { return std::clamp((dot - 1) / 8, 0, 32); };
    if (line >= kVisibleLines || from >= to) return;
    v = step_tiles(v, tiles_until(std::min(to, kCopyXDot)) - tiles_until(std::min(from, kCopyXDot)));
    if (passes(kLastPixelDot)) v = step_lines(v, 1);
    if (passes(kCopyXDot)) {
        v = with_scroll_x(v, t);
        if (line >= 0) {
            stream = v;
            stream_line = static_cast<std::int16_t>(line + 1);
            stream_tile = 0;
        }
    }
    if (line < 0 && passes(kCopyYDot)) {
        v = static_cast<std::uint16_t>((v & kScrollX) | (t & ~kScrollX));
        stream = v;
        stream_line = 0;
        stream_tile = 0;
    }
    if (passes(328)) v = next_tile(v);
    if (passes(336)) v = next_tile(v);
}

// v was set while rendering, or rendering was switched on: what is fetched from here on follows from v.
void Ppu::restart_stream(Dot at) {
    const Place place = place_of(at);
    if (place.line < 0 && place.dot <= kCopyYDot) {
        stream_line = -1;
        return;
    }
    stream = v;
    if (place.dot <= kLastPixelDot && place.line >= 0) {
        stream_line = static_cast<std::int16_t>(place.line);
        stream_tile = static_cast<std::uint8_t>(2 + std::max(place.dot - 1, 0) / 8);
    } else {
        stream_line = static_cast<std::int16_t>(place.line + 1);
        stream_tile = static_cast<std::uint8_t>((place.dot > 328) + (place.dot > 336));
    }
}

// -- the picture

Scene Ppu::scene(const Machine& machine) const {
    Scene scene{};
    scene.tiles = machine.cartridge->tiles.data();
    if (machine.pattern_ram) {
        Drawing& drawing = *machine.drawing;
        if (!drawing.decoded) decode_tiles(machine.pattern_ram, drawing.tiles);
        drawing.decoded = true;
        scene.tiles = drawing.tiles;
    }
    for (int page = 0; page < 4; ++page) {
        scene.nametables[page] =
            vram + vram_index(static_cast<std::uint16_t>(page * 0x400), machine.cartridge->mirroring);
    }
    scene.oam = oam;
    scene.palette = palette;
    scene.control = control;
    scene.mask = mask;
    scene.fine_x = fine_x;
    return scene;
}

void Ppu::draw_to(Dot at, const Machine& machine) const {
    Drawing& drawing = *machine.drawing;
    if (at <= line0_dot || drawing.line >= kVisibleLines) return;
    const Place place = place_of(at);
    int last_line = std::min(place.line, kVisibleLines);
    int last_x = place.line >= kVisibleLines ? 0 : std::clamp(place.dot - 1, 0, kScreenWidth);
    if (last_x == kScreenWidth) {
        ++last_line;
        last_x = 0;
    }
    Scene scene = this->scene(machine);
    const auto address_of = [this](int line) { return rendering() ? line_address(line) : v; };
    const auto span = [&](int to_x) {
        if (drawing.x >= to_x) return;
        scene.address = address_of(drawing.line);
        draw_span(scene, drawing.line, drawing.x, to_x, 0, *drawing.picture);
        drawing.x = to_x;
    };
    if (drawing.line < last_line && drawing.x > 0) {
        span(kScreenWidth);
        ++drawing.line;
        drawing.x = 0;
    }
    // A line whose tiles do not begin at its left edge is drawn by itself.
    if (drawing.line < last_line && stream_line == drawing.line && stream_tile > 0 && rendering()) {
        span(kScreenWidth);
        ++drawing.line;
        drawing.x = 0;
    }
    if (drawing.line < last_line) {
        scene.address = address_of(drawing.line);
        draw_lines(scene, t, drawing.line, last_line, *drawing.picture);
        drawing.line = last_line;
        drawing.x = 0;
    }
    if (drawing.line == last_line && last_x > 0) span(last_x);
}

// The first two tiles of a line are fetched at the end of the line before.
Ppu::Fetching Ppu::fetching_at(Dot at) const {
    constexpr Fetching kNone = {kVisibleLines, 0, 0};
    constexpr int kFirstTilesDot = 321;
    if (!working_at(at)) return kNone;
    const Place place = place_of(at);
    if (place.dot >= kFirstTilesDot) {
        const int dots = std::min(place.dot - kFirstTilesDot, 16);
        return {place.line + 1, dots >> 3, dots & 7};
    }
    if (place.line < 0 || place.dot > kLastPixelDot) return kNone;
    const int dots = std::max(place.dot - 1, 0);
    return {place.line, 2 + (dots >> 3), dots & 7};
}

// Tiles that are fetched already stay as they are when something changes under them.
void Ppu::draw_fetched_tiles(Dot at, const Machine& machine) const {
    if (!machine.drawing) return;
    const Fetching fetching = fetching_at(at);
    if (fetching.line >= kVisibleLines) return;
    const int x = std::min(8 * fetching.tile - fine_x, kScreenWidth);
    const Dot drawn = line0_dot + Dot{fetching.line} * kDotsPerLine + x + 1;
    if (x > 0 && drawn > at) draw_to(drawn, machine);
}

// A tile takes eight dots: two each for its name, its attributes, and the two halves of its pattern. When something
// changes in between, the first of these are of the old address and table, the others of the new.
void Ppu::draw_torn_tile(Dot at, std::uint16_t old_v, std::uint8_t old_control, const Machine& machine) const {
    if (!machine.drawing) return;
    Drawing& drawing = *machine.drawing;
    const auto [line, tile, done] = fetching_at(at);
    const int left = std::max(8 * tile - fine_x, 0);
    const int right = std::min(8 * tile - fine_x + 8, kScreenWidth);
    if (line >= kVisibleLines || done == 0 || left >= right || drawing.line != line || drawing.x != left) return;

    const auto address = [&, done = done](int fetched) { return done >= fetched ? old_v : v; };
    const auto table = [&, done = done](int fetched) {
        return ((done >= fetched ? old_control : control) & kBackPatterns) ? 0x1000 : 0;
    };
    const auto mirroring = machine.cartridge->mirroring;
    const int name = vram[vram_index(address(kNameFetched) & 0xFFF, mirroring)];
    const std::uint16_t at_cell = address(kAttributesFetched);
    const int group = (at_cell & 0xC00) | 0x3C0 | (at_cell >> 4 & 0x38) | (at_cell >> 2 & 7);
    const int attributes = vram[vram_index(static_cast<std::uint16_t>(group), mirroring)];
    const int entry = attributes >> ((at_cell >> 4 & 4) | (at_cell & 2)) << 2 & 0x0C;
    const std::uint8_t* patterns = machine.patterns();
    const int low = patterns[table(kLowFetched) + name * 16 + (address(kLowFetched) >> 12)];
    const int high = patterns[table(kHighFetched) + name * 16 + 8 + (address(kHighFetched) >> 12)];
    std::uint8_t pixels[8];
    for (int bit = 0; bit < 8; ++bit) {
        const int value = (low >> (7 - bit) & 1) | (high >> (7 - bit) & 1) << 1;
        pixels[bit] = static_cast<std::uint8_t>(value ? entry | value : 0);
    }
    Scene torn = scene(machine);
    torn.address = v;
    torn.torn = pixels;
    torn.torn_tile = tile;
    draw_span(torn, line, left, right, tile, *drawing.picture);
    drawing.x = right;
    if (right == kScreenWidth) {
        drawing.x = 0;
        ++drawing.line;
    }
}

}  // namespace nes
