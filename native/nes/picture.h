// Drawing: lines of pixels from what the PPU holds at that moment. Nothing here changes a console.
#pragma once

#include <array>
#include <cstdint>

#include "nes/types.h"

namespace nes {

// A tile is 64 bytes, one a pixel, each 0..3: decoded once per cartridge, so that a row is one eight-byte load.
using TilePixels = std::array<std::uint8_t, 64>;

constexpr int kTiles = 512;

// Decodes 8 KiB of CHR (two bit planes a tile) into 512 tiles of bytes.
void decode_tiles(const std::uint8_t* chr, TilePixels* tiles);

// What a band of lines is drawn from.
struct Scene {
    const TilePixels* tiles;            // kTiles of them
    const std::uint8_t* nametables[4];  // 1 KiB pages at $2000, $2400, $2800, $2C00, mirroring resolved
    const std::uint8_t* oam;            // 256 bytes
    const std::uint8_t* palette;        // 32 bytes as written to $3F00-$3F1F, mirrors already folded
    std::uint8_t control;               // $2000
    std::uint8_t mask;                  // $2001
    std::uint8_t fine_x;
    std::uint16_t address;  // v as it stands when the first tile of the line is fetched (coarse x already from t)
    const std::uint8_t* torn = nullptr;  // eight palette entries in place of tile `torn_tile` of a span; null: none
    int torn_tile = 0;
};

// One frame being drawn. A byte a pixel: the colour (0..63, greyscale bit applied) passed through `shades`.
// `shades` is the identity for indices and RGB, and colour -> luma for grey.
struct Picture {
    static constexpr int kStride = kScreenWidth;
    alignas(64) std::array<std::uint8_t, kScreenHeight * kStride> pixels;
    std::array<std::uint8_t, kScreenHeight> emphasis;  // the three emphasis bits ($2001 >> 5) of each line
    alignas(64) std::array<std::uint8_t, 64> shades;
};

// Draws whole lines first..last-1. The scene's address belongs to `first`; further lines follow from it
// (y increments after each line; the coarse x of each next line is taken from `scroll`, the PPU's t).
void draw_lines(const Scene& scene, std::uint16_t scroll, int first, int last, Picture& picture);

// Draws pixels x0..x1-1 of one line: for lines in which something changes half way. The pixel at x shows
// stream position x + fine_x, where the stream is the tiles from scene.address on; `first_tile` says which tile of
// the line scene.address belongs to (0 for an undisturbed line).
void draw_span(const Scene& scene, int line, int x0, int x1, int first_tile, Picture& picture);

}  // namespace nes
