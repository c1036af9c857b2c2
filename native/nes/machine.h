// What surrounds a console's state while it runs: the game, which many share, and where a picture goes.
#pragma once

#include <cstdint>

#include "nes/cartridge.h"
#include "nes/code.h"
#include "nes/drawing.h"

namespace nes {

struct Machine {
    const Cartridge* cartridge;
    const Code* code = nullptr;           // the game's program as native code; null: interpret it
    Drawing* drawing = nullptr;           // null: this frame is not drawn
    std::uint8_t* pattern_ram = nullptr;  // for a cartridge that has RAM there

    const std::uint8_t* patterns() const { return pattern_ram ? pattern_ram : cartridge->patterns.data(); }
};

}  // namespace nes
