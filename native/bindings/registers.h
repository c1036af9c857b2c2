// A 6502's registers as Python sees them: a dict of numbers, or keyword arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

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
    const std::pair<std::string_view, std::uint8_t*> bytes[] = {
        {"a", &r.a}, {"x", &r.x}, {"y", &r.y}, {"s", &r.s}, {"p", &r.p}};
    for (const auto& [key, value] : named) {
        const auto name = nanobind::cast<std::string>(key);
        const auto* byte = std::find_if(std::begin(bytes), std::end(bytes),
                                        [&name](const auto& entry) { return entry.first == name; });
        if (byte != std::end(bytes)) {
            *byte->second = static_cast<std::uint8_t>(checked(name.c_str(), value, 0xFF));
        } else if (name == "pc") {
            r.pc = static_cast<std::uint16_t>(checked("pc", value, 0xFFFF));
        } else if (name == "cycle" && cycle_too) {
            r.cycle = checked("cycle", value, nes::kNever);
        } else {
            const std::string known = cycle_too ? "a, x, y, s, p, pc, cycle" : "a, x, y, s, p, pc";
            throw nanobind::value_error(("there is no register '" + name + "' to set; there are " + known).c_str());
        }
    }
    return r;
}

}  // namespace bindings
