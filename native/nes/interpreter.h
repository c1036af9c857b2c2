// The 6502, an instruction at a time, on any bus.
//
// A Bus offers
//   Byte fetch(Address, Cycle)                     a byte of the program
//   Byte& low(Address)                             zero page and stack, which are always plain memory
//   Byte read(Address, Cycle, Byte open)           `open`: what an unmapped address would answer
//   Cycle write(Address, Byte, Cycle)              answers the cycles the CPU is halted for afterwards
//   bool touches_io(Address)                       whether a stray read there could be noticed
//   Cycle limit()                                  run until the clock gets here
//   bool leaves(const Registers&)                  stop before this instruction: faster code is there for it
//   void jumped_back(Registers&)                   pc went to an earlier address: perhaps a waiting loop
//   void polled_early(Cycle clock, Cycle by)       the instruction that ends now looked for interrupts early
//   void irq_mask_changed(Registers&, bool, bool)  what the I flag was, and whether the change counts at once
//   bool holds(Address)                            whether fetch() may be asked for an instruction there
//   bool takes_nmi(Cycle)                          whether an NMI was raised by then; it is then dealt with
//   void jam()                                     the CPU has locked up
#pragma once

#include "nes/instructions.h"
#include "nes/opcodes.h"
#include "nes/operations.h"
#include "nes/registers.h"

namespace nes {

using Address = std::uint16_t;

constexpr Cycle kLongAgo = 1000;  // more cycles than any instruction takes

template <class Bus>
class Interpreter {
  public:
    NES_INLINE Interpreter(Registers& registers, Bus& memory) : r(registers), bus(memory) {}

    // Runs at least one instruction, then until the clock reaches the limit or the bus has faster code.
    NES_INLINE void run_until_code() {
        do {
            step();
        } while (r.clock < bus.limit() && !bus.leaves(r));
    }

    NES_INLINE void step() {
        switch (bus.fetch(r.pc, r.clock)) {
#define NES_CASE(code, operation, mode, cycles)               \
    case code:                                                \
        execute<operations::operation, Mode::mode, cycles>(); \
        break;
            NES_OPCODES(NES_CASE)
#undef NES_CASE
        }
    }

    template <class Operation, Mode mode, int kCycles>
    NES_INLINE void execute() {
        using operations::Kind;
        r.clock += kCycles;
        constexpr int kBytes = instruction_bytes(mode);
        if constexpr (Operation::kind == Kind::Register) {
            Operation::run(r);
            r.pc = static_cast<Address>(r.pc + kBytes);
        } else if constexpr (Operation::kind == Kind::Read) {
            Operation::run(r, load<mode>());
            r.pc = static_cast<Address>(r.pc + kBytes);
        } else if constexpr (Operation::kind == Kind::Store) {
            const Place place = locate<mode, true>();
            r.pc = static_cast<Address>(r.pc + kBytes);
            store<mode>(place.address, Operation::run(r));
        } else if constexpr (Operation::kind == Kind::Modify) {
            modify<Operation, mode>();
            r.pc = static_cast<Address>(r.pc + kBytes);
        } else if constexpr (Operation::kind == Kind::Branch) {
            branch(Operation::run(r));
        } else {
            control<Operation, mode>();
        }
    }

  private:
    Registers& r;
    Bus& bus;

    static constexpr Address word(Byte low, Byte high) { return static_cast<Address>(low | high << 8); }

    NES_INLINE Byte operand() { return bus.fetch(static_cast<Address>(r.pc + 1), r.clock - 1); }
    NES_INLINE Address operand_word() {
        return word(operand(), bus.fetch(static_cast<Address>(r.pc + 2), r.clock - 1));
    }

    NES_INLINE void push(Byte value) {
        bus.low(static_cast<Address>(0x100 | r.s)) = value;
        --r.s;
    }

    NES_INLINE Byte pull() {
        ++r.s;
        return bus.low(static_cast<Address>(0x100 | r.s));
    }

    struct Place {
        Address address;
        Byte open;  // the last byte the instruction put on the bus
    };

    // Indexing adds to the low byte first: the CPU reads from the page it has until the carry has reached the high
    // byte. Reads pay a cycle for that only when the page changes, writes always did.
    template <bool kWrites>
    NES_INLINE Place indexed(Address base, Byte index) {
        const auto address = static_cast<Address>(base + index);
        const auto unfinished = static_cast<Address>((base & 0xFF00) | (address & 0xFF));
        if constexpr (!kWrites) {
            if (address == unfinished) return {address, static_cast<Byte>(base >> 8)};
            ++r.clock;
        }
        if (bus.touches_io(unfinished)) {
            // The final access of a read or store is one cycle after this one; of a change in place, three.
            bus.read(unfinished, r.clock - 2, static_cast<Byte>(base >> 8));
        }
        return {address, static_cast<Byte>(base >> 8)};
    }

