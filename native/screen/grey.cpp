#include "screen/grey.h"

#include <stdexcept>
#include <string>

#include "nes/palette.h"
#include "screen/simd.h"

namespace screen {
namespace {

int checked_side(const char* name, int side) {
    if (side < 1 || side > kLargestSide) {
        throw std::invalid_argument(std::string(name) + " must be 1 to " + std::to_string(kLargestSide) +
                                    " pixels, but is " + std::to_string(side));
    }
    return side;
}

}  // namespace

void use_grey_shades(nes::Picture& picture) {
    for (int colour = 0; colour < nes::kColours; ++colour) picture.shades[colour] = nes::luma(nes::kPalette[colour]);
}

GreyResizer::GreyResizer(int height, int width)
    : plan_(checked_side("the height of a grey picture", height), checked_side("the width of a grey picture", width)) {}

void GreyResizer::resize(const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) const {
    switch (plan_.vectors_fit ? current_path() : SimdPath::plain) {
#if defined(__x86_64__)
        case SimdPath::avx512:
            return resize_avx512(plan_, pixels, other, out);
        case SimdPath::avx2:
            return resize_avx2(plan_, pixels, other, out);
#elif defined(__aarch64__)
        case SimdPath::neon:
            return resize_neon(plan_, pixels, other, out);
#endif
        default:
            return resize_plain(plan_, pixels, other, out);
    }
}

}  // namespace screen
