// The background of up to eight lines that lie in one row of tiles: the unit in which the fast paths draw.
#pragma once

#include <cstdint>
#include <cstring>

#include "nes/picture.h"
#include "nes/types.h"

namespace nes {

// Four colours of a background palette, one byte each; the four palettes in a row.
using BackgroundColours = std::uint8_t[16];

// Tile numbers and palettes of the row as they follow each other on the screen: the page on the left, the one on its
// right, and the left one again, since the screen may start anywhere.
struct TileStrip {
    const std::uint8_t* tiles;              // the 256 tiles of the pattern table, 64 bytes each
    const std::uint8_t* colours;            // BackgroundColours
    int start;                              // 0..511: the pixel of the first page at which the screen starts
    alignas(64) std::uint8_t names[96];     // tile numbers
    alignas(16) std::uint8_t palettes[48];  // 0..3 for every two tiles
    std::uint8_t* out;                      // eight lines, kScreenWidth apart

    int first_cell() const { return start >> 4; }  // a cell is two tiles that share a palette
    int offset() const { return start & 15; }      // pixels of the first cell to the left of the screen
};

constexpr int kCellPixels = 16;
constexpr int kStripCells = 17;  // 256 pixels and the cell that is cut by both edges
constexpr int kStripStride = 320;

// A strip drawn from the left edge of its first cell on, for the paths that shift while copying.
struct StripPixels {
    alignas(64) std::uint8_t lines[8][kStripStride];

    void copy_to(const TileStrip& strip) const {
        for (int line = 0; line < 8; ++line) {
            std::memcpy(strip.out + kScreenWidth * line, lines[line] + strip.offset(), kScreenWidth);
        }
    }
};

void draw_strip_plain(const TileStrip& strip);
void draw_strip_avx2(const TileStrip& strip);
void draw_strip_avx512(const TileStrip& strip);
void draw_strip_neon(const TileStrip& strip);

}  // namespace nes
