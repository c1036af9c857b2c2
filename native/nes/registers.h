// The 6502's registers as running code holds them.
#pragma once

#include <cstdint>

#include "nes/types.h"

namespace nes {

enum Status : std::uint8_t {
    kCarry = 0x01,
    kZero = 0x02,
    kIrqOff = 0x04,
    kDecimal = 0x08,
    kBreak = 0x10,
    kAlways = 0x20,
    kOverflow = 0x40,
    kNegative = 0x80,
};

// Most results set N and Z and most of those are never looked at, so the result itself is kept instead:
// zero when the low byte of `nz` is 0, negative when bit 7 or bit 8 is set (bit 8 alone: negative and zero, as BIT
// can).
struct Registers {
    std::uint8_t a = 0;
    std::uint8_t x = 0;
    std::uint8_t y = 0;
    std::uint8_t s = 0;
    std::uint16_t pc = 0;
    std::uint16_t nz = 1;
    std::uint8_t carry = 0;     // 0 or 1
    std::uint8_t overflow = 0;  // 0 or 1
    std::uint8_t fixed = 0;     // the flags that arithmetic does not touch: kIrqOff and kDecimal
    Cycle clock = 0;

    bool zero() const { return (nz & 0xFF) == 0; }
    bool negative() const { return (nz & 0x180) != 0; }

    std::uint8_t status() const {
        return static_cast<std::uint8_t>(carry | (zero() ? kZero : 0) | fixed | kAlways | (overflow ? kOverflow : 0) |
                                         (negative() ? kNegative : 0));
    }

    void set_status(std::uint8_t p) {
        carry = p & kCarry;
        overflow = (p & kOverflow) ? 1 : 0;
        fixed = p & (kIrqOff | kDecimal);
        nz = static_cast<std::uint16_t>(((p & kNegative) ? 0x100 : 0) | ((p & kZero) ? 0 : 1));
    }
};

}  // namespace nes
