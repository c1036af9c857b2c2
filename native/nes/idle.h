// Loops that only wait. A console spends most of a frame in them; knowing them, it can go straight to their end.
//
// A waiting loop is recognised by what it is: a short straight piece of program that jumps back to its own head, writes
// nothing, and whose registers after a round depend only on what it read. Two rounds of it are therefore equal until
// something outside changes: an interrupt, or a bit of the PPU's status if that is what it reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "nes/types.h"

namespace nes {

struct IdleLoop {
    std::uint16_t head;
    std::uint8_t period;         // cycles a round
    std::int8_t status_read_at;  // the cycle of a round in which $2002 is read, or -1
};

struct IdleLoops {
    std::vector<IdleLoop> loops;                // number 0 is unused
    std::array<std::uint8_t, 0x8000> number{};  // by program address: which loop begins here; 0: none

    static IdleLoops find(std::span<const std::uint8_t, 0x8000> program);

    const IdleLoop* at(std::uint16_t pc) const {
        if (!(pc & 0x8000)) return nullptr;
        const std::uint8_t index = number[pc & 0x7FFF];
        return index ? &loops[index] : nullptr;
    }
};

}  // namespace nes
