#include "nes/picture.h"

#include <algorithm>
#include <cstring>

#include "nes/picture_background.h"
#include "nes/picture_layers.h"
#include "nes/picture_swar.h"
#include "screen/simd.h"

namespace nes {
namespace {

using DrawStrip = void (*)(const TileStrip&);

DrawStrip strip_drawer() {
    switch (screen::current_path()) {
#if defined(__x86_64__)
        case screen::SimdPath::avx512:
            return draw_strip_avx512;
        case screen::SimdPath::avx2:
            return draw_strip_avx2;
#elif defined(__aarch64__)
        case screen::SimdPath::neon:
            return draw_strip_neon;
#endif
        default:
            return draw_strip_plain;
    }
}

// Four attribute bytes to eight palettes: two bits for every two tiles.
std::uint64_t spread_palettes(std::uint32_t attributes, int shift) {
    std::uint64_t wide = attributes >> shift & 0x0F0F0F0F;
    wide = (wide | wide << 16) & 0x0000FFFF0000FFFF;
    wide = (wide | wide << 8) & 0x00FF00FF00FF00FF;
    return (wide | wide << 6) & 0x0303030303030303;
}

// Fills in what depends on the row of tiles. Nothing is read back that was just written, which would stall.
void lay_out(const Scene& scene, std::uint16_t address, TileStrip& strip) {
    const int coarse_y = address >> 5 & 31;
    const int shift = (coarse_y & 2) * 2;
    for (int side = 0; side < 2; ++side) {
        const std::uint8_t* page = scene.nametables[(address >> 10 & 2) | side];
        const std::uint8_t* names = page + 32 * coarse_y;
        std::uint32_t attributes[2];
        std::memcpy(attributes, page + 0x3C0 + 8 * (coarse_y >> 2), 8);
        const std::uint64_t left = spread_palettes(attributes[0], shift);
        const std::uint64_t right = spread_palettes(attributes[1], shift);
        for (int copy = side; copy < 3; copy += 2) {
            std::memcpy(strip.names + 32 * copy, names, 32);
            store_pixels(strip.palettes + 16 * copy, left);
            store_pixels(strip.palettes + 16 * copy + 8, right);
        }
    }
    strip.start = ((address >> 10 & 1) * 32 + (address & 31)) * 8 + scene.fine_x;
}

void draw_background(const Scene& scene, std::uint16_t scroll, int first, int last, const Colours& colours,
                     Picture& picture) {
    const DrawStrip draw_strip = strip_drawer();
    TileStrip strip;
    strip.tiles = scene.tiles[scene.control & control_bit::kBackgroundTable ? 256 : 0].data();
    strip.colours = colours.data();
    // Only the first line may start at another column than the scroll says.
    int most = (scene.address ^ scroll) & kHorizontalBits ? 1 : 8;
    for (int line = first; line < last; most = 8) {
        const std::uint16_t address = address_of_line(scene, scroll, line - first);
        const int fine_y = address >> 12 & 7;
        const int count = std::min({8 - fine_y, last - line, most});
        std::uint8_t* out = &picture.pixels[line * Picture::kStride];
        lay_out(scene, address, strip);
        if (count == 8) {
            strip.out = out;
            draw_strip(strip);
        } else {
            alignas(64) std::uint8_t whole[8 * kScreenWidth];
            strip.out = whole;
            draw_strip(strip);
            std::memcpy(out, whole + fine_y * kScreenWidth, count * kScreenWidth);
        }
        line += count;
    }
}

void fill_lines(int first, int last, std::uint8_t colour, Picture& picture) {
    std::memset(&picture.pixels[first * Picture::kStride], colour, (last - first) * Picture::kStride);
}

}  // namespace

void decode_tiles(const std::uint8_t* chr, TilePixels* tiles) {
    for (int tile = 0; tile < kTiles; ++tile) {
        for (int row = 0; row < 8; ++row) {
            const int low = chr[16 * tile + row];
            const int high = chr[16 * tile + row + 8];
            for (int x = 0; x < 8; ++x) {
                const int bit = 7 - x;
                tiles[tile][8 * row + x] = static_cast<std::uint8_t>((low >> bit & 1) | (high >> bit & 1) << 1);
            }
        }
    }
}

void draw_lines(const Scene& scene, std::uint16_t scroll, int first, int last, Picture& picture) {
    if (first >= last) return;
    std::memset(&picture.emphasis[first], scene.mask >> 5, last - first);
    if ((scene.mask & mask_bit::kRendering) == 0) {
        fill_lines(first, last, resting_colour(scene, picture), picture);
        return;
    }
    const Colours colours = shaded_palette(scene, picture);
    if (scene.mask & mask_bit::kBackground) {
        draw_background(scene, scroll, first, last, colours, picture);
        if ((scene.mask & mask_bit::kBackgroundLeft) == 0) {
            for (int line = first; line < last; ++line) {
                store_pixels(&picture.pixels[line * Picture::kStride], colours[0] * kEachByte);
            }
        }
    } else {
        fill_lines(first, last, colours[0], picture);
    }
    if (scene.mask & mask_bit::kSprites) draw_sprites(scene, scroll, first, last, colours, picture);
}

void draw_span(const Scene& scene, int line, int x0, int x1, int first_tile, Picture& picture) {
    if (x0 >= x1) return;
    std::uint8_t* out = &picture.pixels[line * Picture::kStride];
    picture.emphasis[line] = scene.mask >> 5;
    if ((scene.mask & mask_bit::kRendering) == 0) {
        std::memset(out + x0, resting_colour(scene, picture), x1 - x0);
        return;
    }
    const Colours colours = shaded_palette(scene, picture);
    std::uint8_t background[kScreenWidth + 16] = {};  // palette entries; 0 is transparent
    if (scene.mask & mask_bit::kBackground) {
        // Whole tiles from the one under x0 on; the array starts at the left edge of tile 0, fine_x left of the screen.
        for (int tile = (x0 + scene.fine_x) >> 3; 8 * tile < x1 + scene.fine_x; ++tile) {
            const TileRow row = background_tile(scene, scene.address, tile - first_tile);
            const std::uint64_t palette = (row.palette * kEachByte) & opaque_mask(row.pixels);
            store_pixels(background + 8 * tile, row.pixels | palette);
        }
        if (scene.torn) std::memcpy(background + 8 * scene.torn_tile, scene.torn, 8);
    }
    std::uint8_t* visible = background + scene.fine_x;
    if ((scene.mask & mask_bit::kBackgroundLeft) == 0) std::memset(visible, 0, 8);
    std::uint8_t sprites[kScreenWidth] = {};
    if (scene.mask & mask_bit::kSprites) sprite_line(scene, line, sprites);
    for (int x = x0; x < x1; ++x) {
        const bool hidden = sprites[x] == 0 || (sprites[x] >= kBehind && visible[x] != 0);
        out[x] = colours[hidden ? visible[x] : sprites[x] & 0x1F];
    }
}

}  // namespace nes
