// One console of a pool and the pictures it has shown last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nes/console.h"
#include "pool/pictures.h"

namespace pool {

// What all lanes of a pool have in common.
struct Rules {
    const nes::Cartridge* cartridge;
    const nes::Code* code;  // null: interpret
    PictureFormat pictures;
    int skip;                            // frames a step; only the last of them is drawn
    int stack;                           // pictures kept
    bool max_of_two;                     // the last two frames are drawn, and the larger of both is kept
    std::vector<std::uint16_t> watched;  // addresses of RAM

    std::size_t state_bytes() const {
        return sizeof(nes::Console) + (cartridge->patterns_are_ram() ? nes::kPatternBytes : 0);
    }
    std::size_t history_bytes() const { return pictures.bytes() * static_cast<std::size_t>(stack); }
};

// A view of memory that the pool owns: `state` holds a console and, behind it, its pattern RAM if it has any.
class Lane {
  public:
    Lane(const Rules& rules, std::uint8_t* state, std::uint8_t* history);

    // Runs `skip` frames with these buttons held.
    void step(Canvas& canvas, std::uint8_t buttons, std::uint8_t buttons2);

    void save(std::uint8_t* out) const;
    // The bytes must be plausible.
    void load(const std::uint8_t* state);

    // From the oldest picture to the newest.
    void write_history(std::uint8_t* out) const;
    // Null: as if nothing but black had been shown.
    void load_history(const std::uint8_t* frames);

    void write_watched(std::uint8_t* out) const;

  private:
    nes::Machine machine() const;

    const Rules* rules_;
    nes::Console* console_;
    std::uint8_t* pattern_ram_;
    std::uint8_t* history_;  // a ring
    int oldest_ = 0;         // the picture that the next one replaces
};

}  // namespace pool
