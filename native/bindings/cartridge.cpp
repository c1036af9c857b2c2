#include "bindings/cartridge.h"

#include "bindings/classes.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <new>
#include <span>

namespace nb = nanobind;
using namespace nb::literals;

namespace bindings {

namespace {

Cartridge read_cartridge(nb::bytes ines) {
    const std::span file(reinterpret_cast<const std::uint8_t*>(ines.c_str()), ines.size());
    try {
        auto game = std::make_shared<const nes::Cartridge>(nes::Cartridge::parse(file));
        std::string hash = pool::program_hash(*game);
        return {std::move(game), nullptr, std::move(hash)};
    } catch (const nes::BadCartridge& bad) {
        throw nb::value_error(bad.what());
    }
}

const char* mirroring_name(nes::Mirroring mirroring) {
    return mirroring == nes::Mirroring::Vertical ? "vertical" : "horizontal";
}

nb::list idle_heads(const Cartridge& cartridge) {
    nb::list heads;
    for (std::uint32_t address = 0x8000; address < 0x10000; ++address) {
        if (cartridge.game->idle.at(static_cast<std::uint16_t>(address))) heads.append(address);
    }
    return heads;
}

}  // namespace

void bind_cartridge(nb::module_& module) {
    nb::class_<Cartridge>(module, "Cartridge", "A game: read once, shared by all consoles that play it.")
        .def(
            "__init__", [](Cartridge* self, nb::bytes ines) { new (self) Cartridge(read_cartridge(ines)); }, "ines"_a,
            "Read an iNES file; raises ValueError with one sentence if it cannot be played.")
        .def_prop_ro("mapper", [](const Cartridge& self) { return self.game->mapper; })
        .def_prop_ro("prg_bytes", [](const Cartridge& self) { return self.game->prg_bytes; })
        .def_prop_ro("chr_bytes", [](const Cartridge& self) { return self.game->chr_bytes; })
        .def_prop_ro("mirroring", [](const Cartridge& self) { return mirroring_name(self.game->mirroring); })
        .def_prop_ro(
            "program",
            [](const Cartridge& self) { return nb::bytes(self.game->program.data(), self.game->program.size()); },
            "The 32 KiB at $8000-$FFFF.")
        .def_prop_ro("idle_heads", &idle_heads, "Where waiting loops begin.")
        .def_ro("program_hash", &Cartridge::hash, "FNV-1a of the program, in hexadecimal.")
        .def_prop_ro(
            "recompiled", [](const Cartridge& self) { return self.code != nullptr; },
            "Whether consoles made from now on run recompiled code.")
        .def(
            "load_code",
            [](Cartridge& self, const std::string& path) { self.code = pool::CodeLibrary::open(path, *self.game); },
            "path"_a, "Use recompiled code from a shared library; raises ValueError if it does not fit.")
        .def("drop_code", [](Cartridge& self) { self.code.reset(); }, "Consoles made from now on interpret again.");
}

}  // namespace bindings
