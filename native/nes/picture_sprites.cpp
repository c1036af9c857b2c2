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

// How the rows of a sprite lie on the screen: from `screen_x` on, where eight pixels always fit in the line.
struct Placement {
    int screen_x;
    int shift;            // bits by which a row moves right, over the edge of the screen
    std::uint64_t shown;  // bytes not clipped at the left edge
    const std::uint8_t* top;
    int step;  // from a row to the next
    bool across;

    Placement(const Scene& scene, const Sprite& sprite)
        : screen_x(std::min(sprite.x, kScreenWidth - 8)),
          shift(8 * (sprite.x - screen_x)),
          shown(~std::uint64_t{0}),
          top(sprite_pixels(scene, sprite)),
          step(8),
          across(sprite.flipped_across()) {
        if (screen_x < 8 && (scene.mask & mask_bit::kSpritesLeft) == 0) {
            shown = screen_x == 0 ? 0 : shown << 8 * (8 - screen_x);
        }
        if (sprite.flipped_down()) {
            top += 8 * (sprite_height(scene) - 1);
            step = -8;
        }
    }

    std::uint64_t row(int row) const {
        const std::uint64_t pixels = load_pixels(top + step * row);
        return (across ? __builtin_bswap64(pixels) : pixels) << shift & shown;
    }
};

// Counts the sprites on each line of a band, and says which rows of which sprite the limit leaves.
class LineLimit {
  public:
    // Bits of the rows of a sprite that still find room, in the order of asking.
    unsigned admit(int line, int height) {
        unsigned rows = 0;
        for (int half = 0; half < height; half += 8) {
            const std::uint64_t counts = load_pixels(taken_ + line + half);
            // At most 63 came before, so a line is full exactly when bit 3, 4 or 5 is set.
            const std::uint64_t full = (counts >> 3 | counts >> 4 | counts >> 5) & kEachByte;
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
std::uint64_t behind_background(const Scene& scene, std::uint16_t address, int screen_x, std::uint64_t row,
                                const Colours& colours, int palette) {
    std::uint8_t pixels[8];
    store_pixels(pixels, row);
    std::uint8_t shown[8];
    const int stream = screen_x + scene.fine_x;
    const TileRow tiles[2] = {background_tile(scene, address, stream >> 3),
                              background_tile(scene, address, (stream >> 3) + 1)};
    for (int i = 0; i < 8; ++i) {
        const int x = (stream & 7) + i;
        const TileRow& tile = tiles[x >> 3];
        int entry = static_cast<int>(tile.pixels >> 8 * (x & 7) & 3);
        const bool clipped = screen_x + i < 8 && (scene.mask & mask_bit::kBackgroundLeft) == 0;
        if ((scene.mask & mask_bit::kBackground) == 0 || clipped) entry = 0;
        shown[i] = colours[entry != 0 ? tile.palette + entry : palette + pixels[i]];
    }
    return load_pixels(shown);
}

void paint(std::uint8_t* out, std::uint64_t over, std::uint64_t mask) {
    const std::uint64_t under = load_pixels(out);
    store_pixels(out, under ^ ((under ^ over) & mask));
}

// The usual case, free of decisions: a sprite in front, of which all eight rows show. By value, so that the stores to
// the picture cannot be taken for changes of the arguments.
template <bool kAcross>
void paint_tile(Placement placed, FourColours colours, std::uint8_t* out) {
    for (int row = 0; row < 8; ++row, placed.top += placed.step, out += Picture::kStride) {
        const std::uint64_t tile = load_pixels(placed.top);
        const std::uint64_t pixels = (kAcross ? __builtin_bswap64(tile) : tile) << placed.shift & placed.shown;
        paint(out, colours(pixels), opaque_mask(pixels));
    }
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
        const Placement placed(scene, sprite);
        const FourColours painted(colours.data() + sprite.palette());
        std::uint8_t* out = picture.pixels.data() + sprite.line * Picture::kStride + placed.screen_x;
        if (rows[count] == 0xFF && !sprite.behind() && sprite.line >= first && sprite.line + 8 <= last) {
            if (placed.across) {
                paint_tile<true>(placed, painted, out);
            } else {
                paint_tile<false>(placed, painted, out);
            }
            continue;
        }
        const int end = std::min(height, last - sprite.line);
        for (int row = std::max(0, first - sprite.line); row < end; ++row) {
            if ((rows[count] >> row & 1) == 0) continue;
            const std::uint64_t pixels = placed.row(row);
            std::uint64_t over = painted(pixels);
            if (sprite.behind() && pixels != 0) {
                const std::uint16_t address = address_of_line(scene, scroll, sprite.line + row - first);
                over = behind_background(scene, address, placed.screen_x, pixels, colours, sprite.palette());
            }
            paint(out + row * Picture::kStride, over, opaque_mask(pixels));
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
        const Placement placed(scene, sprite);
        const std::uint64_t pixels = placed.row(line - sprite.line);
        const std::uint64_t tag = (sprite.palette() | (sprite.behind() ? kBehind : 0)) * kEachByte;
        paint(entries + placed.screen_x, pixels | tag, opaque_mask(pixels));
    }
}

}  // namespace nes
