// The 256 opcodes: operation, addressing mode, cycles before any penalty.
#pragma once

#include <array>
#include <cstdint>

namespace nes {

enum class Mode : std::uint8_t {
    Implied,
    Accumulator,
    Immediate,
    Zero,
    ZeroX,
    ZeroY,
    Absolute,
    AbsoluteX,
    AbsoluteY,
    Indirect,
    IndirectX,
    IndirectY,
    Relative,
};

// X(code, operation, mode, cycles)
// clang-format off
#define NES_OPCODES(X) \
    X(0x00, brk, Implied, 7) X(0x01, ora, IndirectX, 6) X(0x02, jam, Implied, 2) X(0x03, slo, IndirectX, 8) \
    X(0x04, nop, Zero, 3) X(0x05, ora, Zero, 3) X(0x06, asl, Zero, 5) X(0x07, slo, Zero, 5) \
    X(0x08, php, Implied, 3) X(0x09, ora, Immediate, 2) X(0x0A, asl, Accumulator, 2) X(0x0B, anc, Immediate, 2) \
    X(0x0C, nop, Absolute, 4) X(0x0D, ora, Absolute, 4) X(0x0E, asl, Absolute, 6) X(0x0F, slo, Absolute, 6) \
    X(0x10, bpl, Relative, 2) X(0x11, ora, IndirectY, 5) X(0x12, jam, Implied, 2) X(0x13, slo, IndirectY, 8) \
    X(0x14, nop, ZeroX, 4) X(0x15, ora, ZeroX, 4) X(0x16, asl, ZeroX, 6) X(0x17, slo, ZeroX, 6) \
    X(0x18, clc, Implied, 2) X(0x19, ora, AbsoluteY, 4) X(0x1A, nop, Implied, 2) X(0x1B, slo, AbsoluteY, 7) \
    X(0x1C, nop, AbsoluteX, 4) X(0x1D, ora, AbsoluteX, 4) X(0x1E, asl, AbsoluteX, 7) X(0x1F, slo, AbsoluteX, 7) \
    X(0x20, jsr, Absolute, 6) X(0x21, and_, IndirectX, 6) X(0x22, jam, Implied, 2) X(0x23, rla, IndirectX, 8) \
    X(0x24, bit, Zero, 3) X(0x25, and_, Zero, 3) X(0x26, rol, Zero, 5) X(0x27, rla, Zero, 5) \
    X(0x28, plp, Implied, 4) X(0x29, and_, Immediate, 2) X(0x2A, rol, Accumulator, 2) X(0x2B, anc, Immediate, 2) \
    X(0x2C, bit, Absolute, 4) X(0x2D, and_, Absolute, 4) X(0x2E, rol, Absolute, 6) X(0x2F, rla, Absolute, 6) \
    X(0x30, bmi, Relative, 2) X(0x31, and_, IndirectY, 5) X(0x32, jam, Implied, 2) X(0x33, rla, IndirectY, 8) \
    X(0x34, nop, ZeroX, 4) X(0x35, and_, ZeroX, 4) X(0x36, rol, ZeroX, 6) X(0x37, rla, ZeroX, 6) \
    X(0x38, sec, Implied, 2) X(0x39, and_, AbsoluteY, 4) X(0x3A, nop, Implied, 2) X(0x3B, rla, AbsoluteY, 7) \
    X(0x3C, nop, AbsoluteX, 4) X(0x3D, and_, AbsoluteX, 4) X(0x3E, rol, AbsoluteX, 7) X(0x3F, rla, AbsoluteX, 7) \
    X(0x40, rti, Implied, 6) X(0x41, eor, IndirectX, 6) X(0x42, jam, Implied, 2) X(0x43, sre, IndirectX, 8) \
    X(0x44, nop, Zero, 3) X(0x45, eor, Zero, 3) X(0x46, lsr, Zero, 5) X(0x47, sre, Zero, 5) \
    X(0x48, pha, Implied, 3) X(0x49, eor, Immediate, 2) X(0x4A, lsr, Accumulator, 2) X(0x4B, alr, Immediate, 2) \
    X(0x4C, jmp, Absolute, 3) X(0x4D, eor, Absolute, 4) X(0x4E, lsr, Absolute, 6) X(0x4F, sre, Absolute, 6) \
    X(0x50, bvc, Relative, 2) X(0x51, eor, IndirectY, 5) X(0x52, jam, Implied, 2) X(0x53, sre, IndirectY, 8) \
    X(0x54, nop, ZeroX, 4) X(0x55, eor, ZeroX, 4) X(0x56, lsr, ZeroX, 6) X(0x57, sre, ZeroX, 6) \
    X(0x58, cli, Implied, 2) X(0x59, eor, AbsoluteY, 4) X(0x5A, nop, Implied, 2) X(0x5B, sre, AbsoluteY, 7) \
    X(0x5C, nop, AbsoluteX, 4) X(0x5D, eor, AbsoluteX, 4) X(0x5E, lsr, AbsoluteX, 7) X(0x5F, sre, AbsoluteX, 7) \
    X(0x60, rts, Implied, 6) X(0x61, adc, IndirectX, 6) X(0x62, jam, Implied, 2) X(0x63, rra, IndirectX, 8) \
    X(0x64, nop, Zero, 3) X(0x65, adc, Zero, 3) X(0x66, ror, Zero, 5) X(0x67, rra, Zero, 5) \
    X(0x68, pla, Implied, 4) X(0x69, adc, Immediate, 2) X(0x6A, ror, Accumulator, 2) X(0x6B, arr, Immediate, 2) \
    X(0x6C, jmp, Indirect, 5) X(0x6D, adc, Absolute, 4) X(0x6E, ror, Absolute, 6) X(0x6F, rra, Absolute, 6) \
    X(0x70, bvs, Relative, 2) X(0x71, adc, IndirectY, 5) X(0x72, jam, Implied, 2) X(0x73, rra, IndirectY, 8) \
    X(0x74, nop, ZeroX, 4) X(0x75, adc, ZeroX, 4) X(0x76, ror, ZeroX, 6) X(0x77, rra, ZeroX, 6) \
    X(0x78, sei, Implied, 2) X(0x79, adc, AbsoluteY, 4) X(0x7A, nop, Implied, 2) X(0x7B, rra, AbsoluteY, 7) \
    X(0x7C, nop, AbsoluteX, 4) X(0x7D, adc, AbsoluteX, 4) X(0x7E, ror, AbsoluteX, 7) X(0x7F, rra, AbsoluteX, 7) \
    X(0x80, nop, Immediate, 2) X(0x81, sta, IndirectX, 6) X(0x82, nop, Immediate, 2) X(0x83, sax, IndirectX, 6) \
    X(0x84, sty, Zero, 3) X(0x85, sta, Zero, 3) X(0x86, stx, Zero, 3) X(0x87, sax, Zero, 3) \
    X(0x88, dey, Implied, 2) X(0x89, nop, Immediate, 2) X(0x8A, txa, Implied, 2) X(0x8B, ane, Immediate, 2) \
    X(0x8C, sty, Absolute, 4) X(0x8D, sta, Absolute, 4) X(0x8E, stx, Absolute, 4) X(0x8F, sax, Absolute, 4) \
    X(0x90, bcc, Relative, 2) X(0x91, sta, IndirectY, 6) X(0x92, jam, Implied, 2) X(0x93, sha, IndirectY, 6) \
    X(0x94, sty, ZeroX, 4) X(0x95, sta, ZeroX, 4) X(0x96, stx, ZeroY, 4) X(0x97, sax, ZeroY, 4) \
    X(0x98, tya, Implied, 2) X(0x99, sta, AbsoluteY, 5) X(0x9A, txs, Implied, 2) X(0x9B, tas, AbsoluteY, 5) \
    X(0x9C, shy, AbsoluteX, 5) X(0x9D, sta, AbsoluteX, 5) X(0x9E, shx, AbsoluteY, 5) X(0x9F, sha, AbsoluteY, 5) \
    X(0xA0, ldy, Immediate, 2) X(0xA1, lda, IndirectX, 6) X(0xA2, ldx, Immediate, 2) X(0xA3, lax, IndirectX, 6) \
    X(0xA4, ldy, Zero, 3) X(0xA5, lda, Zero, 3) X(0xA6, ldx, Zero, 3) X(0xA7, lax, Zero, 3) \
    X(0xA8, tay, Implied, 2) X(0xA9, lda, Immediate, 2) X(0xAA, tax, Implied, 2) X(0xAB, lxa, Immediate, 2) \
    X(0xAC, ldy, Absolute, 4) X(0xAD, lda, Absolute, 4) X(0xAE, ldx, Absolute, 4) X(0xAF, lax, Absolute, 4) \
    X(0xB0, bcs, Relative, 2) X(0xB1, lda, IndirectY, 5) X(0xB2, jam, Implied, 2) X(0xB3, lax, IndirectY, 5) \
    X(0xB4, ldy, ZeroX, 4) X(0xB5, lda, ZeroX, 4) X(0xB6, ldx, ZeroY, 4) X(0xB7, lax, ZeroY, 4) \
    X(0xB8, clv, Implied, 2) X(0xB9, lda, AbsoluteY, 4) X(0xBA, tsx, Implied, 2) X(0xBB, las, AbsoluteY, 4) \
    X(0xBC, ldy, AbsoluteX, 4) X(0xBD, lda, AbsoluteX, 4) X(0xBE, ldx, AbsoluteY, 4) X(0xBF, lax, AbsoluteY, 4) \
    X(0xC0, cpy, Immediate, 2) X(0xC1, cmp, IndirectX, 6) X(0xC2, nop, Immediate, 2) X(0xC3, dcp, IndirectX, 8) \
    X(0xC4, cpy, Zero, 3) X(0xC5, cmp, Zero, 3) X(0xC6, dec, Zero, 5) X(0xC7, dcp, Zero, 5) \
    X(0xC8, iny, Implied, 2) X(0xC9, cmp, Immediate, 2) X(0xCA, dex, Implied, 2) X(0xCB, sbx, Immediate, 2) \
    X(0xCC, cpy, Absolute, 4) X(0xCD, cmp, Absolute, 4) X(0xCE, dec, Absolute, 6) X(0xCF, dcp, Absolute, 6) \
    X(0xD0, bne, Relative, 2) X(0xD1, cmp, IndirectY, 5) X(0xD2, jam, Implied, 2) X(0xD3, dcp, IndirectY, 8) \
    X(0xD4, nop, ZeroX, 4) X(0xD5, cmp, ZeroX, 4) X(0xD6, dec, ZeroX, 6) X(0xD7, dcp, ZeroX, 6) \
    X(0xD8, cld, Implied, 2) X(0xD9, cmp, AbsoluteY, 4) X(0xDA, nop, Implied, 2) X(0xDB, dcp, AbsoluteY, 7) \
    X(0xDC, nop, AbsoluteX, 4) X(0xDD, cmp, AbsoluteX, 4) X(0xDE, dec, AbsoluteX, 7) X(0xDF, dcp, AbsoluteX, 7) \
    X(0xE0, cpx, Immediate, 2) X(0xE1, sbc, IndirectX, 6) X(0xE2, nop, Immediate, 2) X(0xE3, isc, IndirectX, 8) \
    X(0xE4, cpx, Zero, 3) X(0xE5, sbc, Zero, 3) X(0xE6, inc, Zero, 5) X(0xE7, isc, Zero, 5) \
    X(0xE8, inx, Implied, 2) X(0xE9, sbc, Immediate, 2) X(0xEA, nop, Implied, 2) X(0xEB, sbc, Immediate, 2) \
    X(0xEC, cpx, Absolute, 4) X(0xED, sbc, Absolute, 4) X(0xEE, inc, Absolute, 6) X(0xEF, isc, Absolute, 6) \
    X(0xF0, beq, Relative, 2) X(0xF1, sbc, IndirectY, 5) X(0xF2, jam, Implied, 2) X(0xF3, isc, IndirectY, 8) \
    X(0xF4, nop, ZeroX, 4) X(0xF5, sbc, ZeroX, 4) X(0xF6, inc, ZeroX, 6) X(0xF7, isc, ZeroX, 6) \
    X(0xF8, sed, Implied, 2) X(0xF9, sbc, AbsoluteY, 4) X(0xFA, nop, Implied, 2) X(0xFB, isc, AbsoluteY, 7) \
    X(0xFC, nop, AbsoluteX, 4) X(0xFD, sbc, AbsoluteX, 4) X(0xFE, inc, AbsoluteX, 7) X(0xFF, isc, AbsoluteX, 7)
// clang-format on

struct Opcode {
    const char* name;
    Mode mode;
    std::uint8_t cycles;
};

#define NES_OPCODE_ROW(code, operation, mode, cycles) Opcode{#operation, Mode::mode, cycles},
constexpr std::array<Opcode, 256> kOpcodes = {NES_OPCODES(NES_OPCODE_ROW)};
#undef NES_OPCODE_ROW

constexpr int instruction_bytes(Mode mode) {
    switch (mode) {
        case Mode::Implied:
        case Mode::Accumulator:
            return 1;
        case Mode::Absolute:
        case Mode::AbsoluteX:
        case Mode::AbsoluteY:
        case Mode::Indirect:
            return 3;
        default:
            return 2;
    }
}

}  // namespace nes
