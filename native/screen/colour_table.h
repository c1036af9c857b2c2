// The colours of each emphasis, laid out for the ways of writing RGB. Internal to screen/.
#pragma once

#include <cstdint>

#include "nes/palette.h"

namespace screen {

constexpr int kEmphases = 8;

struct ColourTable {
    alignas(64) std::uint8_t pixels[nes::kColours][4];  // red, green, blue, 0
    alignas(64) std::uint8_t planes[3][nes::kColours];  // all reds, all greens, all blues
};

extern const ColourTable kColourTables[kEmphases];

// 256 pixels of 0..63 to RGB; with `other`, the larger of each channel.
void write_rgb_line_plain(const ColourTable& table, const std::uint8_t* pixels, std::uint8_t* out);
void write_rgb_line_avx512(const ColourTable& table, const std::uint8_t* pixels, const ColourTable* other_table,
                           const std::uint8_t* other, std::uint8_t* out);

}  // namespace screen
