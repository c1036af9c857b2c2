// One console: all that it remembers, in one plain struct. Copying the bytes is saving it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "nes/apu.h"
#include "nes/controller.h"
#include "nes/machine.h"
#include "nes/mapper.h"
#include "nes/ppu.h"
#include "nes/registers.h"
#include "nes/types.h"

namespace nes {

struct Cpu {
    Cycle clock;       // the cycle in which the next instruction begins
    Cycle next_event;  // run no further than this without looking up
    Cycle poll;        // when the last instruction looked for interrupts
    Cycle nmi_cycle;   // when the waiting NMI was raised
    Cycle irq_cycle;   // when the APU's interrupt was raised
    std::uint16_t pc;
    std::uint8_t a, x, y, s, p;
    std::uint8_t nmi_waiting;
    std::uint8_t irq_off_at_poll;  // the I flag as the last instruction saw it when it looked
    std::uint8_t jammed;
    std::uint8_t frame_over;  // vblank has begun: stop at the next instruction boundary
    std::uint8_t unused[5];

    [[gnu::always_inline]] void unpack(Registers& r) const {
        r.a = a, r.x = x, r.y = y, r.s = s, r.pc = pc, r.clock = clock;
        r.set_status(p);
    }
    [[gnu::always_inline]] void pack(const Registers& r) {
        a = r.a, x = r.x, y = r.y, s = r.s, pc = r.pc, clock = r.clock;
        p = r.status();
    }
};

struct Console {
    Cpu cpu;
    Ppu ppu;
    Apu apu;
    Controllers controllers;
    Board board;
    std::uint64_t frames;  // since power-on
    std::uint8_t ram[2048];

    void power_on(const Machine& machine);
    void reset(const Machine& machine);

    // Runs until the first instruction boundary after vblank begins.
    void run_frame(const Machine& machine);
    // Runs one instruction, or takes one interrupt; a jammed CPU waits for the next event.
    void step(const Machine& machine);

    // Looks at any address of the CPU without consequences; registers read as 0.
    std::uint8_t peek(std::uint16_t address, const Machine& machine) const;

    // -- for the bus: something that time depends on has changed
    void schedule();
    // Brings the PPU across the vblank if it begins before `at`.
    void pass_vblank(Dot at, const Machine& machine);
    // Whether an NMI was waiting by then; it no longer is.
    bool take_nmi(Cycle by);

  private:
    void wait_jammed();
    void interpret_program(const Machine& machine);
    void execute(const Machine& machine);
    bool attend(const Machine& machine);
    void interrupt(std::uint16_t vector, const Machine& machine);
    void feed_samples();
};

static_assert(std::is_trivially_copyable_v<Console>);
static_assert(std::has_unique_object_representations_v<Console>, "a console has padding: name it, so that it is saved");

constexpr Dot dot_at(Cycle cycle) {
    return cycle * kDotsPerCycle + 2;
}  // a register is reached after two of three dots

}  // namespace nes
