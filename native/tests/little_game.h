// Cartridges for the tests: a little game that uses every chip, and programs of random bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <vector>

namespace tests {

using Bytes = std::vector<std::uint8_t>;

constexpr int kProgramStart = 0xC000;
constexpr std::size_t kBank = 0x4000;
constexpr std::size_t kTiles = 0x2000;

inline Bytes with_header(const Bytes& program, bool tiles_are_ram) {
    Bytes file(16 + program.size() + (tiles_are_ram ? 0 : kTiles));
    const std::uint8_t begin[] = {'N', 'E', 'S', 0x1A, 1, static_cast<std::uint8_t>(tiles_are_ram ? 0 : 1), 1};
    std::copy(std::begin(begin), std::end(begin), file.begin());
    std::copy(program.begin(), program.end(), file.begin() + 16);
    for (std::size_t at = 16 + program.size(); at < file.size(); ++at)
        file[at] = static_cast<std::uint8_t>(at * 73 >> 3);
    return file;
}

// Writes 6502 code from the start of the bank on.
class Writer {
  public:
    Writer() { bytes_.reserve(kBank); }

    int here() const { return kProgramStart + static_cast<int>(bytes_.size()); }
    void code(std::initializer_list<int> bytes) {
        for (const int byte : bytes) bytes_.push_back(static_cast<std::uint8_t>(byte));
    }
    void store(int value, int address) { code({0xA9, value, 0x8D, address & 0xFF, address >> 8}); }  // LDA # STA
    void branch(int opcode, int target) { code({opcode, target - (here() + 2)}); }
    void jump(int target) { code({0x4C, target & 0xFF, target >> 8}); }

    Bytes finish(int nmi, int reset, int irq) {
        bytes_.resize(kBank - 6);
        for (const int vector : {nmi, reset, irq}) code({vector & 0xFF, vector >> 8});
        return bytes_;
    }

  private:
    Bytes bytes_;
};

// Scrolls and moves its sprites by what is held, splits the screen at sprite 0, plays samples, is interrupted by both
// chips, and counts in RAM as fast as it can: every frame ends somewhere else.
inline Bytes little_game(bool tiles_are_ram) {
    Writer at;
    const int irq = at.here();
    at.code({0x48, 0xAD, 0x15, 0x40, 0xE6, 0x20, 0x68, 0x40});  // PHA; LDA $4015; INC $20; PLA; RTI

    const int nmi = at.here();
    at.code({0x48, 0x8A, 0x48});  // PHA; TXA; PHA
    at.store(1, 0x4016);
    at.store(0, 0x4016);
    at.code({0xA2, 8});  // LDX #8
    const int bit = at.here();
    at.code({0xAD, 0x16, 0x40, 0x4A, 0x26, 0x12, 0xCA});  // LDA $4016; LSR; ROL $12; DEX
    at.branch(0xD0, bit);
    at.code({0xA5, 0x12, 0x18, 0x65, 0x13, 0x85, 0x13});  // $13 += $12
    at.code({0x9D, 0x00, 0x02, 0x8D, 0x03, 0x02});        // STA $0200,X; STA $0203
    at.code({0xA6, 0x13, 0x9D, 0x00, 0x02});              // LDX $13; STA $0200,X
    at.store(2, 0x4014);
    at.code({0xA9, 0x20, 0x8D, 0x06, 0x20, 0x8A, 0x8D, 0x06, 0x20, 0x8D, 0x07, 0x20});  // a tile at $2000+X
    at.code({0x8E, 0x05, 0x20, 0x8E, 0x05, 0x20});                                      // STX $2005 twice
    at.store(0x90, 0x2000);
    at.store(0x1F, 0x4015);
    at.code({0x68, 0xAA, 0x68, 0x40});  // PLA; TAX; PLA; RTI

    const int reset = at.here();
    at.code({0x78, 0xD8, 0xA2, 0xFF, 0x9A});  // SEI; CLD; LDX #$FF; TXS
    for (int frame = 0; frame < 2; ++frame) {
        const int wait = at.here();
        at.code({0x2C, 0x02, 0x20});  // BIT $2002
        at.branch(0x10, wait);
    }
    for (const int page : {0x00, 0x3F, 0x20}) {
        at.store(page, 0x2006);
        at.store(0, 0x2006);
        at.code({0xA0, page == 0x3F ? 1 : 8, 0xA2, 0});  // LDY #blocks; LDX #0
        const int fill = at.here();
        at.code({0x8A, 0x45, 0x30, 0x8D, 0x07, 0x20, 0xE6, 0x30, 0xE8});  // TXA; EOR $30; STA $2007; INC $30; INX
        at.branch(0xD0, fill);
        at.code({0x88});  // DEY
        at.branch(0xD0, fill);
    }
    at.store(0x8F, 0x4010);
    at.store(0x02, 0x4013);
    at.store(0x40, 0x4000);
    at.store(0x18, 0x4003);
    at.store(0x00, 0x4017);
    at.store(0x90, 0x2000);
    at.store(0x1E, 0x2001);
    at.code({0x58});  // CLI
    const int loop = at.here();
    at.code({0xE6, 0x10, 0xA5, 0x10, 0x65, 0x11, 0x85, 0x11, 0xAA, 0x9D, 0x00, 0x03});  // mixes and stores at $0300+X
    at.code({0x2C, 0x02, 0x20});                                                        // BIT $2002
    at.branch(0x50, loop);                                                              // BVC: no hit of sprite 0 yet
    at.code({0x8E, 0x05, 0x20, 0x8D, 0x05, 0x20});                                      // another scroll below
    at.jump(loop);
    return with_header(at.finish(nmi, reset, irq), tiles_are_ram);
}

// A program nobody wrote: it does what no game would do.
inline Bytes random_program(std::mt19937& random) {
    Bytes program(kBank);
    const std::uint8_t locks_up = 0x02;  // and eleven others: rare enough
    for (std::uint8_t& byte : program) {
        do {
            byte = static_cast<std::uint8_t>(random());
        } while ((byte & 0x1F) == locks_up || (byte & 0x9F) == 0x12);
        // Addresses in the range of the chips' ports come too seldom by themselves.
        if (random() % 8 == 0) byte = static_cast<std::uint8_t>(random() % 2 ? 0x20 : 0x40);
    }
    return with_header(program, random() % 2 != 0);
}

}  // namespace tests
