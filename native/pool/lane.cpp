#include "pool/lane.h"

#include <cstring>
#include <new>

namespace pool {

Lane::Lane(const Rules& rules, std::uint8_t* state, std::uint8_t* history)
    : rules_(&rules),
      console_(new (state) nes::Console),
      pattern_ram_(rules.cartridge->patterns_are_ram() ? state + sizeof(nes::Console) : nullptr),
      history_(history) {
    console_->power_on(machine());
    load_history(nullptr);
}

nes::Machine Lane::machine() const { return {rules_->cartridge, rules_->code, nullptr, pattern_ram_}; }

void Lane::step(Canvas& canvas, std::uint8_t buttons, std::uint8_t buttons2) {
    console_->controllers.held[0] = buttons;
    console_->controllers.held[1] = buttons2;
    nes::Machine around = machine();
    const bool shown = rules_->pictures.kind() != PictureKind::none;
    const int drawn = !shown ? 0 : rules_->max_of_two ? 2 : 1;
    for (int frame = drawn; frame < rules_->skip; ++frame) console_->run_frame(around);
    for (int sheet = 0; sheet < drawn; ++sheet) {
        around.drawing = canvas.sheet(sheet);
        console_->run_frame(around);
    }
    if (!shown) return;
    const nes::Picture* other = drawn == 2 ? &canvas.picture(1) : nullptr;
    rules_->pictures.write(canvas.picture(0), other,
                           history_ + static_cast<std::size_t>(oldest_) * rules_->pictures.bytes());
    oldest_ = oldest_ + 1 == rules_->stack ? 0 : oldest_ + 1;
}

void Lane::save(std::uint8_t* out) const { std::memcpy(out, console_, rules_->state_bytes()); }

void Lane::load(const std::uint8_t* state) {
    // As void: the pattern RAM behind the console is copied with it.
    std::memcpy(static_cast<void*>(console_), state, rules_->state_bytes());
}

void Lane::write_history(std::uint8_t* out) const {
    const std::size_t before_oldest = static_cast<std::size_t>(oldest_) * rules_->pictures.bytes();
    const std::size_t from_oldest = rules_->history_bytes() - before_oldest;
    std::memcpy(out, history_ + before_oldest, from_oldest);
    std::memcpy(out + from_oldest, history_, before_oldest);
}

void Lane::load_history(const std::uint8_t* frames) {
    if (rules_->history_bytes() == 0) return;
    oldest_ = 0;
    if (frames) {
        std::memcpy(history_, frames, rules_->history_bytes());
    } else {
        std::memset(history_, 0, rules_->history_bytes());
    }
}

void Lane::write_watched(std::uint8_t* out) const {
    for (const std::uint16_t address : rules_->watched) *out++ = console_->ram[address];
}

}  // namespace pool