    template <Mode mode, bool kWrites>
    NES_INLINE Place locate() {
        if constexpr (mode == Mode::Zero) {
            return {operand(), 0};
        } else if constexpr (mode == Mode::ZeroX) {
            return {static_cast<Byte>(operand() + r.x), 0};
        } else if constexpr (mode == Mode::ZeroY) {
            return {static_cast<Byte>(operand() + r.y), 0};
        } else if constexpr (mode == Mode::Absolute) {
            const Address address = operand_word();
            return {address, static_cast<Byte>(address >> 8)};
        } else if constexpr (mode == Mode::AbsoluteX) {
            return indexed<kWrites>(operand_word(), r.x);
        } else if constexpr (mode == Mode::AbsoluteY) {
            return indexed<kWrites>(operand_word(), r.y);
        } else if constexpr (mode == Mode::IndirectX) {
            const Byte pointer = static_cast<Byte>(operand() + r.x);
            const Address address = word(bus.low(pointer), bus.low(static_cast<Byte>(pointer + 1)));
            return {address, static_cast<Byte>(address >> 8)};
        } else {
            static_assert(mode == Mode::IndirectY);
            const Byte pointer = operand();
            return indexed<kWrites>(word(bus.low(pointer), bus.low(static_cast<Byte>(pointer + 1))), r.y);
        }
    }

    static constexpr bool is_zero_page(Mode mode) {
        return mode == Mode::Zero || mode == Mode::ZeroX || mode == Mode::ZeroY;
    }

    template <Mode mode>
    NES_INLINE Byte load() {
        if constexpr (mode == Mode::Immediate) {
            return operand();
        } else if constexpr (mode == Mode::Implied) {
            return 0;  // the unofficial one-byte NOPs
        } else {
            const Place place = locate<mode, false>();
            if constexpr (is_zero_page(mode)) {
                return bus.low(place.address);
            } else {
                return bus.read(place.address, r.clock - 1, place.open);
            }
        }
    }

    template <Mode mode>
    NES_INLINE void store(Address address, Byte value) {
        if constexpr (is_zero_page(mode)) {
            bus.low(address) = value;
        } else {
            halt(bus.write(address, value, r.clock - 1));
        }
    }

    // Interrupts were looked for before the halt.
    NES_INLINE void halt(Cycle stall) {
        if (stall != 0) {
            r.clock += stall;
            bus.polled_early(r.clock, stall);
        }
    }

    template <class Operation, Mode mode>
    NES_INLINE void modify() {
        if constexpr (mode == Mode::Accumulator) {
            r.a = Operation::run(r, r.a);
        } else {
            // The stray read of indexing comes two cycles before the real one.
            constexpr bool kIndexed = !is_zero_page(mode) && mode != Mode::Absolute && mode != Mode::IndirectX;
            if constexpr (kIndexed) r.clock -= 2;
            const Place place = locate<mode, true>();
            if constexpr (kIndexed) r.clock += 2;
            if constexpr (is_zero_page(mode)) {
                Byte& cell = bus.low(place.address);
                cell = Operation::run(r, cell);
            } else {
                const Byte before = bus.read(place.address, r.clock - 3, place.open);
                // The 6502 writes the old value back while it works out the new one.
                Cycle stall = 0;
                if (bus.touches_io(place.address)) stall = bus.write(place.address, before, r.clock - 2);
                stall += bus.write(place.address, Operation::run(r, before), r.clock - 1 + stall);
                halt(stall);
            }
        }
    }

    NES_INLINE void branch(bool taken) {
        const auto offset = static_cast<std::int8_t>(operand());
        r.pc = static_cast<Address>(r.pc + 2);
        if (!taken) return;
        const auto target = static_cast<Address>(r.pc + offset);
        ++r.clock;
        if ((target ^ r.pc) & 0xFF00) {
            ++r.clock;
        } else {
            bus.polled_early(r.clock, 1);
        }
        r.pc = target;
        if (offset < 0) bus.jumped_back(r);
    }

    template <class Operation, Mode mode>
    NES_INLINE void control() {
        using namespace operations;
        if constexpr (std::is_same_v<Operation, jmp>) {
            jump<mode>();
        } else if constexpr (std::is_same_v<Operation, jsr>) {
            const auto back = static_cast<Address>(r.pc + 2);
            const Byte low = operand();
            push(static_cast<Byte>(back >> 8));
            push(static_cast<Byte>(back));
            // Fetched only now: a call whose own operand lies on the stack sees what it pushed.
            r.pc = word(low, bus.fetch(back, r.clock - 1));
        } else if constexpr (std::is_same_v<Operation, rts>) {
            const Byte low = pull();
            r.pc = static_cast<Address>(word(low, pull()) + 1);
        } else if constexpr (std::is_same_v<Operation, rti>) {
            const bool before = r.fixed & kIrqOff;
            r.set_status(pull());
            const Byte low = pull();
            r.pc = word(low, pull());
            bus.irq_mask_changed(r, before, true);
        } else if constexpr (std::is_same_v<Operation, brk>) {
            const auto back = static_cast<Address>(r.pc + 2);
            push(static_cast<Byte>(back >> 8));
            push(static_cast<Byte>(back));
            push(r.status() | kBreak);
            r.fixed |= kIrqOff;
            // An NMI that comes while the registers are pushed takes the jump over; one that comes later waits.
            const Address vector = bus.takes_nmi(r.clock - 4) ? 0xFFFA : 0xFFFE;
            r.pc = word(bus.fetch(vector, r.clock - 2), bus.fetch(static_cast<Address>(vector + 1), r.clock - 1));
            bus.polled_early(r.clock, kLongAgo);
        } else if constexpr (std::is_same_v<Operation, jam>) {
            bus.jam();
        } else if constexpr (mode == Mode::Implied) {
            r.pc = static_cast<Address>(r.pc + 1);
            stack_or_mask<Operation>();
        } else {
            store_high<Operation, mode>();
        }
    }

