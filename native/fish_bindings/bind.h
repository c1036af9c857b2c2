// What the parts of the module share.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>

namespace fish_bindings {

// Too many stay too many for the checks that follow.
inline int number(std::int64_t length) { return static_cast<int>(std::min<std::int64_t>(length, INT32_MAX)); }

void bind_tank(nanobind::module_& module);

}  // namespace fish_bindings
