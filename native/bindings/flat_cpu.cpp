// The Python class FlatCpu: a 6502 alone on 64 KiB of RAM, to be compared with other 6502s.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>

#include "bindings/classes.h"
#include "bindings/registers.h"
#include "nes/interpreter.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace bindings {

namespace {

constexpr std::size_t kMemoryBytes = 0x10000;

struct FlatBus {
    std::uint8_t* memory;

    std::uint8_t fetch(std::uint16_t address, nes::Cycle) const { return memory[address]; }
    std::uint8_t& low(std::uint16_t address) { return memory[address]; }
    std::uint8_t read(std::uint16_t address, nes::Cycle, std::uint8_t) const { return memory[address]; }
    nes::Cycle write(std::uint16_t address, std::uint8_t value, nes::Cycle) {
        memory[address] = value;
        return 0;
    }
    bool touches_io(std::uint16_t) const { return false; }
    nes::Cycle limit() const { return 0; }
    bool leaves(const nes::Registers&) const { return false; }
    void jumped_back(nes::Registers&) {}
    void polled_early(nes::Cycle, nes::Cycle) {}
    void irq_mask_changed(nes::Registers&, bool, bool) {}
    bool takes_nmi(nes::Cycle) { return false; }
    void jam() {}
};

class FlatCpu {
  public:
    nes::Cycle step() {
        const nes::Cycle before = registers_.clock;
        FlatBus bus{memory_.data()};
        nes::Interpreter<FlatBus>(registers_, bus).step();
        return registers_.clock - before;
    }

    std::uint8_t* memory() { return memory_.data(); }

    NamedRegisters registers() const {
        const nes::Registers& r = registers_;
        return {r.a, r.x, r.y, r.s, r.status(), r.pc, r.clock};
    }

    void set_registers(const nb::kwargs& named) {
        const NamedRegisters r = changed(registers(), named, true);
        registers_.a = r.a, registers_.x = r.x, registers_.y = r.y, registers_.s = r.s, registers_.pc = r.pc;
        registers_.clock = r.cycle;
        registers_.set_status(r.p);
    }

  private:
    std::array<std::uint8_t, kMemoryBytes> memory_{};
    nes::Registers registers_;
};

}  // namespace

void bind_flat_cpu(nb::module_& module) {
    using View = nb::ndarray<nb::numpy, std::uint8_t, nb::shape<static_cast<std::int64_t>(kMemoryBytes)>>;
    nb::class_<FlatCpu>(module, "FlatCpu",
                        "A 6502 alone on 64 KiB of RAM, which a locked-up instruction does not stop.")
        .def(nb::init<>())
        .def_prop_ro(
            "memory", [](FlatCpu& self) { return View(self.memory(), {kMemoryBytes}, nb::find(&self)); },
            "All of its memory, to read and write.")
        .def("step", &FlatCpu::step, "Run one instruction; answers its cycles.")
        .def(
            "registers", [](const FlatCpu& self) { return to_dict(self.registers()); }, "a, x, y, s, p, pc and cycle.")
        .def("set_registers", &FlatCpu::set_registers, "named"_a, "Change some of a, x, y, s, p, pc, cycle.");
}

}  // namespace bindings
