// Two pads, each a shift register that is loaded while the strobe is up.
#pragma once

#include <cstdint>

namespace nes {

struct Controllers {
    std::uint8_t held[2];     // bit 0 A, 1 B, 2 Select, 3 Start, 4 Up, 5 Down, 6 Left, 7 Right
    std::uint8_t shifted[2];  // what is left to be read
    std::uint8_t strobe;
    std::uint8_t unused[3];

    void write(std::uint8_t value) {
        // Reloading for as long as the strobe is up comes to the same as loading when it falls.
        if (strobe & 1) load();
        strobe = value & 1;
    }

    // One bit; after eight, ones.
    std::uint8_t read(int pad) {
        if (strobe & 1) return held[pad] & 1;
        const std::uint8_t bit = shifted[pad] & 1;
        shifted[pad] = static_cast<std::uint8_t>(shifted[pad] >> 1 | 0x80);
        return bit;
    }

  private:
    void load() {
        shifted[0] = held[0];
        shifted[1] = held[1];
    }
};

}  // namespace nes
