// Makes a game of arbitrary bytes: one that runs, waits, draws and is interrupted, instead of jamming at once.
//
// The bytes are read as a list of small pieces of program, most of them things games do: waiting for a flag, filling
// video memory, starting a sample. Some are any instruction at all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fuzz/input.h"

namespace fuzz {

struct Game {
    std::vector<std::uint8_t> file;  // iNES
    int frames = 0;                  // to be run
    int reset_at = -1;               // the frame before which the reset button is pressed
    std::array<std::uint8_t, 8> pads{};

    std::uint8_t pad(int frame, int which) const {
        return pads[static_cast<std::size_t>(2 * frame + which) % pads.size()];
    }
};

class Assembler {
  public:
    static constexpr int kMain = 0x8000;
    static constexpr int kNmi = 0xA000;
    static constexpr int kIrq = 0xB000;
    static constexpr int kRaw = 0xC000;  // samples, tables, targets of wild jumps

    Assembler(Input& input, std::uint8_t* program) : input_(input), program_(program) {}

    // Everything from $8000 to $FFFF.
    void write() {
        const std::uint8_t shape = input_.byte();
        std::fill_n(program_, 0x8000, input_.byte());
        const int again_from = input_.below(8);
        const int handler_pieces = 1 + (shape & 7);

        begin(kNmi);
        for (int piece = 0; piece < handler_pieces && !input_.empty(); ++piece) write_piece();
        emit({kRti});
        begin(kIrq);
        if (shape & 0x08) emit({kLdaAbsolute, 0x15, 0x40});  // acknowledged; without it the interrupt is stuck
        for (int piece = 0; piece < handler_pieces && !input_.empty(); ++piece) write_piece();
        emit({kRti});

        begin(kMain);
        if (shape & 0x10) set(0x2000, static_cast<std::uint8_t>(0x80 | input_.byte()));
        if (shape & 0x20) set(0x2001, static_cast<std::uint8_t>(0x18 | input_.byte()));
        if (shape & 0x40) emit({kCli});
        int again = at_;
        for (int piece = 0; piece < kMostPieces && !input_.empty(); ++piece) {
            if (piece == again_from) again = at_;
            write_piece();
        }
        jump_to(again);

        const auto raw = input_.take(0x3F00);
        std::copy(raw.begin(), raw.end(), program_ + (kRaw & 0x7FFF));
        set_vector(0xFFFA, kNmi);
        set_vector(0xFFFC, kMain);
        set_vector(0xFFFE, kIrq);
    }

  private:
    static constexpr int kMostPieces = 120;
    static constexpr std::uint8_t kLdaImmediate = 0xA9, kLdaAbsolute = 0xAD, kStaAbsolute = 0x8D, kJmp = 0x4C,
                                  kRti = 0x40, kCli = 0x58, kBne = 0xD0;
    static constexpr std::uint8_t kBranches[8] = {0x10, 0x30, 0x50, 0x70, 0x90, 0xB0, 0xD0, 0xF0};

    Input& input_;
    std::uint8_t* program_;
    int at_ = kMain;
    std::vector<int> heads_;  // of waiting loops, to jump back to

    void begin(int address) { at_ = address; }

    void emit(std::initializer_list<int> bytes) {
        for (const int value : bytes) program_[at_++ & 0x7FFF] = static_cast<std::uint8_t>(value);
    }

    void set_vector(int address, int target) {
        const std::uint8_t choice = input_.byte();
        if (choice >= 0xF0) target = input_.word();
        program_[address & 0x7FFF] = static_cast<std::uint8_t>(target);
        program_[(address + 1) & 0x7FFF] = static_cast<std::uint8_t>(target >> 8);
    }

    void set(int address, int value) { emit({kLdaImmediate, value, kStaAbsolute, address & 0xFF, address >> 8}); }
    void jump_to(int address) { emit({kJmp, address & 0xFF, address >> 8}); }
    void branch_to(int opcode, int target) { emit({opcode, target - (at_ + 2)}); }

    int port() {
        static constexpr int kPorts[] = {0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007,
                                         0x4010, 0x4012, 0x4013, 0x4014, 0x4015, 0x4016, 0x4017, 0x4003};
        return kPorts[input_.below(16)];
    }

