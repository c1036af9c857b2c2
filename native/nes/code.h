// The contract between the engine and a game's program that was compiled to native code.
//
// Such code runs from a known address until the next event could come within the longest way to its next check. It is
// compiled from the same instruction bodies as the interpreter and asks the host for everything that is not plain
// memory.
#pragma once

#include <cstdint>

#include "nes/types.h"

namespace nes {

struct Console;
struct Machine;
struct Registers;

constexpr int kCodeVersion = 1;  // of this contract

struct CodeHost {
    std::uint8_t (*read)(Console&, const Machine&, std::uint16_t address, Cycle at, std::uint8_t open);
    Cycle (*write)(Console&, const Machine&, std::uint16_t address, std::uint8_t value, Cycle at);
    // Jumped back to the head of a waiting loop, having come there a round earlier at `last`; answers the new clock.
    Cycle (*wait)(Console&, const Machine&, std::uint16_t head, Cycle clock, Cycle last);
};

struct Code {
    // Runs from the console's pc, which must have a reach, and stores the registers when it comes back.
    void (*run)(Console&, const Machine&, const CodeHost&);
    // By program address: the most cycles that may pass between here and the next check; 0: no entry here.
    const std::uint16_t* reach;
};

// What a compiled library exports under the name `respawn_code`.
struct CodeExport {
    int version;               // kCodeVersion
    int console_bytes;         // sizeof(Console) it was compiled against
    const char* program_hash;  // of the program it was compiled from
    Code code;
};

}  // namespace nes
