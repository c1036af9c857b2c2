// The 64 colours of the NTSC PPU, and what the emphasis bits do to them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace nes {

constexpr int kColours = 64;

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

constexpr std::array<Colour, kColours> kPalette = {{
    {{84, 84, 84}},    {{0, 30, 116}},    {{8, 16, 144}},    {{48, 0, 136}},    {{68, 0, 100}},    {{92, 0, 48}},
    {{84, 4, 0}},      {{60, 24, 0}},     {{32, 42, 0}},     {{8, 58, 0}},      {{0, 64, 0}},      {{0, 60, 0}},
    {{0, 50, 60}},     {{0, 0, 0}},       {{0, 0, 0}},       {{0, 0, 0}},       {{152, 150, 152}}, {{8, 76, 196}},
    {{48, 50, 236}},   {{92, 30, 228}},   {{136, 20, 176}},  {{160, 20, 100}},  {{152, 34, 32}},   {{120, 60, 0}},
    {{84, 90, 0}},     {{40, 114, 0}},    {{8, 124, 0}},     {{0, 118, 40}},    {{0, 102, 120}},   {{0, 0, 0}},
    {{0, 0, 0}},       {{0, 0, 0}},       {{236, 238, 236}}, {{76, 154, 236}},  {{120, 124, 236}}, {{176, 98, 236}},
    {{228, 84, 236}},  {{236, 88, 180}},  {{236, 106, 100}}, {{212, 136, 32}},  {{160, 170, 0}},   {{116, 196, 0}},
    {{76, 208, 32}},   {{56, 204, 108}},  {{56, 180, 204}},  {{60, 60, 60}},    {{0, 0, 0}},       {{0, 0, 0}},
    {{236, 238, 236}}, {{168, 204, 236}}, {{188, 188, 236}}, {{212, 178, 236}}, {{236, 174, 236}}, {{236, 174, 212}},
    {{236, 180, 176}}, {{228, 196, 144}}, {{204, 210, 120}}, {{180, 222, 120}}, {{168, 226, 144}}, {{152, 226, 180}},
    {{160, 214, 228}}, {{160, 162, 160}}, {{0, 0, 0}},       {{0, 0, 0}},
}};

// Emphasis bit 0 is red, 1 green, 2 blue: each brightens its own channel by a tenth and dims the other two by a tenth.
constexpr Colour emphasised(Colour colour, int emphasis) {
    for (int channel = 0; channel < 3; ++channel) {
        int numerator = colour[channel];
        int denominator = 1;
        for (int bit = 0; bit < 3; ++bit) {
            if ((emphasis >> bit & 1) == 0) continue;
            numerator *= bit == channel ? 11 : 9;
            denominator *= 10;
        }
        colour[channel] = static_cast<std::uint8_t>(std::min(255, numerator / denominator));
    }
    return colour;
}

constexpr std::uint8_t luma(Colour colour) {
    return static_cast<std::uint8_t>((299 * colour[0] + 587 * colour[1] + 114 * colour[2] + 500) / 1000);
}

}  // namespace nes
