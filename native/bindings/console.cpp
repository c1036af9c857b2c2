// The Python class Console.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "bindings/classes.h"
#include "bindings/registers.h"
#include "bindings/solo.h"
#include "nes/state.h"
#include "screen/colour.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace bindings {

namespace {

using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::c_contig>;

// A NumPy array of its own, filled by `fill`.
template <class Fill>
Bytes new_array(std::initializer_list<std::size_t> shape, Fill fill) {
    std::size_t size = 1;
    for (const std::size_t length : shape) size *= length;
    auto bytes = std::make_unique<std::uint8_t[]>(size);
    fill(bytes.get());
    std::uint8_t* data = bytes.release();
    nb::capsule owner(data, [](void* all) noexcept { delete[] static_cast<std::uint8_t*>(all); });
    return Bytes(data, shape, owner);
}

std::span<const std::uint8_t> as_span(const nb::bytes& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

std::uint8_t checked_byte(const char* name, nb::handle value) {
    return static_cast<std::uint8_t>(checked(name, value, 0xFF));
}

Bytes indices(const Solo& self) {
    const nes::Picture& picture = self.picture();
    return new_array({nes::kScreenHeight, nes::kScreenWidth},
                     [&](std::uint8_t* out) { screen::write_indices(picture, out); });
}

Bytes rgb(const Solo& self) {
    const nes::Picture& picture = self.picture();
    return new_array({nes::kScreenHeight, nes::kScreenWidth, 3},
                     [&](std::uint8_t* out) { screen::write_rgb(picture, nullptr, out); });
}

Bytes grey(Solo& self, int height, int width) {
    const screen::GreyResizer checks_size(height, width);
    return new_array({static_cast<std::size_t>(height), static_cast<std::size_t>(width)},
                     [&](std::uint8_t* out) { self.write_grey(height, width, out); });
}

Bytes ram(const Solo& self) {
    const auto& bytes = self.console().ram;
    return new_array({sizeof bytes}, [&](std::uint8_t* out) { std::memcpy(out, bytes, sizeof bytes); });
}

void poke(Solo& self, nb::handle address, nb::handle value) {
    const auto at = checked("a RAM address", address, 0x1FFF);
    self.console().ram[at & 0x7FF] = checked_byte("a byte", value);
}

NamedRegisters registers(const Solo& self) {
    const nes::Cpu& cpu = self.console().cpu;
    return {cpu.a, cpu.x, cpu.y, cpu.s, cpu.p, cpu.pc, cpu.clock};
}

void set_registers(Solo& self, const nb::kwargs& named) {
    const NamedRegisters r = changed(registers(self), named, false);
    nes::Cpu& cpu = self.console().cpu;
    cpu.a = r.a, cpu.x = r.x, cpu.y = r.y, cpu.s = r.s, cpu.pc = r.pc;
    cpu.p = static_cast<std::uint8_t>((r.p & ~nes::kBreak) | nes::kAlways);
    cpu.irq_off_at_poll = (cpu.p & nes::kIrqOff) ? 1 : 0;
    self.console().schedule();
}

nb::dict fields(const Solo& self) {
    nb::dict named;
    nes::visit_fields(self.console(), [&named](const char* name, const auto& field) {
        if constexpr (std::is_array_v<std::remove_reference_t<decltype(field)>>) {
            named[name] = nb::bytes(field, sizeof field);
        } else {
            named[name] = field;
        }
    });
    if (const auto patterns = self.pattern_ram(); !patterns.empty()) {
        named["pattern_ram"] = nb::bytes(patterns.data(), patterns.size());
    }
    return named;
}

nb::bytes coverage(Solo& self, const nb::bytes& buttons) {
    const auto fetched = self.coverage(as_span(buttons));
    return nb::bytes(fetched.data(), fetched.size());
}

}  // namespace

void bind_console(nb::module_& module) {
    nb::class_<Solo>(module, "Console", "One console, just switched on: for movies, tools and tests.")
        .def(nb::init<const Cartridge&>(), "cartridge"_a)
        .def(
            "frame",
            [](Solo& self, nb::handle buttons, nb::handle buttons2, bool draw) {
                self.frame(checked_byte("buttons", buttons), checked_byte("buttons2", buttons2), draw);
            },
            "buttons"_a = 0, "buttons2"_a = 0, "draw"_a = false,
            "Run to the first instruction after vblank begins; draw=True keeps the picture.")
        .def("step", &Solo::step, "Run one instruction, or take one interrupt; answers its cycles.")
        .def("reset", &Solo::reset, "Press the reset button.")
        .def("indices", &indices, "Palette indices of the last drawn frame, uint8[240, 256].")
        .def("rgb", &rgb, "The last drawn frame, uint8[240, 256, 3].")
        .def("grey", &grey, "height"_a, "width"_a, "The last drawn frame in grey, uint8[height, width].")
        .def("ram", &ram, "A copy of the 2,048 bytes of RAM.")
        .def(
            "read",
            [](const Solo& self, nb::handle address) {
                return self.read(static_cast<std::uint16_t>(checked("an address", address, 0xFFFF)));
            },
            "address"_a, "What the CPU would read, without consequences; registers read as 0.")
        .def("poke", &poke, "address"_a, "value"_a, "Change a byte of RAM.")
        .def(
            "registers", [](const Solo& self) { return to_dict(registers(self)); }, "a, x, y, s, p, pc and cycle.")
        .def("set_registers", &set_registers, "named"_a, "Change some of a, x, y, s, p, pc.")
        .def(
            "save",
            [](const Solo& self) {
                const std::string all = self.save();
                return nb::bytes(all.data(), all.size());
            },
            "Everything the console remembers.")
        .def(
            "load", [](Solo& self, const nb::bytes& state) { self.load(as_span(state)); }, "state"_a,
            "Go back to what save() answered; raises ValueError for anything else.")
        .def("fields", &fields, "Every field of the state by name: numbers, and bytes for arrays.")
        .def("coverage", &coverage, "buttons"_a,
             "Interpret a frame for each byte of buttons; a byte for each address from $8000 on: 1 if an instruction "
             "began there.")
        .def_rw("interpret", &Solo::interpret, "Never use recompiled code.");
}

}  // namespace bindings
