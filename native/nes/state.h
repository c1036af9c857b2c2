// Every field of a console by name, and what makes bytes from outside a console that may be run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nes/console.h"

namespace nes {

// Calls visit(name, field) for every field; the order is that of the struct.
template <class AnyConsole, class Visit>
constexpr void visit_fields(AnyConsole& console, Visit&& visit) {
#define NES_FIELD(field) visit(#field, console.field);
    // clang-format off
    NES_FIELD(cpu.clock) NES_FIELD(cpu.next_event) NES_FIELD(cpu.poll) NES_FIELD(cpu.nmi_cycle) NES_FIELD(cpu.irq_cycle)
    NES_FIELD(cpu.pc) NES_FIELD(cpu.a) NES_FIELD(cpu.x) NES_FIELD(cpu.y) NES_FIELD(cpu.s) NES_FIELD(cpu.p)
    NES_FIELD(cpu.nmi_waiting) NES_FIELD(cpu.irq_off_at_poll) NES_FIELD(cpu.jammed) NES_FIELD(cpu.frame_over)
    NES_FIELD(cpu.unused)

    NES_FIELD(ppu.vblank_dot) NES_FIELD(ppu.line0_dot) NES_FIELD(ppu.next_vblank) NES_FIELD(ppu.synced)
    NES_FIELD(ppu.hit_dot) NES_FIELD(ppu.overflow_dot) NES_FIELD(ppu.data_read)
    NES_FIELD(ppu.v) NES_FIELD(ppu.t) NES_FIELD(ppu.stream) NES_FIELD(ppu.stream_line) NES_FIELD(ppu.stream_tile)
    NES_FIELD(ppu.fine_x) NES_FIELD(ppu.second_write) NES_FIELD(ppu.control) NES_FIELD(ppu.mask) NES_FIELD(ppu.flags)
    NES_FIELD(ppu.cleared) NES_FIELD(ppu.foreseen) NES_FIELD(ppu.unset_vblank) NES_FIELD(ppu.odd)
    NES_FIELD(ppu.oam_address) NES_FIELD(ppu.read_buffer) NES_FIELD(ppu.bus) NES_FIELD(ppu.unused)
    NES_FIELD(ppu.palette) NES_FIELD(ppu.oam) NES_FIELD(ppu.vram)

    NES_FIELD(apu.step_at) NES_FIELD(apu.sample_at) NES_FIELD(apu.irq_until) NES_FIELD(apu.buffer_free)
    NES_FIELD(apu.sample_address) NES_FIELD(apu.sample_left) NES_FIELD(apu.sample_start) NES_FIELD(apu.sample_length)
    NES_FIELD(apu.sample_control) NES_FIELD(apu.step) NES_FIELD(apu.five_steps) NES_FIELD(apu.irq_off)
    NES_FIELD(apu.frame_irq) NES_FIELD(apu.sample_irq) NES_FIELD(apu.enabled) NES_FIELD(apu.halted)
    NES_FIELD(apu.length) NES_FIELD(apu.unused)

    NES_FIELD(controllers.held) NES_FIELD(controllers.shifted) NES_FIELD(controllers.strobe) NES_FIELD(controllers.unused)
    NES_FIELD(board.unused)
    NES_FIELD(frames)
    NES_FIELD(ram)
    // clang-format on
#undef NES_FIELD
}

constexpr std::size_t listed_bytes() {
    const Console console{};
    std::size_t sum = 0;
    visit_fields(console, [&sum](const char*, const auto& field) { sum += sizeof field; });
    return sum;
}

static_assert(listed_bytes() == sizeof(Console), "a field of a chip is missing in visit_fields, or listed twice");

constexpr std::uint32_t hashed_layout() {
    const Console console{};
    std::uint32_t hash = 0x811C9DC5;  // FNV-1a
    const auto take = [&hash](std::size_t number) { hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x01000193; };
    visit_fields(console, [&take](const char* name, const auto& field) {
        while (*name) take(static_cast<unsigned char>(*name++));
        take(sizeof field);
    });
    return hash;
}

// Names the layout of Console: a state that was saved with another one is refused.
constexpr std::uint32_t kStateLayout = hashed_layout();

// Whether a console with these fields can run without leaving its arrays or its time. A console that ran from power-on
// always can; any other bytes may not.
bool plausible(const Console& console);

}  // namespace nes