    template <Mode mode>
    NES_INLINE void jump() {
        const Address from = r.pc;
        const Address pointer = operand_word();
        if constexpr (mode == Mode::Absolute) {
            r.pc = pointer;
        } else {
            // The pointer's high byte comes from the same page, even past its end.
            const auto next = static_cast<Address>((pointer & 0xFF00) | ((pointer + 1) & 0xFF));
            const Byte low = bus.read(pointer, r.clock - 2, static_cast<Byte>(pointer >> 8));
            r.pc = word(low, bus.read(next, r.clock - 1, low));
        }
        if (r.pc <= from) bus.jumped_back(r);
    }

    template <class Operation>
    NES_INLINE void stack_or_mask() {
        using namespace operations;
        const bool before = r.fixed & kIrqOff;
        if constexpr (std::is_same_v<Operation, pha>) {
            push(r.a);
        } else if constexpr (std::is_same_v<Operation, php>) {
            push(r.status() | kBreak);
        } else if constexpr (std::is_same_v<Operation, pla>) {
            instructions::lda(r, pull());
        } else {
            if constexpr (std::is_same_v<Operation, plp>) r.set_status(pull());
            if constexpr (std::is_same_v<Operation, cli>) instructions::cli(r);
            if constexpr (std::is_same_v<Operation, sei>) instructions::sei(r);
            bus.irq_mask_changed(r, before, false);
        }
    }

    // The unstable stores: what they write is masked with the high byte of their address plus one, and when the
    // page changes, that value becomes the high byte of the address.
    template <class Operation, Mode mode>
    NES_INLINE void store_high() {
        using namespace operations;
        const Place place = locate<mode, true>();
        r.pc = static_cast<Address>(r.pc + instruction_bytes(mode));
        if constexpr (std::is_same_v<Operation, tas>) r.s = r.a & r.x;
        Byte value = r.a & r.x;
        if constexpr (std::is_same_v<Operation, shx>) value = r.x;
        if constexpr (std::is_same_v<Operation, shy>) value = r.y;
        value &= static_cast<Byte>(place.open + 1);
        Address address = place.address;
        if ((address >> 8) != place.open) address = static_cast<Address>((address & 0xFF) | value << 8);
        store<Mode::Absolute>(address, value);
    }
};

// Runs at least one instruction, then until the clock reaches the bus's limit or the bus no longer holds the program
// counter. Registers and bus are copied so that they live in the processor's own registers meanwhile.
#ifdef __clang__

// clang does by itself what is spelled out below, and takes minutes over it when it is spelled out.
template <class Bus>
void interpret(Registers& registers, Bus& memory) {
    Registers r = registers;
    Bus bus = memory;
    Interpreter<Bus> cpu(r, bus);
    do {
        cpu.step();
    } while (r.clock < bus.limit() && bus.holds(r.pc));
    registers = r;
    memory = bus;
}

#else

// Each instruction jumps to the next by itself, so that the processor predicts the jump by the instruction it comes
// from.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
template <class Bus>
void interpret(Registers& registers, Bus& memory) {
    Registers r = registers;
    Bus bus = memory;
    Interpreter<Bus> cpu(r, bus);
#define NES_LABEL(code, operation, mode, cycles) &&label_##code,
    static const void* const kLabels[256] = {NES_OPCODES(NES_LABEL)};
#undef NES_LABEL
    goto* kLabels[bus.fetch(r.pc, r.clock)];
#define NES_THREAD(code, operation, mode, cycles)                                     \
    label_##code : cpu.template execute<operations::operation, Mode::mode, cycles>(); \
    if (r.clock >= bus.limit() || !bus.holds(r.pc)) goto done;                        \
    goto* kLabels[bus.fetch(r.pc, r.clock)];
    NES_OPCODES(NES_THREAD)
#undef NES_THREAD
done:
    registers = r;
    memory = bus;
}
#pragma GCC diagnostic pop

#endif

}  // namespace nes
