// Runs programs of pseudo-random bytes in every way a console can be run, and compares.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/properties.h"

namespace {

constexpr unsigned kPrograms = 500;

std::vector<std::uint8_t> random_bytes(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(64 + random() % 600);
    for (auto& value : bytes) value = static_cast<std::uint8_t>(random());
    return bytes;
}

// A game with the given program at $8000, from which everything starts but the reset.
fuzz::Game written_game(const std::vector<std::uint8_t>& program, std::uint16_t reset) {
    fuzz::Game game;
    game.frames = 2;
    game.file.assign(16 + 0x8000 + 0x2000, 0xEA);
    std::fill_n(game.file.begin(), 16, std::uint8_t{0});
    constexpr std::uint8_t kHeader[] = {'N', 'E', 'S', 0x1A, 2, 1};
    std::copy(std::begin(kHeader), std::end(kHeader), game.file.begin());
    std::copy(program.begin(), program.end(), game.file.begin() + 16);
    std::uint8_t* vectors = game.file.data() + 16 + 0x7FFA;
    const std::uint16_t targets[3] = {0x8000, reset, 0x9000};
    for (int vector = 0; vector < 3; ++vector) {
        vectors[2 * vector] = static_cast<std::uint8_t>(targets[vector]);
        vectors[2 * vector + 1] = static_cast<std::uint8_t>(targets[vector] >> 8);
    }
    return game;
}

// The round that reads the vblank flag clears it, so the next is not like it: the loop ends and must not be skipped.
std::string broken_by_cleared_flag() {
    // 8000: LDA $2002, BMI 8000, INC $10, JMP 8005;  800A: JMP 8000
    const auto game =
        written_game({0xAD, 0x02, 0x20, 0x30, 0xFB, 0xE6, 0x10, 0x4C, 0x05, 0x80, 0x4C, 0x00, 0x80}, 0x800A);
    return fuzz::Properties(game).broken();
}

// An interrupt that comes with another waits for the first instruction of its handler, whatever else falls due.
std::string broken_by_two_interrupts() {
    const auto game = written_game({0xEA, 0xEA}, 0x8100);
    const auto cartridge = nes::Cartridge::parse(game.file);
    fuzz::Lane lane(cartridge);
    nes::Cpu& cpu = lane.console.cpu;
    cpu.clock = 1000, cpu.poll = 998, cpu.next_event = 0;
    cpu.nmi_waiting = 1, cpu.nmi_cycle = 900, cpu.irq_cycle = 900;
    cpu.p = nes::kAlways, cpu.irq_off_at_poll = 0;
    lane.console.apu.frame_irq = 1;
    lane.console.apu.sample_left = 5, lane.console.apu.sample_at = 1003, lane.console.apu.buffer_free = 1003;
    lane.console.step(lane.machine());
    if (cpu.pc != 0x8000) return "the NMI does not come first";
    lane.console.step(lane.machine());
    return cpu.pc == 0x8001 ? "" : "the handler's first instruction is not run before the next interrupt";
}

}  // namespace

int main() {
    int failures = 0;
    for (const auto& broken : {broken_by_cleared_flag(), broken_by_two_interrupts()}) {
        if (broken.empty()) continue;
        std::printf("FAILED: %s\n", broken.c_str());
        ++failures;
    }
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
        const auto bytes = random_bytes(seed);
        fuzz::Input input(bytes);
        const fuzz::Game game = fuzz::make_game(input);
        const std::string broken = fuzz::Properties(game).broken();
        if (broken.empty()) continue;
        std::printf("FAILED: program %u: %s\n", seed, broken.c_str());
        ++failures;
    }
    std::printf("%u programs, %d failures\n", kPrograms, failures);
    return failures == 0 ? 0 : 1;
}
