// A saved state from anywhere is refused or played on.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fuzz/properties.h"

namespace {

constexpr int kFrames = 3;

// A state of a running game with some of its fields changed: moved a little, or replaced.
void change_fields(nes::Console& console, fuzz::Input& input) {
    const int changes = 1 + input.below(8);
    for (int change = 0; change < changes; ++change) {
        const int chosen = input.byte();
        const std::uint8_t how = input.byte();
        int number = 0;
        nes::visit_fields(console, [&](const char*, auto& field) {
            if (number++ != chosen) return;
            using Field = std::remove_reference_t<decltype(field)>;
            if constexpr (std::is_integral_v<Field>) {
                if (how & 1) {
                    field = static_cast<Field>(static_cast<std::uint64_t>(field) +
                                               static_cast<std::uint64_t>(static_cast<std::int16_t>(input.word())));
                    return;
                }
            }
            const auto bytes = input.take(sizeof field);
            std::memcpy(&field, bytes.data(), bytes.size());
        });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    fuzz::Input input({data, size});
    const std::uint8_t shape = input.byte();
    fuzz::Input changes(input.take(64));
    const fuzz::Game game = fuzz::make_game(input);
    const auto cartridge = std::make_unique<nes::Cartridge>(nes::Cartridge::parse(game.file));
    fuzz::Lane lane(*cartridge);
    for (int frame = 0; frame < (shape & 3); ++frame) lane.console.run_frame(lane.machine());
    change_fields(lane.console, changes);
    if (!nes::plausible(lane.console)) return 0;

    const auto canvas = std::make_unique<fuzz::Canvas>();
    for (int frame = 0; frame < kFrames; ++frame) {
        const std::uint64_t before = lane.console.frames;
        lane.console.run_frame(lane.machine((shape & 4) ? &canvas->drawing : nullptr));
        if (lane.console.frames != before + 1 || !nes::plausible(lane.console)) std::abort();
    }
    return 0;
}
