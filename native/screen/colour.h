// Whole pictures as palette indices or RGB. Both need a picture drawn with use_colour_shades.
#pragma once

#include <cstdint>

#include "nes/picture.h"

namespace screen {

constexpr int kPixels = nes::kScreenHeight * nes::kScreenWidth;

// Makes a picture keep the colours 0..63 as they are.
void use_colour_shades(nes::Picture& picture);

// kPixels bytes, each 0..63.
void write_indices(const nes::Picture& picture, std::uint8_t* out);

// kPixels times red, green, blue, with the emphasis of each line; with `other`, the larger of each channel.
void write_rgb(const nes::Picture& picture, const nes::Picture* other, std::uint8_t* out);

}  // namespace screen
