// A game as it lies on a shelf: read once, shared by all consoles, never changed by them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "nes/idle.h"
#include "nes/picture.h"

namespace nes {

// The file cannot be played; what() is one sentence for its owner.
class BadCartridge : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Mirroring : std::uint8_t { Horizontal, Vertical };

constexpr int kProgramBytes = 0x8000;
constexpr int kPatternBytes = 0x2000;
constexpr int kLargestFile = 16 + 512 + 0x8000 + 0x2000;  // header, trainer, program, patterns

struct Cartridge {
    int mapper = 0;
    int prg_bytes = 0;  // as in the file: 16 or 32 KiB
    int chr_bytes = 0;  // 8 KiB, or none: then the patterns are 8 KiB of RAM
    Mirroring mirroring = Mirroring::Horizontal;
    std::array<std::uint8_t, kProgramBytes> program;  // $8000-$FFFF, 16 KiB twice
    std::array<std::uint8_t, kPatternBytes> patterns;
    std::vector<TilePixels> tiles;
    IdleLoops idle;

    bool patterns_are_ram() const { return chr_bytes == 0; }

    // Parses an iNES or NES 2.0 file; throws BadCartridge.
    static Cartridge parse(std::span<const std::uint8_t> file);
};

}  // namespace nes
