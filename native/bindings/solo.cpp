#include "bindings/solo.h"

#include <array>
#include <cstring>
#include <new>
#include <stdexcept>

#include "nes/palette.h"
#include "nes/state.h"
#include "screen/colour.h"

namespace bindings {

namespace {

constexpr std::array<char, 8> kMagic = {'R', 'S', 'P', 'N', 'S', 'A', 'V', 'E'};

struct Header {
    std::array<char, 8> magic;
    std::uint32_t layout;
    std::uint32_t state_bytes;
    std::array<char, 16> program_hash;
};

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

std::size_t state_bytes(const nes::Cartridge& game) {
    return sizeof(nes::Console) + (game.patterns_are_ram() ? nes::kPatternBytes : 0);
}

}  // namespace

Solo::Solo(const Cartridge& cartridge)
    : cartridge_(cartridge),
      state_(state_bytes(*cartridge.game)),
      console_(new (state_.at(0)) nes::Console),
      pattern_ram_(cartridge.game->patterns_are_ram() ? state_.at(sizeof(nes::Console)) : nullptr) {
    if (pattern_ram_) tiles_.resize(nes::kTiles);
    screen::use_colour_shades(picture_);
    drawing_.picture = &picture_;
    drawing_.tiles = tiles_.data();
    console_->power_on(machine());
}

nes::Machine Solo::machine(nes::Drawing* drawing) const {
    const nes::Code* code = cartridge_.code && !interpret ? &cartridge_.code->code() : nullptr;
    return {cartridge_.game.get(), code, drawing, pattern_ram_};
}

void Solo::frame(std::uint8_t buttons, std::uint8_t buttons2, bool draw) {
    console_->controllers.held[0] = buttons;
    console_->controllers.held[1] = buttons2;
    console_->run_frame(machine(draw ? &drawing_ : nullptr));
    drawn_ |= draw;
}

nes::Cycle Solo::step() {
    const nes::Cycle before = console_->cpu.clock;
    console_->step(machine());
    return console_->cpu.clock - before;
}

std::vector<std::uint8_t> Solo::coverage(std::span<const std::uint8_t> buttons) {
    std::vector<std::uint8_t> fetched(nes::kProgramBytes, 0);
    const nes::Machine around = machine();
    for (const std::uint8_t held : buttons) {
        console_->controllers.held[0] = held;
        console_->controllers.held[1] = 0;
        do {
            const std::uint16_t pc = console_->cpu.pc;
            if (pc & 0x8000) fetched[pc & 0x7FFF] = 1;
            console_->step(around);
        } while (!console_->cpu.frame_over);
    }
    return fetched;
}

std::span<const std::uint8_t> Solo::pattern_ram() const {
    if (!pattern_ram_) return {};
    return {pattern_ram_, static_cast<std::size_t>(nes::kPatternBytes)};
}

std::string Solo::save() const {
    const std::size_t bytes = state_bytes(*cartridge_.game);
    Header header{kMagic, nes::kStateLayout, static_cast<std::uint32_t>(bytes), {}};
    std::memcpy(header.program_hash.data(), cartridge_.hash.data(), header.program_hash.size());
    std::string saved(sizeof header + bytes, '\0');
    std::memcpy(saved.data(), &header, sizeof header);
    std::memcpy(saved.data() + sizeof header, state_.at(0), bytes);
    return saved;
}

void Solo::load(std::span<const std::uint8_t> saved) {
    Header header;
    if (saved.size() < sizeof header || std::memcmp(saved.data(), kMagic.data(), kMagic.size()) != 0) {
        refuse("these " + std::to_string(saved.size()) + " bytes are no saved console; pass what save() answered");
    }
    std::memcpy(&header, saved.data(), sizeof header);
    if (header.layout != nes::kStateLayout) {
        refuse("this console was saved by an engine with other fields than this one's; save it anew");
    }
    if (std::memcmp(header.program_hash.data(), cartridge_.hash.data(), header.program_hash.size()) != 0) {
        refuse("this console was saved while it played program " +
               std::string(header.program_hash.data(), header.program_hash.size()) + ", and this one plays " +
               cartridge_.hash);
    }
    const std::size_t bytes = state_bytes(*cartridge_.game);
    if (header.state_bytes != bytes || saved.size() != sizeof header + bytes) {
        refuse("a saved console of this game has " + std::to_string(sizeof header + bytes) + " bytes, and " +
               std::to_string(saved.size()) + " came");
    }
    nes::Console console;
    std::memcpy(&console, saved.data() + sizeof header, sizeof console);
    if (!nes::plausible(console)) refuse("this saved console holds what no console can; its bytes are damaged");
    std::memcpy(state_.at(0), saved.data() + sizeof header, bytes);
}

const nes::Picture& Solo::picture() const {
    if (!drawn_) refuse("no frame has been drawn yet; run one with frame(draw=True)");
    return picture_;
}

void Solo::write_grey(int height, int width, std::uint8_t* out) {
    if (!resizer_ || resizer_->height() != height || resizer_->width() != width) resizer_.emplace(height, width);
    std::vector<std::uint8_t> grey(picture().pixels.begin(), picture().pixels.end());
    for (std::uint8_t& pixel : grey) pixel = nes::luma(nes::kPalette[pixel & 63]);
    resizer_->resize(grey.data(), nullptr, out);
}

}  // namespace bindings
