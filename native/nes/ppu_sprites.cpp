// When the two sprite flags will be set, worked out instead of drawn.
#include <bit>
#include <cstring>

#include "nes/ppu.h"

namespace nes {

namespace {

constexpr int kSpritesALine = 8;
constexpr int kEvaluationDot = 65;  // sprites of the next line are looked for from this dot on
constexpr int kPixelDot = 1;        // pixel x comes out with dot x + 1

std::uint8_t reversed(std::uint8_t bits) {
    bits = static_cast<std::uint8_t>((bits & 0xF0) >> 4 | (bits & 0x0F) << 4);
    bits = static_cast<std::uint8_t>((bits & 0xCC) >> 2 | (bits & 0x33) << 2);
    return static_cast<std::uint8_t>((bits & 0xAA) >> 1 | (bits & 0x55) << 1);
}

}  // namespace

// The first pixel at which an opaque pixel of sprite 0 meets one of the background.
Dot Ppu::find_hit(Dot from, const Machine& machine) const {
    if ((mask & kRendering) != kRendering || (flags & kSpriteZero)) return kNever;
    const std::uint8_t* patterns = machine.patterns();
    const int height = (control & kTallSprites) ? 16 : 8;
    const int top = oam[0] + 1;
    const int left = oam[3];
    const Place begin = place_of(from);
    const bool clipped = (mask & (kBackLeft | kSpritesLeft)) != (kBackLeft | kSpritesLeft);
    const int back_half = (control & kBackPatterns) ? 0x1000 : 0;

    for (int row = 0; row < height; ++row) {
        const int line = top + row;
        if (line < begin.line) continue;
        if (line >= kVisibleLines) break;
        const int sprite_row = (oam[2] & 0x80) ? height - 1 - row : row;
        int tile = oam[1];
        int half = (control & kSpritePatterns) ? 0x1000 : 0;
        if (height == 16) {
            half = (tile & 1) ? 0x1000 : 0;
            tile = (tile & 0xFE) | sprite_row >> 3;
        }
        const int at = half + tile * 16 + (sprite_row & 7);
        auto sprite = static_cast<std::uint8_t>(patterns[at] | patterns[at + 8]);
        if (oam[2] & 0x40) sprite = reversed(sprite);
        if (sprite == 0) continue;

        const std::uint16_t address = line_address(line);
        const int fine_y = address >> 12;
        const auto opaque = [&](int column) {
            const std::uint16_t cell = step_tiles(address, column);
            const int name = vram[vram_index(cell & 0xFFF, machine.cartridge->mirroring)];
            const int pattern = back_half + name * 16 + fine_y;
            return patterns[pattern] | patterns[pattern + 8];
        };
        const int position = left + fine_x;
        const int pair = opaque(position >> 3) << 8 | opaque((position >> 3) + 1);
        auto both = static_cast<std::uint8_t>(sprite & (pair >> (8 - (position & 7))));
        // Bit 7 is the leftmost pixel. What is clipped, past the edge or already passed cannot hit.
        int first = 0;
        if (clipped && left < 8) first = 8 - left;
        if (line == begin.line && begin.dot - kPixelDot > left + first) first = begin.dot - kPixelDot - left;
        if (first >= 8) continue;
        both &= static_cast<std::uint8_t>(0xFF >> first);
        if (left + 7 >= 255) both &= static_cast<std::uint8_t>(0xFF << (left + 7 - 254));
        if (both == 0) continue;
        const int x = left + std::countl_zero(both);
        return line0_dot + Dot{line} * kDotsPerLine + x + kPixelDot;
    }
    return kNever;
}

namespace {

// Whether any line has eight sprites or more. The fullest line is one at which some sprite begins, and the sprites on
// it are those that begin there or on one of the lines before: eight counters, added up by one multiplication.
bool any_full_line(const std::uint8_t* oam, int height) {
    std::uint8_t beginning[16 + 256] = {};  // by line, after sixteen that do not exist
    std::uint8_t tops[64];
    int count = 0;
    for (int sprite = 0; sprite < 64; ++sprite) {
        const std::uint8_t top = oam[sprite * 4];
        if (top >= kVisibleLines) continue;
        tops[count++] = top;
        ++beginning[16 + top];
    }
    if (count < kSpritesALine) return false;
    const auto eight_lines_to = [&beginning](int line) {
        std::uint64_t counts;
        std::memcpy(&counts, beginning + 16 + line - 7, sizeof counts);
        return counts * 0x0101010101010101U >> 56;
    };
    for (int index = 0; index < count; ++index) {
        std::uint64_t together = eight_lines_to(tops[index]);
        if (height == 16) together += eight_lines_to(tops[index] - 8);
        if (together >= kSpritesALine) return true;
    }
    return false;
}

}  // namespace

// The first dot at which the search for a line's sprites believes to have found a ninth. After the eighth the chip
// looks at the wrong bytes: it moves on one byte too many with each sprite.
Dot Ppu::find_overflow(Dot from) const {
    const int height = (control & kTallSprites) ? 16 : 8;
    if ((flags & kOverflowed) || !any_full_line(oam, height)) return kNever;
    const auto in_range = [height](int line, int y) { return line >= y && line < y + height; };
    const Place begin = place_of(from);
    for (int line = begin.line; line < kVisibleLines; ++line) {
        int dot = kEvaluationDot;
        int sprite = 0;
        for (int found = 0; sprite < 64 && found < kSpritesALine; ++sprite) {
            const bool hit = in_range(line, oam[sprite * 4]);
            found += hit;
            dot += hit ? 8 : 2;
        }
        for (int byte = 0; sprite < 64; ++sprite, byte = (byte + 1) & 3, dot += 2) {
            const int value = oam[sprite * 4 + byte] & (byte == 2 ? kAttributeBits : 0xFF);
            if (!in_range(line, value)) continue;
            const Dot at = line0_dot + Dot{line} * kDotsPerLine + dot + 1;
            if (at >= from) return at;
            break;
        }
    }
    return kNever;
}

}  // namespace nes
