// A file from anywhere is refused or played; it never does harm.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fuzz/properties.h"

namespace {

constexpr int kFrames = 3;

// Most files are refused for their size. Every second one is given the one its header promises, by repeating itself.
std::vector<std::uint8_t> with_promised_size(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> file(bytes.begin(), bytes.end());
    file.resize(std::max<std::size_t>(file.size(), 17));
    file[0] = 'N', file[1] = 'E', file[2] = 'S', file[3] = 0x1A;
    const std::size_t content = file.size() - 16;
    const std::size_t promised =
        16U + ((file[6] & 4) ? 512U : 0U) + 0x4000U * (file[4] & 3U) + 0x2000U * (file[5] & 1U);
    const std::size_t given = file.size();
    file.resize(promised);
    for (std::size_t at = given; at < promised; ++at) file[at] = file[at - content];
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> bytes(data + 1, size - 1);
    std::vector<std::uint8_t> file(bytes.begin(), bytes.end());
    if (data[0] & 1) file = with_promised_size(bytes);
    std::unique_ptr<nes::Cartridge> cartridge;
    try {
        cartridge = std::make_unique<nes::Cartridge>(nes::Cartridge::parse(file));
    } catch (const nes::BadCartridge&) {
        return 0;
    }
    fuzz::Lane lane(*cartridge);
    const auto canvas = std::make_unique<fuzz::Canvas>();
    for (int frame = 0; frame < kFrames; ++frame) {
        lane.console.controllers.held[0] = bytes.empty() ? 0 : bytes[bytes.size() - 1 - frame % bytes.size()];
        lane.console.run_frame(lane.machine(&canvas->drawing));
        if (lane.console.frames != static_cast<std::uint64_t>(frame) + 1 || !nes::plausible(lane.console)) std::abort();
    }
    return 0;
}
