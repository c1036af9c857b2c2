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

// How many sprites are on each line.
class SpriteCount {
  public:
    SpriteCount(const std::uint8_t* oam, int height) : tall_(height == 16) {
        // Without a branch: which sprites are on the screen is hard to predict.
        for (int sprite = 0; sprite < 64; ++sprite) {
            tops_[sprites_] = oam[sprite * 4];
            sprites_ += oam[sprite * 4] < kVisibleLines;
        }
        for (int index = 0; index < sprites_; ++index) ++beginning_[16 + tops_[index]];
    }

    // The sprites on a line are those that begin there or on one of the lines before: eight counters, added up by one
    // multiplication.
    int on(int line) const { return eight_lines_to(line) + (tall_ ? eight_lines_to(line - 8) : 0); }

    // Whether any line has `many` of them. The fullest line is one at which some sprite begins.
    bool any_line_has(int many) const {
        if (sprites_ < many) return false;
        for (int index = 0; index < sprites_; ++index) {
            if (on(tops_[index]) >= many) return true;
        }
        return false;
    }

  private:
    bool tall_;
    int sprites_ = 0;
    std::uint8_t tops_[65];
    std::uint8_t beginning_[16 + 256] = {};  // by line, after sixteen that do not exist

    int eight_lines_to(int line) const {
        std::uint64_t counts;
        std::memcpy(&counts, beginning_ + 16 + line - 7, sizeof counts);
        return static_cast<int>(counts * 0x0101010101010101U >> 56);
    }
};

}  // namespace

// The first dot at which the search for a line's sprites believes to have found a ninth. After the eighth the chip
// looks at the wrong bytes: it moves on one byte too many with each sprite.
Dot Ppu::find_overflow(Dot from) const {
    if (flags & kOverflowed) return kNever;
    const int height = (control & kTallSprites) ? 16 : 8;
    const SpriteCount count(oam, height);
    if (!count.any_line_has(kSpritesALine)) return kNever;
    const auto in_range = [height](int line, int y) { return line >= y && line < y + height; };
    for (int line = place_of(from).line; line < kVisibleLines; ++line) {
        if (count.on(line) < kSpritesALine) continue;
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
