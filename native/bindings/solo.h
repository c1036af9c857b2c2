// One console with memory of its own: for movies, tools and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/cartridge.h"
#include "nes/console.h"
#include "nes/drawing.h"
#include "pool/memory.h"
#include "screen/grey.h"

namespace bindings {

// Functions throw std::invalid_argument with one sentence.
class Solo {
  public:
    explicit Solo(const Cartridge& cartridge);

    void frame(std::uint8_t buttons, std::uint8_t buttons2, bool draw);
    // One instruction or interrupt; answers its cycles.
    nes::Cycle step();
    void reset() { console_->reset(machine()); }
    // Interprets a frame for each byte of buttons; marks each program address at which an instruction began.
    std::vector<std::uint8_t> coverage(std::span<const std::uint8_t> buttons);

    nes::Console& console() { return *console_; }
    const nes::Console& console() const { return *console_; }
    std::span<const std::uint8_t> pattern_ram() const;
    std::uint8_t read(std::uint16_t address) const { return console_->peek(address, machine()); }

    // A header that names the engine's layout and the program, then the raw state.
    std::string save() const;
    void load(std::span<const std::uint8_t> saved);

    // Of the last drawn frame.
    const nes::Picture& picture() const;
    void write_grey(int height, int width, std::uint8_t* out);

    bool interpret = false;  // never use recompiled code

  private:
    nes::Machine machine(nes::Drawing* drawing = nullptr) const;

    Cartridge cartridge_;
    pool::Memory state_;
    nes::Console* console_;
    std::uint8_t* pattern_ram_;
    nes::Picture picture_;
    nes::Drawing drawing_;
    std::vector<nes::TilePixels> tiles_;
    bool drawn_ = false;
    std::optional<screen::GreyResizer> resizer_;  // of the size asked for last
};

}  // namespace bindings
