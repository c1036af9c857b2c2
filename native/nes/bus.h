// The CPU's address map, and all that an access to it sets off.
#pragma once

#include "nes/console.h"
#include "nes/idle.h"
#include "nes/instructions.h"

namespace nes {

// Registers and unmapped addresses: $2000-$7FFF.
std::uint8_t read_io(Console& console, const Machine& machine, std::uint16_t address, Cycle at, std::uint8_t open);
// Answers for how many cycles the CPU is halted.
Cycle write_io(Console& console, const Machine& machine, std::uint16_t address, std::uint8_t value, Cycle at);
// The clock after as many rounds of a waiting loop as are sure to be equal to the last one, which began at `last`.
Cycle wait_in_loop(Console& console, const Machine& machine, const IdleLoop& loop, Cycle clock, Cycle last);

template <class Mapper>
class Bus {
  public:
    NES_INLINE Bus(Console& state, const Machine& surroundings)
        : console_(&state), machine_(&surroundings), program_(surroundings.cartridge->program.data()) {}

    NES_INLINE std::uint8_t fetch(std::uint16_t address, Cycle at) {
        if (address & 0x8000) return Mapper::read_program(console_->board, program_, address);
        if (address < 0x2000) return console_->ram[address & 0x7FF];
        return read_io(*console_, *machine_, address, at, static_cast<std::uint8_t>(address >> 8));
    }

    NES_INLINE std::uint8_t& low(std::uint16_t address) { return console_->ram[address]; }

    NES_INLINE std::uint8_t read(std::uint16_t address, Cycle at, std::uint8_t open) {
        if (address < 0x2000) return console_->ram[address & 0x7FF];
        if (address & 0x8000) return Mapper::read_program(console_->board, program_, address);
        return read_io(*console_, *machine_, address, at, open);
    }

    NES_INLINE Cycle write(std::uint16_t address, std::uint8_t value, Cycle at) {
        if (address < 0x2000) {
            console_->ram[address & 0x7FF] = value;
            return 0;
        }
        if (address & 0x8000) {
            Mapper::write(console_->board, address, value);
            return 0;
        }
        return write_io(*console_, *machine_, address, value, at);
    }

    NES_INLINE bool touches_io(std::uint16_t address) const {
        return static_cast<std::uint16_t>(address - 0x2000) < 0x2020;
    }

    NES_INLINE Cycle limit() const { return console_->cpu.next_event; }

    NES_INLINE bool leaves(const Registers& r) const {
        if (!(r.pc & 0x8000)) return false;
        const std::uint16_t reach = machine_->code->reach[r.pc & 0x7FFF];
        return reach != 0 && r.clock + reach <= console_->cpu.next_event;
    }

    NES_INLINE void jumped_back(Registers& r) {
        if (const IdleLoop* loop = machine_->cartridge->idle.at(r.pc)) {
            if (last_head_ == r.pc && r.clock - last_clock_ == loop->period) {
                r.clock = wait_in_loop(*console_, *machine_, *loop, r.clock, last_clock_);
            }
            last_head_ = r.pc;
            last_clock_ = r.clock;
        }
    }

    NES_INLINE void polled_early(Cycle clock, Cycle by) {
        early_clock_ = clock;
        early_by_ = by;
    }

    NES_INLINE void irq_mask_changed(Registers& r, bool before, bool at_once) {
        if (!at_once) {
            mask_clock_ = r.clock;
            mask_before_ = before;
        }
        // Who schedules the next event during this run must know the flag as it is now.
        console_->cpu.p = static_cast<std::uint8_t>((console_->cpu.p & ~kIrqOff) | (r.fixed & kIrqOff));
        if (console_->apu.irq() && !(r.fixed & kIrqOff)) console_->cpu.next_event = 0;
    }

    bool takes_nmi(Cycle by) {
        console_->pass_vblank((by + 1) * kDotsPerCycle, *machine_);
        return console_->take_nmi(by);
    }

    NES_INLINE void jam() {
        console_->cpu.jammed = 1;
        console_->cpu.next_event = 0;
    }

    // Puts down what the next look at interrupts needs to know of the last instruction.
    NES_INLINE void finish(const Registers& r) {
        console_->cpu.pack(r);
        console_->cpu.poll = r.clock - 2 - (early_clock_ == r.clock ? early_by_ : 0);
        const bool now = r.fixed & kIrqOff;
        console_->cpu.irq_off_at_poll = mask_clock_ == r.clock ? mask_before_ : now;
    }

  protected:
    Console* console_;
    const Machine* machine_;
    const std::uint8_t* program_;

  private:
    Cycle early_clock_ = -1;
    Cycle early_by_ = 0;
    Cycle mask_clock_ = -1;
    Cycle last_clock_ = -1;
    std::uint16_t last_head_ = 0;
    bool mask_before_ = false;
};

// The same for a program that runs where programs lie, which it need not ask of every byte.
template <class Mapper>
class ProgramBus : public Bus<Mapper> {
  public:
    using Bus<Mapper>::Bus;

    // Whether a whole instruction from here on lies in the cartridge.
    NES_INLINE bool holds(std::uint16_t pc) const { return static_cast<std::uint16_t>(pc - 0x8000) <= 0x7FFD; }

    NES_INLINE std::uint8_t fetch(std::uint16_t address, Cycle) {
        return Mapper::read_program(this->console_->board, this->program_, address);
    }
};

}  // namespace nes
