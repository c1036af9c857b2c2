#include "screen/colour.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "nes/palette.h"

namespace screen {
namespace {

constexpr int kEmphases = 8;

using ColourTable = std::array<std::array<std::uint8_t, 4>, nes::kColours>;  // red, green, blue, 0

constexpr std::array<ColourTable, kEmphases> emphasised_tables() {
    std::array<ColourTable, kEmphases> tables{};
    for (int emphasis = 0; emphasis < kEmphases; ++emphasis) {
        for (int index = 0; index < nes::kColours; ++index) {
            const nes::Colour colour = nes::emphasised(nes::kPalette[index], emphasis);
            tables[emphasis][index] = {colour[0], colour[1], colour[2], 0};
        }
    }
    return tables;
}

constexpr std::array<ColourTable, kEmphases> kTables = emphasised_tables();

void write_line(const nes::Picture& picture, int line, std::uint8_t* out) {
    const ColourTable& table = kTables[picture.emphasis[line] & 7];
    const std::uint8_t* pixels = &picture.pixels[line * nes::Picture::kStride];
    // Four bytes at a time, the fourth overwritten by the next pixel; the last pixel must not run over the end.
    int x = 0;
    for (; x < nes::kScreenWidth - 1; ++x) std::memcpy(out + 3 * x, table[pixels[x] & 63].data(), 4);
    std::memcpy(out + 3 * x, table[pixels[x] & 63].data(), 3);
}

}  // namespace

void use_colour_shades(nes::Picture& picture) {
    for (int colour = 0; colour < nes::kColours; ++colour) picture.shades[colour] = static_cast<std::uint8_t>(colour);
}

void write_indices(const nes::Picture& picture, std::uint8_t* out) {
    std::memcpy(out, picture.pixels.data(), picture.pixels.size());
}

void write_rgb(const nes::Picture& picture, const nes::Picture* other, std::uint8_t* out) {
    constexpr int kLineBytes = 3 * nes::kScreenWidth;
    for (int line = 0; line < nes::kScreenHeight; ++line, out += kLineBytes) {
        write_line(picture, line, out);
        if (other == nullptr) continue;
        std::uint8_t second[kLineBytes];
        write_line(*other, line, second);
        for (int i = 0; i < kLineBytes; ++i) out[i] = std::max(out[i], second[i]);
    }
}

}  // namespace screen
