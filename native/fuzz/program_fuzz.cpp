// Whatever a game does, it does it the same way however it is run.
#include <cstdio>
#include <cstdlib>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input({data, size});
    const fuzz::Game game = fuzz::make_game(input);
    const std::string broken = fuzz::Properties(game).broken();
    if (broken.empty()) return 0;
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
}
