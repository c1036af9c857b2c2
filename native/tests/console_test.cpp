// Runs programs of pseudo-random bytes in every way a console can be run, and compares.
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "fuzz/properties.h"

namespace {

constexpr unsigned kPrograms = 300;

std::vector<std::uint8_t> random_bytes(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(64 + random() % 600);
    for (auto& value : bytes) value = static_cast<std::uint8_t>(random());
    return bytes;
}

}  // namespace

int main() {
    int failures = 0;
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
