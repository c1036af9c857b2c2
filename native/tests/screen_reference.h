// The slow, obvious version of everything the screen draws: a pixel at a time, as the hardware is described.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nes/picture.h"

namespace reference {

inline int tile_pixel(const std::uint8_t* chr, int tile, int row, int x) {
    const int low = chr[16 * tile + row] >> (7 - x) & 1;
    const int high = chr[16 * tile + row + 8] >> (7 - x) & 1;
    return high * 2 + low;
}

// The y increment of the PPU, as the wiki of the NES developers gives it.
inline std::uint16_t next_line(std::uint16_t v) {
    if ((v & 0x7000) != 0x7000) return v + 0x1000;
    v &= ~0x7000;
    int y = (v & 0x03E0) >> 5;
    if (y == 29) {
        y = 0;
        v ^= 0x0800;
    } else if (y == 31) {
        y = 0;
    } else {
        ++y;
    }
    return static_cast<std::uint16_t>((v & ~0x03E0) | y << 5);
}

inline std::uint16_t next_tile(std::uint16_t v) {
    if ((v & 0x001F) != 31) return v + 1;
    return static_cast<std::uint16_t>((v & ~0x001F) ^ 0x0400);
}

inline std::uint16_t previous_tile(std::uint16_t v) {
    if ((v & 0x001F) != 0) return v - 1;
    return static_cast<std::uint16_t>((v | 0x001F) ^ 0x0400);
}

// The palette entry of the background, 0 if transparent.
inline int background_entry(const nes::Scene& scene, const std::uint8_t* chr, std::uint16_t v, int x, int first_tile) {
    if ((scene.mask & 8) == 0 || (x < 8 && (scene.mask & 2) == 0)) return 0;
    const int stream = x + scene.fine_x;
    for (int i = first_tile; i < stream / 8; ++i) v = next_tile(v);
    for (int i = first_tile; i > stream / 8; --i) v = previous_tile(v);
    const std::uint8_t* page = scene.nametables[v >> 10 & 3];
    const int tile = page[v & 0x03FF] + (scene.control & 0x10 ? 256 : 0);
    const int attribute = page[0x03C0 | (v >> 4 & 0x38) | (v >> 2 & 7)];
    const int palette = attribute >> ((v >> 4 & 4) | (v & 2)) & 3;
    const int pixel = tile_pixel(chr, tile, v >> 12 & 7, stream % 8);
    return pixel == 0 ? 0 : palette * 4 + pixel;
}

struct SpritePixel {
    int entry = 0;  // 0 if there is none
    bool behind = false;
};

inline SpritePixel sprite_pixel(const nes::Scene& scene, const std::uint8_t* chr, int line, int x) {
    if ((scene.mask & 16) == 0 || (x < 8 && (scene.mask & 4) == 0)) return {};
    const int height = scene.control & 0x20 ? 16 : 8;
    int found = 0;
    for (int i = 0; i < 64 && found < 8; ++i) {
        const std::uint8_t* sprite = scene.oam + 4 * i;
        int row = line - (sprite[0] + 1);
        if (row < 0 || row >= height) continue;
        ++found;
        int column = x - sprite[3];
        if (column < 0 || column >= 8) continue;
        if (sprite[2] & 0x80) row = height - 1 - row;
        if (sprite[2] & 0x40) column = 7 - column;
        int tile = sprite[1] + (scene.control & 0x08 ? 256 : 0);
        if (height == 16) tile = (sprite[1] & 1) * 256 + (sprite[1] & 0xFE) + row / 8;
        const int pixel = tile_pixel(chr, tile, row % 8, column);
        if (pixel == 0) continue;
        return {16 + (sprite[2] & 3) * 4 + pixel, (sprite[2] & 0x20) != 0};
    }
    return {};
}

inline void draw_pixel(const nes::Scene& scene, const std::uint8_t* chr, std::uint16_t v, int line, int x,
                       int first_tile, nes::Picture& picture) {
    int entry = 0;
    if ((scene.mask & 0x18) == 0) {
        if (scene.address >= 0x3F00 && scene.address <= 0x3FFF) entry = scene.address & 0x1F;
    } else {
        entry = background_entry(scene, chr, v, x, first_tile);
        const SpritePixel sprite = sprite_pixel(scene, chr, line, x);
        if (sprite.entry != 0 && !(sprite.behind && entry != 0)) entry = sprite.entry;
    }
    int colour = scene.palette[entry] & 0x3F;
    if (scene.mask & 1) colour &= 0x30;
    picture.pixels[256 * line + x] = picture.shades[colour];
    picture.emphasis[line] = scene.mask >> 5;
}

inline void draw_lines(const nes::Scene& scene, const std::uint8_t* chr, std::uint16_t scroll, int first, int last,
                       nes::Picture& picture) {
    std::uint16_t v = scene.address;
    for (int line = first; line < last; ++line) {
        for (int x = 0; x < 256; ++x) draw_pixel(scene, chr, v, line, x, 0, picture);
        v = static_cast<std::uint16_t>((next_line(v) & ~0x041F) | (scroll & 0x041F));
    }
}

// The area average as fractions: a source pixel is `size` units wide and a destination pixel 256 (or 240).
inline std::vector<std::uint8_t> resized(const std::uint8_t* pixels, const std::uint8_t* other, int height, int width) {
    std::vector<std::uint8_t> out;
    const auto overlap = [](long begin, long end, long from, long to) {
        return std::max(0L, std::min(end, to) - std::max(begin, from));
    };
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            std::int64_t sum = 0;
            for (int sy = y * 240 / height; sy < 240 && sy * height < (y + 1) * 240; ++sy) {
                for (int sx = x * 256 / width; sx < 256 && sx * width < (x + 1) * 256; ++sx) {
                    const int at = 256 * sy + sx;
                    const int grey = other == nullptr ? pixels[at] : std::max(pixels[at], other[at]);
                    sum += grey * overlap(x * 256L, (x + 1) * 256L, 1L * sx * width, (sx + 1L) * width) *
                           overlap(y * 240L, (y + 1) * 240L, 1L * sy * height, (sy + 1L) * height);
                }
            }
            const std::int64_t total = 256 * 240;
            out.push_back(static_cast<std::uint8_t>((2 * sum + total) / (2 * total)));
        }
    }
    return out;
}

}  // namespace reference