    void write_piece() {
        switch (input_.below(21)) {
            case 0:  // anything
            case 1:
                emit({input_.byte()});
                break;
            case 2:
                emit({input_.byte(), input_.byte()});
                break;
            case 3:
                emit({input_.byte(), input_.byte(), input_.byte()});
                break;
            case 4:
            case 5: {
                const int address = port();
                set(address, input_.byte());
                break;
            }
            case 6: {  // any way to read or change a port
                static constexpr int kAccesses[] = {0xAD, 0x2C, 0xAE, 0xAC, 0xEE, 0x0E, 0xCE, 0xBD,
                                                    0xB9, 0x9D, 0xFE, 0x0C, 0x8E, 0x8C, 0xEF, 0x6C};
                const int opcode = kAccesses[input_.below(16)];
                const int address = port();
                emit({opcode, address & 0xFF, address >> 8});
                break;
            }
            case 7:
            case 8:
            case 9:
                wait();
                break;
            case 10:  // back into a waiting loop, or forward into one
                jump_to(heads_.empty() ? at_ : heads_[static_cast<std::size_t>(input_.byte()) % heads_.size()]);
                break;
            case 11:  // what the waiting loops look at
                emit({(input_.byte() & 1) ? 0xE6 : 0x85, input_.byte() & 3});
                break;
            case 12: {  // sprites from anywhere
                const int page = input_.byte();
                set(0x4014, page);
                break;
            }
            case 13: {  // a delay
                emit({0xA2, input_.byte()});
                emit({0xCA, kBne, 0xFD});
                break;
            }
            case 14: {
                static constexpr int kMasks[] = {0x58, 0x78, 0x28, 0x08, 0x40, 0x00, 0x60, 0x48};
                emit({kMasks[input_.below(8)]});
                break;
            }
            case 15: {  // an address or a scroll
                const int pair = (input_.byte() & 1) ? 0x2006 : 0x2005;
                set(pair, input_.byte());
                set(pair, input_.byte());
                break;
            }
            case 16:  // fill video memory or sprites
                fill();
                break;
            case 17:  // a sample
                set(0x4010, input_.byte());
                set(0x4012, input_.byte());
                set(0x4013, input_.byte() & 3);
                set(0x4015, 0x1F);
                break;
            case 19:  // another tile in the middle of the picture
                set(0x2001, 0);
                set(0x2006, input_.byte() & 0x1F);
                set(0x2006, input_.byte());
                set(0x2007, input_.byte());
                set(0x2007, input_.byte());
                set(0x2001, 0x1E);
                break;
            case 18: {  // a wild jump
                const int target = input_.word();
                jump_to(target);
                break;
            }
            default:  // a branch over a little
                emit({kBranches[input_.below(8)], input_.byte() & 7});
                break;
        }
    }

    // A loop that looks at something until it changes: the kind the engine knows how to skip, and its neighbours.
    void wait() {
        const int head = at_;
        heads_.push_back(head);
        const std::uint8_t how = input_.byte();
        switch (how & 7) {
            case 0:
            case 1:
                emit({kLdaAbsolute, 0x02, 0x20});
                break;
            case 2:
                emit({0x2C, 0x02, 0x20});
                break;
            case 3:
                emit({(how & 8) ? 0xAE : 0x0C, 0x02, 0x20});
                break;
            case 4:
            case 5:
                emit({(how & 8) ? 0xA5 : 0x24, how >> 4 & 3});
                break;
            case 6:
                emit({kLdaAbsolute, how >> 4 & 3, (how & 8) ? 0x00 : 0x90});
                break;
            default:
                break;
        }
        const std::uint8_t then = input_.byte();
        static constexpr int kMiddles[] = {0x29, 0x49, 0xC9, 0x09, 0xE0, 0xA0};
        if ((then & 7) < 6) emit({kMiddles[then & 7], input_.byte()});
        if ((then & 0xC0) == 0xC0) {
            jump_to(head);
        } else {
            branch_to(kBranches[then >> 3 & 7], head);
        }
    }

    void fill() {
        const std::uint8_t what = input_.byte();
        emit({0xA2, input_.byte()});
        const int head = at_;
        emit({0x8A, 0x49, input_.byte()});
        if (what & 1) {
            emit({0x9D, 0x00, 0x02});
        } else {
            emit({kStaAbsolute, (what & 2) ? 0x07 : 0x04, 0x20});
        }
        emit({0xE8});
        branch_to(kBne, head);
    }
};

inline Game make_game(Input& input) {
    Game game;
    const std::uint8_t shape = input.byte();
    const bool pattern_ram = shape & 0x02;
    game.frames = 2 + (shape >> 2 & 3);
    if (shape & 0x80) game.reset_at = shape >> 4 & 3;
    for (auto& pad : game.pads) pad = (shape & 0x40) ? input.byte() : 0;
    game.file = {
        'N', 'E', 'S', 0x1A, 2, static_cast<std::uint8_t>(pattern_ram ? 0 : 1), static_cast<std::uint8_t>(shape & 1)};
    game.file.resize(16 + 0x8000);
    std::uint32_t noise = input.word() | 0x10000U;
    Assembler(input, game.file.data() + 16).write();
    if (pattern_ram) return game;
    // Half of the tiles mostly transparent, so that sprites and background miss each other as often as they meet.
    for (int index = 0; index < 0x2000; ++index) {
        noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
        game.file.push_back(static_cast<std::uint8_t>((index & 0x10) ? noise & noise >> 8 & noise >> 16 : noise));
    }
    return game;
}

}  // namespace fuzz
