#include <algorithm>
#include <cstring>

#include "nes/picture_layers.h"
#include "nes/picture_swar.h"

namespace nes {
namespace {

constexpr int kSprites = 64;

struct Sprite {
    int line;  // the first line it shows on
    int x;
    int tile;
    int attributes;

    Sprite(const std::uint8_t* oam, int index)
        : line(oam[4 * index] + 1), x(oam[4 * index + 3]), tile(oam[4 * index + 1]), attributes(oam[4 * index + 2]) {}

    int palette() const { return 16 + 4 * (attributes & 3); }
    bool behind() const { return attributes & 0x20; }
    bool flipped_across() const { return attributes & 0x40; }
    bool flipped_down() const { return attributes & 0x80; }
};

int sprite_height(const Scene& scene) { return scene.control & control_bit::kTallSprites ? 16 : 8; }

// The 64 or 128 bytes of its one or two tiles, which follow each other.
const std::uint8_t* sprite_pixels(const Scene& scene, const Sprite& sprite) {
    const int tile = scene.control & control_bit::kTallSprites   ? (sprite.tile & 1) * 256 + (sprite.tile & 0xFE)
                     : scene.control & control_bit::kSpriteTable ? sprite.tile + 256
                                                                 : sprite.tile;
    return scene.tiles[tile].data();
}

// Eight pixels of a sprite as they lie on the screen from `screen_x` on, where eight pixels always fit in the line.
struct SpriteRow {
    int screen_x;
    std::uint64_t pixels;
};

SpriteRow sprite_row(const Scene& scene, const Sprite& sprite, const std::uint8_t* tile, int row) {
    const int height = sprite_height(scene);
    std::uint64_t pixels = load_pixels(tile + 8 * (sprite.flipped_down() ? height - 1 - row : row));
    if (sprite.flipped_across()) pixels = __builtin_bswap64(pixels);
    const int screen_x = std::min(sprite.x, kScreenWidth - 8);
    pixels <<= 8 * (sprite.x - screen_x);
    if (screen_x < 8 && (scene.mask & mask_bit::kSpritesLeft) == 0) {
        pixels = screen_x == 0 ? 0 : pixels & ~std::uint64_t{0} << 8 * (8 - screen_x);
    }
    return {screen_x, pixels};
}

// Counts the sprites on each line of a band, and says which rows of which sprite the limit leaves.
class LineLimit {
  public:
    // Bits of the rows of a sprite that still find room, in the order of asking.
    unsigned admit(int line, int height) {
        unsigned rows = 0;
        for (int half = 0; half < height; half += 8) {
            const std::uint64_t counts = load_pixels(taken_ + line + half);
            // Counts are at most 64, so a byte has a bit of 0x78 set exactly when the line is full.
            const std::uint64_t full = ((counts >> 3 | counts >> 4 | counts >> 5 | counts >> 6) & kEachByte);
            store_pixels(taken_ + line + half, counts + kEachByte);
            rows |= static_cast<unsigned>(((~full & kEachByte) * 0x0102040810204080) >> 56) << half;
        }
        return rows;
    }

  private:
    std::uint8_t taken_[256 + 24] = {};
};

// The bytes of a row of a sprite that has the background in front. The sprite still covers those of lower priority:
// where the background hides it, the background shows.
std::uint64_t behind_background(const Scene& scene, std::uint16_t address, const SpriteRow& row, const Colours& colours,
                                int palette) {
    std::uint8_t pixels[8];
    store_pixels(pixels, row.pixels);
    std::uint8_t shown[8];
    const int stream = row.screen_x + scene.fine_x;
    const TileRow tiles[2] = {background_tile(scene, address, stream >> 3),
                              background_tile(scene, address, (stream >> 3) + 1)};
    for (int i = 0; i < 8; ++i) {
        const int x = (stream & 7) + i;
        const TileRow& tile = tiles[x >> 3];
        int entry = static_cast<int>(tile.pixels >> 8 * (x & 7) & 3);
        const bool clipped = row.screen_x + i < 8 && (scene.mask & mask_bit::kBackgroundLeft) == 0;
        if ((scene.mask & mask_bit::kBackground) == 0 || clipped) entry = 0;
        shown[i] = colours[entry != 0 ? tile.palette + entry : palette + pixels[i]];
    }
    return load_pixels(shown);
}

}  // namespace

void draw_sprites(const Scene& scene, std::uint16_t scroll, int first, int last, const Colours& colours,
                  Picture& picture) {
    const int height = sprite_height(scene);
    LineLimit limit;
    std::uint8_t indices[kSprites];
    std::uint16_t rows[kSprites];
    int count = 0;
    for (int index = 0; index < kSprites; ++index) {
        const int line = scene.oam[4 * index] + 1;
        if (line >= last || line + height <= first) continue;
        indices[count] = static_cast<std::uint8_t>(index);
        rows[count++] = static_cast<std::uint16_t>(limit.admit(line, height));
    }
    // The lowest index is on top, so it is painted last.
    while (count-- > 0) {
        const Sprite sprite(scene.oam, indices[count]);
        const FourColours painted(colours.data() + sprite.palette());
        const std::uint8_t* tile = sprite_pixels(scene, sprite);
        const int end = std::min(height, last - sprite.line);
        for (int row = std::max(0, first - sprite.line); row < end; ++row) {
            if ((rows[count] >> row & 1) == 0) continue;
            const SpriteRow placed = sprite_row(scene, sprite, tile, row);
            const int line = sprite.line + row;
            std::uint8_t* out = &picture.pixels[line * Picture::kStride + placed.screen_x];
            const std::uint64_t mask = opaque_mask(placed.pixels);
            std::uint64_t over = painted(placed.pixels);
            if (sprite.behind() && mask != 0) {
                const std::uint16_t address = address_of_line(scene, scroll, line - first);
                over = behind_background(scene, address, placed, colours, sprite.palette());
            }
            store_pixels(out, (load_pixels(out) & ~mask) | (over & mask));
        }
    }
}

void sprite_line(const Scene& scene, int line, std::uint8_t* entries) {
    const int height = sprite_height(scene);
    int found[kSpritesPerLine];
    int count = 0;
    for (int index = 0; index < kSprites && count < kSpritesPerLine; ++index) {
        const int row = line - (scene.oam[4 * index] + 1);
        if (row >= 0 && row < height) found[count++] = index;
    }
    while (count-- > 0) {
        const Sprite sprite(scene.oam, found[count]);
        const SpriteRow row = sprite_row(scene, sprite, sprite_pixels(scene, sprite), line - sprite.line);
        const std::uint64_t mask = opaque_mask(row.pixels);
        const std::uint64_t tag = (sprite.palette() | (sprite.behind() ? kBehind : 0)) * kEachByte;
        std::uint8_t* out = entries + row.screen_x;
        store_pixels(out, (load_pixels(out) & ~mask) | ((row.pixels | tag) & mask));
    }
}

}  // namespace nes
