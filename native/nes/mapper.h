// What a cartridge's board does with the addresses it is given.
//
// A mapper is a type with these functions, known when the bus is compiled, so that a board without any logic costs
// nothing. A new board adds its type here, its registers to `Board` (they are part of a console's state), and a line to
// `is_known_mapper` and to the dispatch in console.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace nes {

// The registers of the board. Mapper 0 has none.
struct Board {
    std::uint8_t unused[8];
};

// NROM: the program at $8000-$FFFF, the patterns at $0000-$1FFF, nothing to switch.
struct Nrom {
    static constexpr int kNumber = 0;

    static std::uint8_t read_program(const Board&, const std::uint8_t* program, std::uint16_t address) {
        return program[address & 0x7FFF];
    }
    static void write(Board&, std::uint16_t, std::uint8_t) {}
};

inline bool is_known_mapper(int number) { return number == Nrom::kNumber; }
inline std::string known_mappers() { return "mapper 0 (NROM)"; }

}  // namespace nes
