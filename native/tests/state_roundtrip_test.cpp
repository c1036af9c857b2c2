// A console's bytes are all there is to it: saved, run, loaded and run again, it does the same. And bytes that a
// console never saved are either refused or harmless.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nes/console.h"
#include "nes/state.h"
#include "tests/little_game.h"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    if (failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

// A console, its surroundings and its picture.
class Player {
  public:
    explicit Player(const nes::Cartridge& cartridge) : cartridge_(&cartridge), tiles_(nes::kTiles) {
        patterns_.resize(cartridge.patterns_are_ram() ? nes::kPatternBytes : 0);
        for (std::size_t i = 0; i < picture_->shades.size(); ++i) picture_->shades[i] = static_cast<std::uint8_t>(i);
        drawing_.picture = picture_.get();
        drawing_.tiles = tiles_.data();
        console.power_on(machine(false));
    }

    nes::Machine machine(bool draw) {
        return {cartridge_, nullptr, draw ? &drawing_ : nullptr, patterns_.empty() ? nullptr : patterns_.data()};
    }

    void frame(std::uint8_t buttons, bool draw) {
        console.controllers.held[0] = buttons;
        console.run_frame(machine(draw));
    }

    tests::Bytes save() const {
        tests::Bytes bytes(sizeof console);
        std::memcpy(bytes.data(), &console, sizeof console);
        bytes.insert(bytes.end(), patterns_.begin(), patterns_.end());
        return bytes;
    }

    void load(const tests::Bytes& bytes) {
        std::memcpy(&console, bytes.data(), sizeof console);
        std::copy(bytes.begin() + sizeof console, bytes.end(), patterns_.begin());
    }

    tests::Bytes pixels() const { return {picture_->pixels.begin(), picture_->pixels.end()}; }

    nes::Console console;

  private:
    const nes::Cartridge* cartridge_;
    std::vector<std::uint8_t> patterns_;
    std::vector<nes::TilePixels> tiles_;
    std::unique_ptr<nes::Picture> picture_ = std::make_unique<nes::Picture>();
    nes::Drawing drawing_;
};

std::uint8_t random_byte(std::mt19937& random) { return static_cast<std::uint8_t>(random()); }

void saves_and_goes_on(const nes::Cartridge& cartridge, const std::string& name, std::mt19937& random) {
    Player player(cartridge);
    Player other(cartridge);
    for (int round = 0; round < 24; ++round) {
        for (unsigned frame = random() % 4; frame > 0; --frame) player.frame(random_byte(random), false);
        if (round % 3 == 1) {
            for (unsigned step = random() % 2000; step > 0; --step) {
                player.console.step(player.machine(false));
                if (!nes::plausible(player.console)) {
                    expect(false, name + ": a console between two instructions is refused");
                    return;
                }
            }
        }
        if (round % 8 == 7) player.console.reset(player.machine(false));
        expect(nes::plausible(player.console), name + ": a console that ran is refused");
        const tests::Bytes saved = player.save();
        const tests::Bytes buttons = {random_byte(random), random_byte(random), random_byte(random)};
        for (const std::uint8_t held : buttons) player.frame(held, true);
        const tests::Bytes once = player.save();
        const tests::Bytes shown = player.pixels();

        player.load(saved);
        for (const std::uint8_t held : buttons) player.frame(held, true);
        expect(player.save() == once && player.pixels() == shown, name + ": loaded, it went another way");
        other.load(saved);
        for (const std::uint8_t held : buttons) other.frame(held, false);
        expect(other.save() == once, name + ": another console, not drawn, went another way");
    }
}

