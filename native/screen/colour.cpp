#include "screen/colour.h"

#include <algorithm>
#include <cstring>

#include "screen/colour_table.h"
#include "screen/simd.h"

namespace screen {
namespace {

constexpr int kLineBytes = 3 * nes::kScreenWidth;

constexpr ColourTable colour_table(int emphasis) {
    ColourTable table{};
    for (int index = 0; index < nes::kColours; ++index) {
        const nes::Colour colour = nes::emphasised(nes::kPalette[index], emphasis);
        for (int channel = 0; channel < 3; ++channel) {
            table.pixels[index][channel] = colour[channel];
            table.planes[channel][index] = colour[channel];
        }
    }
    return table;
}

const ColourTable& table_of(const nes::Picture& picture, int line) { return kColourTables[picture.emphasis[line] & 7]; }

const std::uint8_t* pixels_of(const nes::Picture& picture, int line) {
    return &picture.pixels[line * nes::Picture::kStride];
}

void write_line(const nes::Picture& picture, const nes::Picture* other, int line, std::uint8_t* out) {
#if defined(__x86_64__)
    if (current_path() == SimdPath::avx512) {
        write_rgb_line_avx512(table_of(picture, line), pixels_of(picture, line),
                              other == nullptr ? nullptr : &table_of(*other, line),
                              other == nullptr ? nullptr : pixels_of(*other, line), out);
        return;
    }
#endif
    write_rgb_line_plain(table_of(picture, line), pixels_of(picture, line), out);
    if (other == nullptr) return;
    std::uint8_t second[kLineBytes];
    write_rgb_line_plain(table_of(*other, line), pixels_of(*other, line), second);
    for (int i = 0; i < kLineBytes; ++i) out[i] = std::max(out[i], second[i]);
}

}  // namespace

constexpr ColourTable kColourTables[kEmphases] = {colour_table(0), colour_table(1), colour_table(2), colour_table(3),
                                                  colour_table(4), colour_table(5), colour_table(6), colour_table(7)};

void write_rgb_line_plain(const ColourTable& table, const std::uint8_t* pixels, std::uint8_t* out) {
    // Four bytes at a time, the fourth overwritten by the next pixel; the last pixel must not run over the end.
    int x = 0;
    for (; x < nes::kScreenWidth - 1; ++x) std::memcpy(out + 3 * x, table.pixels[pixels[x] & 63], 4);
    std::memcpy(out + 3 * x, table.pixels[pixels[x] & 63], 3);
}

void use_colour_shades(nes::Picture& picture) {
    for (int colour = 0; colour < nes::kColours; ++colour) picture.shades[colour] = static_cast<std::uint8_t>(colour);
}

void write_indices(const nes::Picture& picture, std::uint8_t* out) {
    std::memcpy(out, picture.pixels.data(), picture.pixels.size());
}

void write_rgb(const nes::Picture& picture, const nes::Picture* other, std::uint8_t* out) {
    for (int line = 0; line < nes::kScreenHeight; ++line, out += kLineBytes) write_line(picture, other, line, out);
}

}  // namespace screen
