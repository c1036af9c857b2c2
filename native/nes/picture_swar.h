// Eight pixels in one 64-bit word: what the plain path and the sprites use in place of vector registers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace nes {

static_assert(std::endian::native == std::endian::little, "byte 0 of a word of pixels must be the leftmost pixel");

constexpr std::uint64_t kEachByte = 0x0101010101010101;

inline std::uint64_t load_pixels(const std::uint8_t* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

inline void store_pixels(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

// Turns eight pixels of 0..3 into colours: each bit of a pixel becomes a byte mask, and the masks pick from the
// exclusive-or differences of the four colours.
struct FourColours {
    std::uint64_t base, low, high, both;

    explicit FourColours(const std::uint8_t* colours)
        : base(colours[0] * kEachByte),
          low((colours[0] ^ colours[1]) * kEachByte),
          high((colours[0] ^ colours[2]) * kEachByte),
          both((colours[0] ^ colours[1] ^ colours[2] ^ colours[3]) * kEachByte) {}

    std::uint64_t operator()(std::uint64_t pixels) const {
        const std::uint64_t low_mask = (pixels & kEachByte) * 255;
        const std::uint64_t high_mask = (pixels >> 1 & kEachByte) * 255;
        return base ^ (low_mask & low) ^ (high_mask & high) ^ (low_mask & high_mask & both);
    }
};

// A byte of ones wherever the pixel is not 0.
inline std::uint64_t opaque_mask(std::uint64_t pixels) { return ((pixels | pixels >> 1) & kEachByte) * 255; }

}  // namespace nes
