// What each instruction does to the registers and to its operand: pure functions, no memory and no time.
// The interpreter and the recompiled code are both made of these, so that a rule of the 6502 is written once.
#pragma once

#include <cstdint>

#include "nes/registers.h"

// Everything of an instruction must become one piece of code, or the interpreter is many times slower; sanitizers make
// so much of it that compilers do not come to an end.
#ifdef RESPAWN_SANITIZED
#define NES_INLINE inline
#else
#define NES_INLINE [[gnu::always_inline]] inline
#endif

namespace nes::instructions {

using Byte = std::uint8_t;

// -- reading an operand

NES_INLINE void set_nz(Registers& r, Byte value) { r.nz = value; }

NES_INLINE void lda(Registers& r, Byte m) { set_nz(r, r.a = m); }
NES_INLINE void ldx(Registers& r, Byte m) { set_nz(r, r.x = m); }
NES_INLINE void ldy(Registers& r, Byte m) { set_nz(r, r.y = m); }
NES_INLINE void lax(Registers& r, Byte m) { set_nz(r, r.a = r.x = m); }
NES_INLINE void and_(Registers& r, Byte m) { set_nz(r, r.a = static_cast<Byte>(r.a & m)); }
NES_INLINE void ora(Registers& r, Byte m) { set_nz(r, r.a = static_cast<Byte>(r.a | m)); }
NES_INLINE void eor(Registers& r, Byte m) { set_nz(r, r.a = static_cast<Byte>(r.a ^ m)); }

NES_INLINE void adc(Registers& r, Byte m) {
    const unsigned sum = unsigned{r.a} + m + r.carry;
    r.overflow = static_cast<Byte>(((r.a ^ sum) & (m ^ sum)) >> 7 & 1);
    r.carry = static_cast<Byte>(sum >> 8);
    set_nz(r, r.a = static_cast<Byte>(sum));
}

NES_INLINE void sbc(Registers& r, Byte m) { adc(r, static_cast<Byte>(~m)); }

NES_INLINE void compare(Registers& r, Byte reg, Byte m) {
    r.carry = reg >= m;
    set_nz(r, static_cast<Byte>(reg - m));
}

NES_INLINE void cmp(Registers& r, Byte m) { compare(r, r.a, m); }
NES_INLINE void cpx(Registers& r, Byte m) { compare(r, r.x, m); }
NES_INLINE void cpy(Registers& r, Byte m) { compare(r, r.y, m); }

NES_INLINE void bit(Registers& r, Byte m) {
    r.overflow = m >> 6 & 1;
    r.nz = static_cast<std::uint16_t>((r.a & m) | ((m & 0x80) << 1));
}

NES_INLINE void anc(Registers& r, Byte m) {
    and_(r, m);
    r.carry = r.a >> 7;
}

NES_INLINE void alr(Registers& r, Byte m) {
    const Byte both = r.a & m;
    r.carry = both & 1;
    set_nz(r, r.a = both >> 1);
}

NES_INLINE void arr(Registers& r, Byte m) {
    const Byte both = r.a & m;
    set_nz(r, r.a = static_cast<Byte>(both >> 1 | r.carry << 7));
    r.carry = r.a >> 6 & 1;
    r.overflow = (r.a >> 6 ^ r.a >> 5) & 1;
}

NES_INLINE void sbx(Registers& r, Byte m) {
    const Byte both = r.a & r.x;
    r.carry = both >= m;
    set_nz(r, r.x = static_cast<Byte>(both - m));
}

NES_INLINE void las(Registers& r, Byte m) { set_nz(r, r.a = r.x = r.s = static_cast<Byte>(r.s & m)); }

// The two whose result depends on the chip's temperature: with the constant most consoles show.
NES_INLINE void ane(Registers& r, Byte m) { set_nz(r, r.a = static_cast<Byte>((r.a | 0xEE) & r.x & m)); }
NES_INLINE void lxa(Registers& r, Byte m) { set_nz(r, r.a = r.x = static_cast<Byte>((r.a | 0xEE) & m)); }

NES_INLINE void nop(Registers&, Byte) {}

// -- changing an operand in place

NES_INLINE Byte asl(Registers& r, Byte m) {
    r.carry = m >> 7;
    m = static_cast<Byte>(m << 1);
    set_nz(r, m);
    return m;
}

NES_INLINE Byte lsr(Registers& r, Byte m) {
    r.carry = m & 1;
    m = m >> 1;
    set_nz(r, m);
    return m;
}

NES_INLINE Byte rol(Registers& r, Byte m) {
    const Byte low = r.carry;
    r.carry = m >> 7;
    m = static_cast<Byte>(m << 1 | low);
    set_nz(r, m);
    return m;
}

NES_INLINE Byte ror(Registers& r, Byte m) {
    const Byte high = static_cast<Byte>(r.carry << 7);
    r.carry = m & 1;
    m = static_cast<Byte>(m >> 1 | high);
    set_nz(r, m);
    return m;
}

NES_INLINE Byte inc(Registers& r, Byte m) {
    m = static_cast<Byte>(m + 1);
    set_nz(r, m);
    return m;
}

NES_INLINE Byte dec(Registers& r, Byte m) {
    m = static_cast<Byte>(m - 1);
    set_nz(r, m);
    return m;
}

NES_INLINE Byte slo(Registers& r, Byte m) {
    m = asl(r, m);
    ora(r, m);
    return m;
}

NES_INLINE Byte rla(Registers& r, Byte m) {
    m = rol(r, m);
    and_(r, m);
    return m;
}

NES_INLINE Byte sre(Registers& r, Byte m) {
    m = lsr(r, m);
    eor(r, m);
    return m;
}

NES_INLINE Byte rra(Registers& r, Byte m) {
    m = ror(r, m);
    adc(r, m);
    return m;
}

NES_INLINE Byte dcp(Registers& r, Byte m) {
    m = static_cast<Byte>(m - 1);
    cmp(r, m);
    return m;
}

NES_INLINE Byte isc(Registers& r, Byte m) {
    m = static_cast<Byte>(m + 1);
    sbc(r, m);
    return m;
}

// -- what a store writes

NES_INLINE Byte sta(const Registers& r) { return r.a; }
NES_INLINE Byte stx(const Registers& r) { return r.x; }
NES_INLINE Byte sty(const Registers& r) { return r.y; }
NES_INLINE Byte sax(const Registers& r) { return r.a & r.x; }

// -- registers only

NES_INLINE void tax(Registers& r) { set_nz(r, r.x = r.a); }
NES_INLINE void tay(Registers& r) { set_nz(r, r.y = r.a); }
NES_INLINE void txa(Registers& r) { set_nz(r, r.a = r.x); }
NES_INLINE void tya(Registers& r) { set_nz(r, r.a = r.y); }
NES_INLINE void tsx(Registers& r) { set_nz(r, r.x = r.s); }
NES_INLINE void txs(Registers& r) { r.s = r.x; }
NES_INLINE void inx(Registers& r) { set_nz(r, r.x = static_cast<Byte>(r.x + 1)); }
NES_INLINE void iny(Registers& r) { set_nz(r, r.y = static_cast<Byte>(r.y + 1)); }
NES_INLINE void dex(Registers& r) { set_nz(r, r.x = static_cast<Byte>(r.x - 1)); }
NES_INLINE void dey(Registers& r) { set_nz(r, r.y = static_cast<Byte>(r.y - 1)); }
NES_INLINE void clc(Registers& r) { r.carry = 0; }
NES_INLINE void sec(Registers& r) { r.carry = 1; }
NES_INLINE void clv(Registers& r) { r.overflow = 0; }
NES_INLINE void cld(Registers& r) { r.fixed &= static_cast<Byte>(~kDecimal); }
NES_INLINE void sed(Registers& r) { r.fixed |= kDecimal; }
NES_INLINE void cli(Registers& r) { r.fixed &= static_cast<Byte>(~kIrqOff); }
NES_INLINE void sei(Registers& r) { r.fixed |= kIrqOff; }
NES_INLINE void nop(Registers&) {}

// -- conditions of the branches

NES_INLINE bool bpl(const Registers& r) { return !r.negative(); }
NES_INLINE bool bmi(const Registers& r) { return r.negative(); }
NES_INLINE bool bvc(const Registers& r) { return !r.overflow; }
NES_INLINE bool bvs(const Registers& r) { return r.overflow; }
NES_INLINE bool bcc(const Registers& r) { return !r.carry; }
NES_INLINE bool bcs(const Registers& r) { return r.carry; }
NES_INLINE bool bne(const Registers& r) { return !r.zero(); }
NES_INLINE bool beq(const Registers& r) { return r.zero(); }

}  // namespace nes::instructions
