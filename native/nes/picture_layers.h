// What the parts of a picture share: the colours in force, and where a line lies in the nametables.
#pragma once

#include <array>
#include <cstdint>

#include "nes/picture.h"
#include "nes/picture_swar.h"

namespace nes {

namespace mask_bit {
constexpr int kGreyscale = 0x01;
constexpr int kBackgroundLeft = 0x02;  // show the background in the leftmost eight pixels
constexpr int kSpritesLeft = 0x04;
constexpr int kBackground = 0x08;
constexpr int kSprites = 0x10;
constexpr int kRendering = kBackground | kSprites;
}  // namespace mask_bit

namespace control_bit {
constexpr int kSpriteTable = 0x08;
constexpr int kBackgroundTable = 0x10;
constexpr int kTallSprites = 0x20;
}  // namespace control_bit

constexpr int kSpritesPerLine = 8;

// The byte each of the 32 palette entries puts on the picture; entry 0 of every palette is the backdrop.
using Colours = std::array<std::uint8_t, 32>;

inline std::uint8_t shaded(const Scene& scene, const Picture& picture, int entry) {
    const int kept = scene.mask & mask_bit::kGreyscale ? 0x30 : 0x3F;
    return picture.shades[scene.palette[entry] & kept];
}

inline Colours shaded_palette(const Scene& scene, const Picture& picture) {
    Colours colours;
    for (int entry = 0; entry < 32; ++entry) colours[entry] = shaded(scene, picture, entry & 3 ? entry : 0);
    return colours;
}

// With rendering off the PPU shows the backdrop, or the palette entry its address points at.
inline std::uint8_t resting_colour(const Scene& scene, const Picture& picture) {
    const bool in_palette = (scene.address & 0x3F00) == 0x3F00;
    return shaded(scene, picture, in_palette ? scene.address & 0x1F : 0);
}

constexpr std::uint16_t kHorizontalBits = 0x041F;  // of a scroll address: coarse x and the nametable bit beside it

// The address `lines` (0..240) further down; the horizontal part stays.
constexpr std::uint16_t address_below(std::uint16_t address, int lines) {
    int page = address & 0x0800;
    int y = (address >> 5 & 31) * 8 + (address >> 12 & 7);
    const bool below_page =
        y >= 240;  // rows 30 and 31 are attributes shown as tiles, and wrap without turning the page
    y += lines;
    if (below_page && y >= 256)
        y -= 256;
    else if (below_page)
        return static_cast<std::uint16_t>((address & 0x0C1F) | (y >> 3) << 5 | (y & 7) << 12);
    if (y >= 240) {
        y -= 240;
        page ^= 0x0800;
    }
    return static_cast<std::uint16_t>((address & kHorizontalBits) | page | (y >> 3) << 5 | (y & 7) << 12);
}

// The address a line of a band is drawn from, `lines` below the first.
constexpr std::uint16_t address_of_line(const Scene& scene, std::uint16_t scroll, int lines) {
    if (lines == 0) return scene.address;
    const std::uint16_t below = address_below(scene.address, lines);
    return static_cast<std::uint16_t>((below & ~kHorizontalBits) | (scroll & kHorizontalBits));
}

// Eight background pixels of one tile: its pixels of 0..3, and the entry its palette starts at.
struct TileRow {
    std::uint64_t pixels;
    int palette;  // 0, 4, 8 or 12
};

// The tile `tiles_right` of the one `address` points at, in the line it points at.
inline TileRow background_tile(const Scene& scene, std::uint16_t address, int tiles_right) {
    const int column = ((address >> 10 & 1) * 32 + (address & 31) + tiles_right) & 63;
    const int coarse_y = address >> 5 & 31;
    const std::uint8_t* page = scene.nametables[(address >> 10 & 2) | column >> 5];
    const int x = column & 31;
    const int name = page[32 * coarse_y + x] | (scene.control & control_bit::kBackgroundTable) << 4;
    const int attribute = page[0x3C0 + 8 * (coarse_y >> 2) + (x >> 2)] >> ((coarse_y & 2) * 2 + (x & 2));
    return {load_pixels(scene.tiles[name].data() + 8 * (address >> 12 & 7)), (attribute & 3) * 4};
}

// Draws the sprites of whole lines first..last-1 over a finished background.
void draw_sprites(const Scene& scene, std::uint16_t scroll, int first, int last, const Colours& colours,
                  Picture& picture);

// One line of sprites: for each pixel 0 or a palette entry 17..31, with kBehind added if the background hides it.
constexpr std::uint8_t kBehind = 0x80;
void sprite_line(const Scene& scene, int line, std::uint8_t* entries);

}  // namespace nes
