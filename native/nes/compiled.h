// What a compiled program is made of besides the instruction bodies: plain memory at hand, everything else by asking.
#pragma once

#include "nes/bus.h"
#include "nes/code.h"
#include "nes/console.h"

namespace nes {

struct Compiled {
    Console& console;
    const Machine& machine;
    const CodeHost& host;
    std::uint8_t* const ram;
    const std::uint8_t* const program;
    Cycle last_round = -1;  // when the waiting loop was last at its head
    std::uint16_t last_head = 0;

    NES_INLINE Compiled(Console& state, const Machine& surroundings, const CodeHost& engine)
        : console(state),
          machine(surroundings),
          host(engine),
          ram(state.ram),
          program(surroundings.cartridge->program.data()) {}

    NES_INLINE bool near_event(const Registers& r, int reach) const {
        return __builtin_expect(r.clock + reach > console.cpu.next_event, 0);
    }

    NES_INLINE void leave(const Registers& r) {
        console.cpu.pack(r);
        console.cpu.poll = r.clock - 2;
        console.cpu.irq_off_at_poll = (r.fixed & kIrqOff) ? 1 : 0;
    }

    // At the end of a round. Only the second in a row is known to equal the one before it.
    NES_INLINE void wait(Registers& r, std::uint16_t head, int period) {
        if (last_head == head && r.clock - last_round == period)
            r.clock = host.wait(console, machine, head, r.clock, last_round);
        last_head = head;
        last_round = r.clock;
    }

    // -- stack

    NES_INLINE void push(Registers& r, std::uint8_t value) {
        ram[0x100 | r.s] = value;
        --r.s;
    }
    NES_INLINE std::uint8_t pull(Registers& r) {
        ++r.s;
        return ram[0x100 | r.s];
    }
    NES_INLINE void push_word(Registers& r, std::uint16_t value) {
        push(r, static_cast<std::uint8_t>(value >> 8));
        push(r, static_cast<std::uint8_t>(value));
    }
    NES_INLINE std::uint16_t pull_word(Registers& r) {
        const std::uint8_t low = pull(r);
        return static_cast<std::uint16_t>(low | pull(r) << 8);
    }
    NES_INLINE void pha(Registers& r) { push(r, r.a); }
    NES_INLINE void php(Registers& r) { push(r, r.status() | kBreak); }
    NES_INLINE void pla(Registers& r) { instructions::lda(r, pull(r)); }

    // Answers whether an interrupt that had waited for this is now due.
    NES_INLINE bool return_from_interrupt(Registers& r) {
        r.set_status(pull(r));
        r.pc = pull_word(r);
        // A register may raise an interrupt before the next check, and then asks whether it is let in.
        console.cpu.p = static_cast<std::uint8_t>((console.cpu.p & ~kIrqOff) | (r.fixed & kIrqOff));
        if (!console.apu.irq() || (r.fixed & kIrqOff)) return false;
        console.cpu.next_event = 0;
        return true;
    }

    // -- pointers

    NES_INLINE std::uint16_t word_at(std::uint8_t zero_page) const {
        return static_cast<std::uint16_t>(ram[zero_page] | ram[static_cast<std::uint8_t>(zero_page + 1)] << 8);
    }
    NES_INLINE std::uint32_t pointer_x(const Registers& r, std::uint8_t operand) const {
        return word_at(static_cast<std::uint8_t>(operand + r.x));
    }
    // Where a write through a pointer goes; 0x10000 where a stray read on the way could be noticed.
    NES_INLINE std::uint32_t pointer_y(const Registers& r, std::uint8_t operand) const {
        const std::uint16_t base = word_at(operand);
        const auto place = static_cast<std::uint16_t>(base + r.y);
        const auto unfinished = static_cast<std::uint16_t>((base & 0xFF00) | (place & 0xFF));
        return is_io(unfinished) ? 0x10000 : place;
    }
    NES_INLINE std::uint16_t pointer(std::uint16_t low, std::uint16_t high) const {
        return static_cast<std::uint16_t>(plain(low) | plain(high) << 8);
    }

    // -- reads and writes whose address is only known now

    NES_INLINE static bool is_io(std::uint16_t address) {
        return static_cast<std::uint16_t>(address - 0x2000) < 0x2020;
    }

    NES_INLINE std::uint8_t plain(std::uint16_t address) const {
        return (address & 0x8000) ? program[address & 0x7FFF] : ram[address & 0x7FF];
    }

    NES_INLINE std::uint8_t read(std::uint32_t address, Cycle at) {
        if (address < 0x2000) return ram[address & 0x7FF];
        if (address >= 0x8000) return program[address & 0x7FFF];
        return host.read(console, machine, static_cast<std::uint16_t>(address), at,
                         static_cast<std::uint8_t>(address >> 8));
    }

    NES_INLINE std::uint8_t read_io(Registers& r, std::uint16_t address) {
        return host.read(console, machine, address, r.clock - 1, static_cast<std::uint8_t>(address >> 8));
    }

    NES_INLINE std::uint8_t read_indexed(Registers& r, std::uint16_t base, std::uint8_t index) {
        const auto address = static_cast<std::uint16_t>(base + index);
        const auto unfinished = static_cast<std::uint16_t>((base & 0xFF00) | (address & 0xFF));
        const auto open = static_cast<std::uint8_t>(base >> 8);
        if (address != unfinished) {
            ++r.clock;
            if (is_io(unfinished)) host.read(console, machine, unfinished, r.clock - 2, open);
        }
        if (address < 0x2000) return ram[address & 0x7FF];
        if (address & 0x8000) return program[address & 0x7FFF];
        return host.read(console, machine, address, r.clock - 1, open);
    }

    NES_INLINE std::uint8_t read_y(Registers& r, std::uint8_t operand) {
        return read_indexed(r, word_at(operand), r.y);
    }

    NES_INLINE void write_io(Registers& r, std::uint16_t address, std::uint8_t value) {
        r.clock += host.write(console, machine, address, value, r.clock - 1);
    }

    NES_INLINE void write_indexed(Registers& r, std::uint16_t base, std::uint8_t index, std::uint8_t value) {
        const auto address = static_cast<std::uint16_t>(base + index);
        const auto unfinished = static_cast<std::uint16_t>((base & 0xFF00) | (address & 0xFF));
        if (is_io(unfinished)) {
            host.read(console, machine, unfinished, r.clock - 2, static_cast<std::uint8_t>(base >> 8));
        }
        if (address < 0x2000) {
            ram[address & 0x7FF] = value;
        } else if (address < 0x8000) {
            write_io(r, address, value);
        }
    }

    NES_INLINE void write_wrapped(std::uint32_t address, std::uint8_t value) {
        if (address >= 0x10000) ram[address & 0x7FF] = value;
    }
};

}  // namespace nes
