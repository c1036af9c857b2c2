// The Python module respawn.worlds.mario._engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/classes.h"
#include "nes/code.h"
#include "nes/console.h"
#include "nes/interpreter.h"
#include "nes/state.h"
#include "screen/simd.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr const char* kVersion = "0.1.0";  // of what a console does: a change in behaviour changes it

const char* mode_name(nes::Mode mode) {
    static constexpr const char* kNames[] = {"implied",    "accumulator", "immediate",  "zero",       "zero_x",
                                             "zero_y",     "absolute",    "absolute_x", "absolute_y", "indirect",
                                             "indirect_x", "indirect_y",  "relative"};
    return kNames[static_cast<int>(mode)];
}

// Reads through an index pay for changing the page; whatever writes always does.
constexpr bool pays_for_page(nes::operations::Kind kind, nes::Mode mode) {
    using nes::Mode;
    return kind == nes::operations::Kind::Read &&
           (mode == Mode::AbsoluteX || mode == Mode::AbsoluteY || mode == Mode::IndirectY);
}

nb::list opcode_table() {
    nb::list table;
    const auto add = [&table](int code, std::string name, nes::Mode mode, int cycles, bool page_penalty) {
        if (name.back() == '_') name.pop_back();  // C++ keeps some names to itself
        table.append(nb::make_tuple(code, name, mode_name(mode), nes::instruction_bytes(mode), cycles, page_penalty));
    };
#define NES_ADD(code, operation, mode, cycles) \
    add(code, #operation, nes::Mode::mode, cycles, pays_for_page(nes::operations::operation::kind, nes::Mode::mode));
    NES_OPCODES(NES_ADD)
#undef NES_ADD
    return table;
}

nb::list simd_paths() {
    nb::list names;
    for (const screen::SimdPath path : screen::usable_paths()) names.append(screen::path_name(path));
    return names;
}

void set_simd_path(const std::string& name) {
    std::string usable;
    for (const screen::SimdPath path : screen::usable_paths()) {
        if (name == screen::path_name(path)) {
            screen::set_path(path);
            return;
        }
        usable += (usable.empty() ? "'" : ", '") + std::string(screen::path_name(path)) + "'";
    }
    throw nb::value_error(("this machine can use the SIMD paths " + usable + ", and '" + name + "' came").c_str());
}

std::string engine_version() {
    return std::string(kVersion) + "-code" + std::to_string(nes::kCodeVersion) + "-state" +
           std::to_string(nes::kStateLayout);
}

}  // namespace

NB_MODULE(_engine, module) {
    module.doc() = "NES consoles for training: one call, many of them.";
    bindings::bind_cartridge(module);
    bindings::bind_console(module);
    bindings::bind_flat_cpu(module);
    bindings::bind_pool(module);
    module.def("simd_path", [] { return screen::path_name(screen::current_path()); }, "The path that pictures take.");
    module.def("simd_paths", &simd_paths, "The paths this machine can use, fastest first.");
    module.def("set_simd_path", &set_simd_path, "name"_a, "Take this path from now on; all give the same bytes.");
    module.def("engine_version", &engine_version, "Changes whenever a console's behaviour or its state does.");
    module.def(
        "code_contract_version", [] { return nes::kCodeVersion; }, "Which contract recompiled code must follow.");
    module.def(
        "console_bytes", [] { return sizeof(nes::Console); }, "The size of a console that recompiled code works on.");
    module.def("opcode_table", &opcode_table,
               "The 256 opcodes as (code, name, mode, bytes, cycles, page_penalty); cycles without penalties.");
}
