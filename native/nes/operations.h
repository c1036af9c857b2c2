// The operations as types, so that one template can be made for each pair of operation and addressing mode.
#pragma once

#include "nes/instructions.h"
#include "nes/registers.h"

namespace nes {

using Byte = std::uint8_t;

namespace operations {

enum class Kind { Register, Read, Store, Modify, Branch, Control };

#define NES_REGISTER(name)                                                  \
    struct name {                                                           \
        static constexpr Kind kind = Kind::Register;                        \
        NES_INLINE static void run(Registers& r) { instructions::name(r); } \
    };
#define NES_READ(name)                                                                 \
    struct name {                                                                      \
        static constexpr Kind kind = Kind::Read;                                       \
        NES_INLINE static void run(Registers& r, Byte m) { instructions::name(r, m); } \
    };
#define NES_STORE(name)                                                            \
    struct name {                                                                  \
        static constexpr Kind kind = Kind::Store;                                  \
        NES_INLINE static Byte run(Registers& r) { return instructions::name(r); } \
    };
#define NES_MODIFY(name)                                                                      \
    struct name {                                                                             \
        static constexpr Kind kind = Kind::Modify;                                            \
        NES_INLINE static Byte run(Registers& r, Byte m) { return instructions::name(r, m); } \
    };
#define NES_BRANCH(name)                                                           \
    struct name {                                                                  \
        static constexpr Kind kind = Kind::Branch;                                 \
        NES_INLINE static bool run(Registers& r) { return instructions::name(r); } \
    };
#define NES_CONTROL(name)                           \
    struct name {                                   \
        static constexpr Kind kind = Kind::Control; \
    };

// clang-format off
NES_REGISTER(tax) NES_REGISTER(tay) NES_REGISTER(txa) NES_REGISTER(tya) NES_REGISTER(tsx) NES_REGISTER(txs)
NES_REGISTER(inx) NES_REGISTER(iny) NES_REGISTER(dex) NES_REGISTER(dey)
NES_REGISTER(clc) NES_REGISTER(sec) NES_REGISTER(clv) NES_REGISTER(cld) NES_REGISTER(sed)
NES_READ(lda) NES_READ(ldx) NES_READ(ldy) NES_READ(lax) NES_READ(and_) NES_READ(ora) NES_READ(eor) NES_READ(adc)
NES_READ(sbc) NES_READ(cmp) NES_READ(cpx) NES_READ(cpy) NES_READ(bit) NES_READ(anc) NES_READ(alr) NES_READ(arr)
NES_READ(sbx) NES_READ(las) NES_READ(ane) NES_READ(lxa) NES_READ(nop)
NES_STORE(sta) NES_STORE(stx) NES_STORE(sty) NES_STORE(sax)
NES_MODIFY(asl) NES_MODIFY(lsr) NES_MODIFY(rol) NES_MODIFY(ror) NES_MODIFY(inc) NES_MODIFY(dec)
NES_MODIFY(slo) NES_MODIFY(rla) NES_MODIFY(sre) NES_MODIFY(rra) NES_MODIFY(dcp) NES_MODIFY(isc)
NES_BRANCH(bpl) NES_BRANCH(bmi) NES_BRANCH(bvc) NES_BRANCH(bvs)
NES_BRANCH(bcc) NES_BRANCH(bcs) NES_BRANCH(bne) NES_BRANCH(beq)
NES_CONTROL(brk) NES_CONTROL(rti) NES_CONTROL(rts) NES_CONTROL(jsr) NES_CONTROL(jmp)
NES_CONTROL(php) NES_CONTROL(plp) NES_CONTROL(pha) NES_CONTROL(pla) NES_CONTROL(cli) NES_CONTROL(sei)
NES_CONTROL(jam) NES_CONTROL(sha) NES_CONTROL(shx) NES_CONTROL(shy) NES_CONTROL(tas)
// clang-format on

#undef NES_REGISTER
#undef NES_READ
#undef NES_STORE
#undef NES_MODIFY
#undef NES_BRANCH
#undef NES_CONTROL

}  // namespace operations

}  // namespace nes