// Every field that could lead out of an array or into a loop without end.
void refuses_what_cannot_be(const nes::Cartridge& cartridge) {
    const std::vector<std::pair<std::string, std::function<void(nes::Console&)>>> changes = {
        {"clock below 0", [](nes::Console& c) { c.cpu.clock = -1; }},
        {"clock far off", [](nes::Console& c) { c.cpu.clock = INT64_MAX; }},
        {"clock of another frame", [](nes::Console& c) { c.cpu.clock += 60'000; }},
        {"event far off", [](nes::Console& c) { c.cpu.next_event = INT64_MAX; }},
        {"event below 0", [](nes::Console& c) { c.cpu.next_event = INT64_MIN; }},
        {"nmi_waiting", [](nes::Console& c) { c.cpu.nmi_waiting = 2; }},
        {"jammed", [](nes::Console& c) { c.cpu.jammed = 255; }},
        {"frame_over", [](nes::Console& c) { c.cpu.frame_over = 3; }},
        {"vblank_dot", [](nes::Console& c) { c.ppu.vblank_dot += 2; }},
        {"line0_dot", [](nes::Console& c) { c.ppu.line0_dot -= 341; }},
        {"next_vblank", [](nes::Console& c) { c.ppu.next_vblank = INT64_MIN; }},
        {"synced behind", [](nes::Console& c) { c.ppu.synced = c.ppu.vblank_dot - 1; }},
        {"synced ahead", [](nes::Console& c) { c.ppu.synced = c.ppu.next_vblank + 1; }},
        {"v", [](nes::Console& c) { c.ppu.v = 0x8000; }},
        {"t", [](nes::Console& c) { c.ppu.t = 0xFFFF; }},
        {"stream", [](nes::Console& c) { c.ppu.stream = 0x8000; }},
        {"stream_line", [](nes::Console& c) { c.ppu.stream_line = 300; }},
        {"stream_line below", [](nes::Console& c) { c.ppu.stream_line = -2; }},
        {"stream_tile", [](nes::Console& c) { c.ppu.stream_tile = 41; }},
        {"fine_x", [](nes::Console& c) { c.ppu.fine_x = 8; }},
        {"palette", [](nes::Console& c) { c.ppu.palette[31] = 64; }},
        {"odd", [](nes::Console& c) { c.ppu.odd = 2; }},
        {"foreseen", [](nes::Console& c) { c.ppu.foreseen = 4; }},
        {"data_read below 0", [](nes::Console& c) { c.ppu.data_read = INT64_MIN; }},
        {"data_read far off", [](nes::Console& c) { c.ppu.data_read = INT64_MAX; }},
        {"step", [](nes::Console& c) { c.apu.step = 5; }},
        {"step of four", [](nes::Console& c) { c.apu.step = 4, c.apu.five_steps = 0; }},
        {"step_at long ago", [](nes::Console& c) { c.apu.step_at = INT64_MIN / 2; }},
        {"step_at far off", [](nes::Console& c) { c.apu.step_at = INT64_MAX / 2; }},
        {"sample long ago", [](nes::Console& c) { c.apu.sample_at = 0, c.apu.sample_left = 1; }},
        {"sample far off", [](nes::Console& c) { c.apu.sample_at = INT64_MAX; }},
        {"sample_left", [](nes::Console& c) { c.apu.sample_left = 0xFFFF; }},
        {"buffer_free", [](nes::Console& c) { c.apu.buffer_free = INT64_MIN; }},
        {"strobe", [](nes::Console& c) { c.controllers.strobe = 2; }},
    };
    Player player(cartridge);
    for (int frame = 0; frame < 30; ++frame) player.frame(0, false);
    for (const auto& [name, change] : changes) {
        nes::Console changed = player.console;
        change(changed);
        expect(!nes::plausible(changed), "a console is taken whose fault is: " + name);
    }
}

// What is not refused must run, whatever it then shows; the sanitizers watch.
void survives_made_up_bytes(const nes::Cartridge& cartridge, std::mt19937& random) {
    Player player(cartridge);
    for (int frame = 0; frame < 30; ++frame) player.frame(0, false);
    const tests::Bytes good = player.save();
    int taken = 0;
    for (int round = 0; round < 1500; ++round) {
        tests::Bytes bytes = good;
        const std::size_t head = sizeof(nes::Console) - sizeof player.console.ram;
        for (unsigned change = 1 + random() % 3; change > 0; --change) bytes[random() % head] ^= random_byte(random);
        nes::Console console;
        std::memcpy(&console, bytes.data(), sizeof console);
        if (!nes::plausible(console)) continue;
        ++taken;
        player.load(bytes);
        for (int frame = 0; frame < 3; ++frame) player.frame(random_byte(random), true);
        expect(nes::plausible(player.console), "a made-up console became one that is refused");
    }
    expect(taken > 100, "hardly any made-up console is taken: they test nothing");
}

void names_are_different() {
    std::vector<std::string> names;
    nes::Console console{};
    nes::visit_fields(console, [&names](const char* name, const auto&) {
        for (const std::string& other : names) expect(other != name, "two fields are called " + other);
        names.emplace_back(name);
    });
}

}  // namespace

int main() {
    std::mt19937 random(7);
    names_are_different();
    for (const bool tiles_are_ram : {false, true}) {
        const nes::Cartridge game = nes::Cartridge::parse(tests::little_game(tiles_are_ram));
        saves_and_goes_on(game, tiles_are_ram ? "little game with tiles in RAM" : "little game", random);
        refuses_what_cannot_be(game);
        survives_made_up_bytes(game, random);
    }
    for (int program = 0; program < 40; ++program) {
        const nes::Cartridge game = nes::Cartridge::parse(tests::random_program(random));
        saves_and_goes_on(game, "random program " + std::to_string(program), random);
    }
    if (failures) std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
