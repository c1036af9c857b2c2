// A 6502's registers as Python sees them: a dict of numbers, or keyword arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "nes/types.h"

namespace bindings {

struct NamedRegisters {
    std::uint8_t a, x, y, s, p;
    std::uint16_t pc;
    nes::Cycle cycle;
};

inline nanobind::dict to_dict(const NamedRegisters& r) {
    nanobind::dict named;
    named["a"] = r.a;
    named["x"] = r.x;
    named["y"] = r.y;
    named["s"] = r.s;
    named["p"] = r.p;
    named["pc"] = r.pc;
    named["cycle"] = r.cycle;
    return named;
}

// A number from Python that must fit; raises ValueError with one sentence.
inline std::int64_t checked(const char* name, nanobind::handle value, std::int64_t most) {
    std::int64_t number = 0;
    if (!nanobind::try_cast(value, number) || number < 0 || number > most) {
        throw nanobind::value_error((std::string(name) + " must be a whole number from 0 to " + std::to_string(most) +
                                     ", but is " + nanobind::cast<std::string>(nanobind::repr(value)))
                                        .c_str());
    }
    return number;
}

inline NamedRegisters changed(NamedRegisters r, const nanobind::kwargs& named, bool cycle_too) {
    for (const auto& [key, value] : named) {
        const auto name = nanobind::cast<std::string>(key);
        const auto byte = [&] { return static_cast<std::uint8_t>(checked(name.c_str(), value, 0xFF)); };
        if (name == "a") {
            r.a = byte();
        } else if (name == "x") {
            r.x = byte();
        } else if (name == "y") {
            r.y = byte();
        } else if (name == "s") {
            r.s = byte();
        } else if (name == "p") {
            r.p = byte();
        } else if (name == "pc") {
            r.pc = static_cast<std::uint16_t>(checked("pc", value, 0xFFFF));
        } else if (name == "cycle" && cycle_too) {
            r.cycle = checked("cycle", value, nes::kNever);
        } else {
            throw nanobind::value_error(("there is no register '" + name + "' to set; there are a, x, y, s, p, pc" +
                                         (cycle_too ? ", cycle" : ""))
                                            .c_str());
        }
    }
    return r;
}

}  // namespace bindings
