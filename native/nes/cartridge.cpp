#include "nes/cartridge.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "nes/mapper.h"

namespace nes {

namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kTrainerBytes = 512;

[[noreturn]] void refuse(const std::string& why) { throw BadCartridge(why); }

std::string bytes(std::size_t count) { return std::to_string(count) + " bytes"; }

}  // namespace

Cartridge Cartridge::parse(std::span<const std::uint8_t> file) {
    if (file.size() < kHeaderBytes || std::memcmp(file.data(), "NES\x1A", 4) != 0) {
        refuse(
            "this is not an iNES file: it should begin with 'NES' and the byte 1A, and have a header of 16 bytes; it "
            "has " +
            bytes(file.size()));
    }
    const std::uint8_t* header = file.data();
    const bool newer = (header[7] & 0x0C) == 0x08;
    // Some old tools signed their name over bytes 7 to 15; then only the low half of the mapper number can be trusted.
    const bool signed_over = !newer && std::any_of(header + 12, header + 16, [](std::uint8_t b) { return b != 0; });
    Cartridge cartridge;
    cartridge.mapper = header[6] >> 4 | (signed_over ? 0 : header[7] & 0xF0) | (newer ? (header[8] & 0x0F) << 8 : 0);
    if (!is_known_mapper(cartridge.mapper)) {
        refuse("this cartridge uses mapper " + std::to_string(cartridge.mapper) + "; this engine knows " +
               known_mappers());
    }
    if (header[6] & 0x08) refuse("this cartridge brings its own memory for four screens, which mapper 0 has not");
    const int programs = header[4] + (newer ? (header[9] & 0x0F) << 8 : 0);
    const int patterns = header[5] + (newer ? (header[9] >> 4) << 8 : 0);
    if (programs != 1 && programs != 2) {
        refuse("a mapper 0 cartridge has 1 or 2 program banks of 16 KiB; the header says " + std::to_string(programs));
    }
    if (patterns > 1) {
        refuse("a mapper 0 cartridge has at most 1 pattern bank of 8 KiB; the header says " + std::to_string(patterns));
    }
    cartridge.prg_bytes = programs * 0x4000;
    cartridge.chr_bytes = patterns * kPatternBytes;
    cartridge.mirroring = (header[6] & 1) ? Mirroring::Vertical : Mirroring::Horizontal;

    const std::size_t begin = kHeaderBytes + ((header[6] & 0x04) ? kTrainerBytes : 0);
    const std::size_t expected = begin + static_cast<std::size_t>(cartridge.prg_bytes + cartridge.chr_bytes);
    if (file.size() != expected) {
        refuse("the header promises a file of " + bytes(expected) + ", this one has " + bytes(file.size()) +
               (file.size() < expected ? ": it is cut short" : ": something is appended"));
    }
    const std::uint8_t* program = file.data() + begin;
    for (int at = 0; at < kProgramBytes; at += cartridge.prg_bytes) {
        std::memcpy(cartridge.program.data() + at, program, static_cast<std::size_t>(cartridge.prg_bytes));
    }
    cartridge.patterns.fill(0);
    std::memcpy(cartridge.patterns.data(), program + cartridge.prg_bytes,
                static_cast<std::size_t>(cartridge.chr_bytes));
    cartridge.tiles.resize(kTiles);
    decode_tiles(cartridge.patterns.data(), cartridge.tiles.data());
    cartridge.idle = IdleLoops::find(cartridge.program);
    return cartridge;
}

}  // namespace nes
