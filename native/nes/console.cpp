#include "nes/console.h"

#include <algorithm>

#include "nes/bus.h"
#include "nes/interpreter.h"

namespace nes {

namespace {

constexpr std::uint16_t kNmiVector = 0xFFFA;
constexpr std::uint16_t kResetVector = 0xFFFC;
constexpr std::uint16_t kIrqVector = 0xFFFE;
constexpr Cycle kResetCycles = 8;
constexpr Cycle kInterruptCycles = 7;
constexpr Cycle kSampleCycles = 4;  // that the CPU loses to a byte of the DMC

// The only mapper yet; a second one makes this a choice by cartridge.
using Board0 = Nrom;

Cycle wait_by_head(Console& console, const Machine& machine, std::uint16_t head, Cycle clock, Cycle last) {
    return wait_in_loop(console, machine, *machine.cartridge->idle.at(head), clock, last);
}

constexpr CodeHost kHost = {read_io, write_io, wait_by_head};

std::uint16_t vector_at(std::uint16_t address, const Machine& machine) {
    const auto& program = machine.cartridge->program;
    return static_cast<std::uint16_t>(program[address & 0x7FFF] | program[(address + 1) & 0x7FFF] << 8);
}

}  // namespace

void Console::power_on(const Machine& machine) {
    *this = Console{};
    ppu.power_on();
    apu.power_on();
    cpu.s = 0xFD;
    cpu.p = kAlways | kIrqOff;
    cpu.pc = vector_at(kResetVector, machine);
    cpu.clock = kResetCycles;
    cpu.irq_off_at_poll = 1;
    if (machine.pattern_ram) std::fill_n(machine.pattern_ram, kPatternBytes, std::uint8_t{0});
    schedule();
}

void Console::reset(const Machine& machine) {
    cpu.s = static_cast<std::uint8_t>(cpu.s - 3);
    cpu.p |= kIrqOff;
    cpu.pc = vector_at(kResetVector, machine);
    cpu.nmi_waiting = cpu.jammed = 0;
    cpu.irq_off_at_poll = 1;
    ppu.reset(cpu.clock * kDotsPerCycle);
    cpu.clock += kResetCycles;
    apu.reset(cpu.clock);
    schedule();
}

void Console::run_frame(const Machine& machine) {
    if (machine.drawing) machine.drawing->begin();
    cpu.frame_over = 0;
    do {
        const bool interrupted = cpu.clock >= cpu.next_event && attend(machine);
        if (!interrupted) execute(machine);
        pass_vblank(cpu.clock * kDotsPerCycle, machine);
    } while (!cpu.frame_over);
}

void Console::step(const Machine& machine) {
    cpu.frame_over = 0;
    const bool interrupted = cpu.clock >= cpu.next_event && attend(machine);
    if (!interrupted && cpu.jammed) {
        wait_jammed();
    } else if (!interrupted) {
        Registers r;
        cpu.unpack(r);
        Bus<Board0> bus(*this, machine);
        Interpreter<Bus<Board0>>(r, bus).step();
        bus.finish(r);
    }
    pass_vblank(cpu.clock * kDotsPerCycle, machine);
}

void Console::wait_jammed() { cpu.clock = std::max(cpu.clock + 1, cpu.next_event); }

// Runs at least one instruction, then until the next event is due or the program goes on outside the cartridge.
void Console::interpret_program(const Machine& machine) {
    Registers r;
    cpu.unpack(r);
    ProgramBus<Board0> bus(*this, machine);
    if (bus.holds(r.pc)) {
        interpret(r, bus);
        bus.finish(r);
    } else {
        Bus<Board0> slow(*this, machine);
        Interpreter<Bus<Board0>>(r, slow).step();
        slow.finish(r);
    }
}

// Runs at least one instruction, then until the next event is due.
void Console::execute(const Machine& machine) {
    if (cpu.jammed) {
        wait_jammed();
        return;
    }
    if (!machine.code) {
        do {
            interpret_program(machine);
        } while (cpu.clock < cpu.next_event);
        return;
    }
    do {
        const std::uint16_t reach = (cpu.pc & 0x8000) ? machine.code->reach[cpu.pc & 0x7FFF] : 0;
        if (reach != 0 && cpu.clock + reach <= cpu.next_event) {
            machine.code->run(*this, machine, kHost);
        } else {
            Registers r;
            cpu.unpack(r);
            Bus<Board0> bus(*this, machine);
            Interpreter<Bus<Board0>>(r, bus).run_until_code();
            bus.finish(r);
        }
    } while (cpu.clock < cpu.next_event);
}

void Console::pass_vblank(Dot at, const Machine& machine) {
    if (at <= ppu.next_vblank) return;
    const bool flag_set = ppu.begin_vblank(machine);
    ++frames;
    cpu.frame_over = 1;
    if (flag_set && (ppu.control & kNmiOn)) {
        cpu.nmi_waiting = 1;
        cpu.nmi_cycle = ppu.vblank_dot / kDotsPerCycle;
    }
    schedule();
}

bool Console::take_nmi(Cycle by) {
    if (!cpu.nmi_waiting || cpu.nmi_cycle > by) return false;
    cpu.nmi_waiting = 0;
    schedule();
    return true;
}

// Between two instructions: what has become due? Answers whether an interrupt was taken.
bool Console::attend(const Machine& machine) {
    bool interrupted = false;
    const bool irq_before = apu.irq();
    apu.catch_up(cpu.clock);
    feed_samples();
    if (!irq_before && apu.irq()) cpu.irq_cycle = std::min(cpu.clock, cpu.next_event);
    if (!cpu.jammed) {
        if (take_nmi(cpu.poll)) {
            interrupted = true;
            interrupt(kNmiVector, machine);
        } else if (apu.irq() && !cpu.irq_off_at_poll && cpu.irq_cycle <= cpu.poll) {
            interrupted = true;
            interrupt(kIrqVector, machine);
        }
    }
    schedule();
    return interrupted;
}

void Console::interrupt(std::uint16_t vector, const Machine& machine) {
    const auto push = [this](int value) {
        ram[0x100 | cpu.s] = static_cast<std::uint8_t>(value);
        --cpu.s;
    };
    push(cpu.pc >> 8);
    push(cpu.pc & 0xFF);
    push((cpu.p & ~kBreak) | kAlways);
    cpu.p |= kIrqOff;
    cpu.clock += kInterruptCycles;
    // As with BRK, an NMI that comes while the registers are pushed takes the jump over.
    const Cycle pushed = cpu.clock - 4;
    pass_vblank((pushed + 1) * kDotsPerCycle, machine);
    if (vector == kIrqVector && take_nmi(pushed)) vector = kNmiVector;
    cpu.pc = vector_at(vector, machine);
    // Nobody looked for interrupts meanwhile: the handler's first instruction always comes before the next one.
    cpu.poll = -1;
    cpu.irq_off_at_poll = 1;
}

void Console::feed_samples() {
    while (apu.sample_left != 0 && apu.sample_at <= cpu.clock) {
        apu.fetched(apu.sample_at);
        cpu.clock += kSampleCycles;
    }
}

void Console::schedule() {
    const Cycle vblank = ppu.next_vblank / kDotsPerCycle + 1;
    cpu.next_event = std::min(vblank, apu.next_event());
    const bool nmi = cpu.nmi_waiting && !cpu.jammed;
    const bool irq = apu.irq() && !(cpu.p & kIrqOff) && !cpu.jammed;
    if (nmi || irq || cpu.frame_over) cpu.next_event = 0;
}

std::uint8_t Console::peek(std::uint16_t address, const Machine& machine) const {
    if (address < 0x2000) return ram[address & 0x7FF];
    if (address & 0x8000) return Board0::read_program(board, machine.cartridge->program.data(), address);
    return 0;
}

}  // namespace nes
